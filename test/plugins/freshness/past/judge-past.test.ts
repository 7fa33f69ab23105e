import t from 'tap'
import { judgePast } from '../../../../plugins/freshness/past/judge-past.ts'
import { bucketEnd, pastGrid } from '../../../../plugins/freshness/past/read-updates.ts'

const NOW = new Date('2026-03-31T12:30:00Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR
const grid = pastGrid(NOW, 3_600)

/** Updates every `gap` milliseconds, the newest `age` ago, oldest first. */
const updates = (count: number, gap: number, age: number) =>
  Array.from({ length: count }, (_, n) => new Date(NOW.getTime() - age - (count - 1 - n) * gap))
const judge = (times: readonly Date[], given: { newest?: Date; isDay?: boolean } = {}) => {
  const newest = given.newest ?? times.at(-1) ?? NOW
  const seen = { column: 'loaded_at', isDay: given.isDay ?? false, newest, readAt: NOW, oldest: newest }
  return judgePast(times, grid, seen)
}

t.test('the past has the checks that found an update, and the last before the next', async t => {
  const { checks, note } = judge(updates(10, DAY, 2 * HOUR))
  t.equal(note, null)
  const found = checks.filter(({ isUpdate }) => isUpdate)
  t.equal(found.length, 9, 'the newest is that of the check itself')
  t.same(
    checks.slice(0, 2).map(({ at, lastUpdated }) => [at.toISOString(), lastUpdated.toISOString()]),
    [
      ['2026-03-22T11:00:00.000Z', '2026-03-22T10:30:00.000Z'],
      ['2026-03-23T10:00:00.000Z', '2026-03-22T10:30:00.000Z'],
    ],
  )
  t.ok(
    checks.every(({ at, lastUpdated }) => at >= lastUpdated && at <= NOW),
    'no check knows what came after it',
  )
})

t.test('a column whose values lie ahead is refused, with the reason', async t => {
  const { checks, note } = judge(updates(10, DAY, 0), { newest: new Date(NOW.getTime() + 3 * DAY) })
  t.same(checks, [])
  t.match(note, /loaded_at has values in the future/)
})

t.test('values that do not follow the clock are no times of updates', async t => {
  const { checks, note } = judge(updates(200, HOUR, 15 * HOUR))
  t.same(checks, [], 'hourly values of a load of last night')
  t.match(note, /15 h old when it was first read.*60 min apart.*late, or it is loaded in batches/)
})

t.test('days may be as late as the day after', async t => {
  const days = Array.from({ length: 20 }, (_, n) => new Date(Date.UTC(2026, 2, 11 + n)))
  t.equal(judge(days, { isDay: true }).note, null, 'yesterday, at noon')
  t.match(judge(days.slice(0, -2), { isDay: true }).note, /late/)
})

t.test('few values are kept, and that there is none is said', async t => {
  const { checks } = judge(updates(3, DAY, HOUR))
  t.equal(checks.filter(({ isUpdate }) => isUpdate).length, 2)
  t.match(judge([]).note, /no value in the last 60 days/)
})

t.test('checks that are close together are followed one by one only lately', async t => {
  const often = pastGrid(NOW, 300)
  t.equal(often.fineSeconds, 300)
  t.equal(often.coarseSeconds, 3_600)
  t.equal(often.recentFrom % 3_600, 0)
  const early = Date.parse('2026-03-01T10:17:00Z') / 1_000
  const late = Date.parse('2026-03-31T12:17:00Z') / 1_000
  t.equal(new Date(bucketEnd(often, early) * 1_000).toISOString(), '2026-03-01T11:00:00.000Z')
  t.equal(new Date(bucketEnd(often, late) * 1_000).toISOString(), '2026-03-31T12:20:00.000Z')
})
