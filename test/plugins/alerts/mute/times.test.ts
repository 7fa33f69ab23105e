import t from 'tap'
import { endOfWindow, endOfWindows } from '../../../../plugins/alerts/mute/times.ts'

const once = (startsAt: string, endsAt: string) => ({
  ...{ startsAt: new Date(startsAt), endsAt: new Date(endsAt) },
  ...{ timezone: null, rules: null },
})
const weekly = (days: number[], start: string, end: string, timezone = 'Europe/Berlin') => ({
  ...{ startsAt: null, endsAt: null, timezone },
  rules: [{ days, start, end }],
})
const end = (window: Parameters<typeof endOfWindow>[0], at: string) =>
  endOfWindow(window, new Date(at))?.toISOString().slice(0, 16) ?? null

t.test('a window that is open once has its start and not its end', async t => {
  const window = once('2026-03-02T10:00:00Z', '2026-03-02T12:00:00Z')
  t.equal(end(window, '2026-03-02T09:59:59Z'), null)
  t.equal(end(window, '2026-03-02T10:00:00Z'), '2026-03-02T12:00')
  t.equal(end(window, '2026-03-02T12:00:00Z'), null)
})

t.test('weekly hours are those of the wall clock, and may run past midnight', async t => {
  const night = weekly([1], '22:00', '06:00')
  t.equal(end(night, '2026-03-02T20:59:00Z'), null, 'Monday, 21:59 in Berlin')
  t.equal(end(night, '2026-03-02T21:00:00Z'), '2026-03-03T05:00')
  t.equal(end(night, '2026-03-03T04:59:00Z'), '2026-03-03T05:00')
  t.equal(end(night, '2026-03-03T05:00:00Z'), null)
  t.equal(end(night, '2026-03-03T22:00:00Z'), null, 'Tuesday')
  t.equal(end(weekly([3], '08:00', '08:00'), '2026-03-05T06:59:00Z'), '2026-03-05T07:00', '24 hours')
  t.equal(end(weekly([7], '20:00', '24:00'), '2026-03-08T22:30:00Z'), '2026-03-08T23:00')
})

t.test('a change of the clocks moves the ends with the wall clock', async t => {
  const night = weekly([6], '22:00', '06:00')
  t.equal(end(night, '2026-03-28T21:30:00Z'), '2026-03-29T04:00', 'the night to summer time has 7 hours')
  t.equal(end(night, '2026-10-24T20:30:00Z'), '2026-10-25T05:00', 'the night to winter time has 9 hours')
  const repeated = weekly([7], '02:00', '03:00')
  t.equal(
    end(repeated, '2026-10-25T00:00:00Z'),
    '2026-10-25T02:00',
    'an hour shown twice belongs to it twice',
  )
  t.equal(end(weekly([7], '02:30', '04:00'), '2026-03-29T01:15:00Z'), null, 'an hour left out begins later')
  t.equal(end(weekly([7], '02:30', '04:00'), '2026-03-29T01:30:00Z'), '2026-03-29T02:00')
})

t.test('windows that overlap or follow each other end with the last', async t => {
  const at = new Date('2026-03-02T10:30:00Z')
  const first = once('2026-03-02T10:00:00Z', '2026-03-02T12:00:00Z')
  const endOf = (...windows: Parameters<typeof endOfWindows>[0]) =>
    endOfWindows(windows, at)?.toISOString().slice(0, 16) ?? null
  t.equal(endOf(first, once('2026-03-02T11:00:00Z', '2026-03-02T13:00:00Z')), '2026-03-02T13:00')
  t.equal(endOf(first, once('2026-03-02T12:00:00Z', '2026-03-02T14:00:00Z')), '2026-03-02T14:00')
  t.equal(endOf(first, once('2026-03-02T12:01:00Z', '2026-03-02T14:00:00Z')), '2026-03-02T12:00', 'a gap')
  t.equal(endOf(once('2026-03-02T11:00:00Z', '2026-03-02T13:00:00Z')), null)
  const always = endOfWindows([weekly([1, 2, 3, 4, 5, 6, 7], '00:00', '24:00')], at)
  t.ok(always && always > new Date('2026-04-01T00:00:00Z') && always < new Date('2026-05-01T00:00:00Z'))
})
