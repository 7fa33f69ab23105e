import t from 'tap'
import type { ColumnInfo, ColumnKind } from '../../../../connectors/catalog.ts'
import { detectColumn, isReadable } from '../../../../plugins/freshness/schedules/columns.ts'
import { formatDuration, parseDuration, sayAge } from '../../../../server/settings/durations.ts'
import {
  isLate,
  judgeAge,
  learnThreshold,
  explicitThreshold,
  shownThreshold,
} from '../../../../plugins/freshness/run/judge.ts'
import { readMoment } from '../../../../plugins/freshness/run/moments.ts'

const NOW = new Date('2025-03-10T12:00:00Z')
const HOUR = 3600

function ago(seconds: number): Date {
  return new Date(NOW.getTime() - seconds * 1000)
}

t.test('the status follows the age as a share of the threshold', async t => {
  const day = 24 * HOUR
  const at = (percent: number) => {
    const { status, slaStatus } = judgeAge(ago((day * percent) / 100), NOW, {
      slaSeconds: day,
      expectedNext: null,
    })
    return `${status} ${slaStatus}`
  }
  t.equal(at(0), 'fresh within_sla')
  t.equal(at(79.9), 'fresh within_sla')
  t.equal(at(80), 'fresh warning', 'warned from exactly 80 %')
  t.equal(at(99.9), 'fresh warning')
  t.equal(at(100), 'stale violated', 'violated from exactly 100 %')
  t.equal(at(1000), 'stale violated')
})

t.test('the borders are exact to the millisecond for any threshold', async t => {
  for (const minutes of [1, 7, 90, 1441, 10_079]) {
    const slaSeconds = minutes * 60
    const slaStatus = (seconds: number) =>
      judgeAge(ago(seconds), NOW, { slaSeconds, expectedNext: null }).slaStatus
    t.equal(slaStatus(slaSeconds * 0.8 - 0.001), 'within_sla', `${minutes} min`)
    t.equal(slaStatus(slaSeconds * 0.8), 'warning', `${minutes} min`)
    t.equal(slaStatus(slaSeconds - 0.001), 'warning', `${minutes} min`)
    t.equal(slaStatus(slaSeconds), 'violated', `${minutes} min`)
  }
})

t.test('without data the status is unknown, and a future time has age 0', async t => {
  const expectation = { slaSeconds: HOUR, expectedNext: null }
  t.match(judgeAge(null, NOW, expectation), { status: 'unknown', slaStatus: null, ageSeconds: null })
  t.match(judgeAge(ago(-5 * HOUR), NOW, expectation), {
    status: 'fresh',
    slaStatus: 'within_sla',
    ageSeconds: 0,
  })
  t.same(explicitThreshold(HOUR, ago(600)).expectedNext, ago(600 - HOUR), 'the next update is due in an SLA')
})

t.test('auto_learn knows nothing until the 7th update, then learns the cadence', async t => {
  const hourly = (count: number, lastAgo: number) =>
    Array.from({ length: count }, (_, index) => ago(lastAgo + (count - 1 - index) * HOUR))
  const judged = (count: number, lastAgo: number) => {
    const updates = hourly(count, lastAgo)
    return judgeAge(updates.at(-1) ?? null, NOW, learnThreshold(updates))
  }
  t.match(judged(6, 600), { status: 'unknown', slaStatus: null, slaSeconds: null })
  t.match(judged(7, 600), { status: 'fresh', slaStatus: 'within_sla' })
  t.same(judged(7, 600).expectedNext, ago(600 - HOUR), 'the next hourly update is due in 50 minutes')
  t.match(judged(7, 30 * HOUR), { status: 'stale', slaStatus: 'violated' })
  const centuries = Array.from({ length: 8 }, (_, index) => new Date(Date.UTC(300 + 200 * index, 0)))
  t.equal(learnThreshold(centuries).slaSeconds, 2_147_483_640, 'at most the maximum of its column')
})

t.test(
  'a learned threshold warns when 80 % of the tolerance after the expected update has passed',
  async t => {
    // Usually an update comes after 10 hours; after 12 its absence is unusual.
    const learned = (age: number) => {
      const expectedNext = new Date(NOW.getTime() + (10 - age) * HOUR * 1000)
      return isLate(judgeAge(ago(age * HOUR), NOW, { slaSeconds: 12 * HOUR, expectedNext }), NOW)
    }
    t.equal(learned(9.9), false, 'past 80 % of the threshold, before its usual time')
    t.equal(learned(11.59), false)
    t.equal(learned(11.6), true)
    t.equal(learned(11.99), true)
    t.equal(learned(12), false, 'violated is worse than late')
    t.equal(learned(0), false)
    t.equal(isLate(judgeAge(null, NOW, { slaSeconds: null, expectedNext: null }), NOW), false)
  },
)

t.test('durations are read and written', async t => {
  t.equal(parseDuration('90m'), 5400)
  t.equal(parseDuration('24h'), 86_400)
  t.equal(parseDuration('7d'), 604_800)
  t.equal(parseDuration('1w'), 604_800)
  for (const bad of ['', '7', 'd', '7 d', '-1h', '1.5h', '24H', '7days', '1h30m'])
    t.equal(parseDuration(bad), null, bad)
  t.equal(formatDuration(86_400), '24h')
  t.equal(formatDuration(5400), '90m')
  t.equal(formatDuration(61), '2m', 'rounded up to a minute')
  for (const text of ['1m', '90m', '1h', '36h']) t.equal(formatDuration(parseDuration(text) ?? 0), text)
  t.same([sayAge(59), sayAge(3 * HOUR), sayAge(100 * HOUR)], ['0 min', '3 h', '4 days'])
})

t.test('a schedule shows its own threshold or the one learned', async t => {
  t.equal(shownThreshold({ monitoringMode: 'explicit', slaThreshold: '7d', learnedSlaSeconds: null }), '7d')
  t.equal(shownThreshold({ monitoringMode: 'auto_learn', slaThreshold: '7d', learnedSlaSeconds: null }), null)
  t.equal(shownThreshold({ monitoringMode: 'auto_learn', slaThreshold: null, learnedSlaSeconds: 7200 }), '2h')
})

function column(name: string, kind: ColumnKind): ColumnInfo {
  return { name, kind, ordinal: 1, type: kind, rawType: kind, nullable: true, default: null, comment: null }
}

t.test('the first conventional name of a date or timestamp is the timestamp column', async t => {
  const names = [
    'date',
    'ts',
    'timestamp',
    'event_time',
    'loaded_at',
    'inserted_at',
    'created_at',
    'last_updated',
    'modified_at',
    'updated_at',
  ]
  for (let count = 1; count <= names.length; count++) {
    const columns = names.slice(0, count).map(name => column(name, 'timestamp'))
    t.equal(detectColumn(columns)?.name, names[count - 1], `before ${count - 1} others`)
  }
  t.equal(
    detectColumn([column('updated_at', 'text'), column('DATE', 'date')])?.name,
    'DATE',
    'of the right type, in any case',
  )
  t.equal(detectColumn([column('saved', 'timestamp'), column('ts', 'integer')]), undefined)
  t.equal(isReadable(column('epoch', 'integer')), true, 'an epoch is readable if chosen explicitly')
  t.equal(isReadable(column('flag', 'boolean')), false)
  t.equal(isReadable({ ...column('sold', 'integer'), type: 'year' }), false, 'a year is no number of seconds')
})

t.test('moments are parsed from all values that MAX returns', async t => {
  const clock = { zone: 'UTC', now: NOW }
  const read = (value: Parameters<typeof readMoment>[0]) => readMoment(value, clock)?.toISOString()
  const noon = '2025-03-10T12:00:00.000Z'
  t.equal(read(NOW), noon)
  t.equal(read('2025-03-10 12:00:00'), noon)
  t.equal(read('2025-03-10 12:00:00.000'), noon)
  t.equal(read('2025-03-10T12:00:00Z'), noon)
  t.equal(read('2025-03-10T13:00:00+01:00'), noon)
  t.equal(read('2025-03-10 13:00:00+01'), noon)
  t.equal(read('2025-03-10 12:00:00 UTC'), noon)
  t.equal(read('2025-03-10'), '2025-03-10T00:00:00.000Z')
  t.equal(read(1_741_608_000), noon, 'seconds')
  t.equal(read(1_741_608_000_000), noon, 'milliseconds')
  t.equal(read('1741608000000000'), noon, 'microseconds, as text')
  t.equal(read(20_250_310_120_000), noon, 'digits of a date and a time')
  t.equal(read('20250310120000'), noon, 'and as text')
  t.equal(read(20_250_310_126_000), '2611-09-16T14:08:46.000Z', 'not a valid date and time, so microseconds')
  t.equal(readMoment(null, clock), null)
  for (const bad of ['', 'Infinity', 'infinity and beyond', '12025', 'soon', '2025-13-01 00:00:00'])
    t.equal(readMoment(bad, clock), undefined, bad)
  t.equal(readMoment(true, clock), undefined)
})

t.test('values without a zone are wall clock times of the given zone, across its clock changes', async t => {
  const read = (value: Parameters<typeof readMoment>[0], isMoment = false, now = NOW) =>
    readMoment(value, { zone: 'Europe/Berlin', now, isMoment })?.toISOString()
  t.equal(read('2025-01-10 12:00:00'), '2025-01-10T11:00:00.000Z', 'winter')
  t.equal(read('2025-07-10 12:00:00'), '2025-07-10T10:00:00.000Z', 'summer')
  t.equal(read('2025-07-10'), '2025-07-09T22:00:00.000Z', 'a date begins at its midnight')
  t.equal(
    read(new Date('2025-07-10T12:00:00Z')),
    '2025-07-10T10:00:00.000Z',
    'a Date of a type without a zone',
  )
  t.equal(read(new Date('2025-07-10T12:00:00Z'), true), '2025-07-10T12:00:00.000Z', 'a type with one')
  t.equal(read('2025-07-10 12:00:00Z'), '2025-07-10T12:00:00.000Z', 'a text that names its zone')

  t.equal(
    read('2025-03-30 02:30:00'),
    '2025-03-30T01:30:00.000Z',
    'the hour left out in spring is the one after',
  )
  const [first, second] = ['2025-10-26T00:30:00.000Z', '2025-10-26T01:30:00.000Z'] as const
  for (const twice of ['2025-10-26 02:30:00', new Date('2025-10-26T02:30:00Z')]) {
    t.equal(read(twice, false, new Date('2025-10-26T00:40:00Z')), first, 'the second is still to come')
    t.equal(read(twice, false, new Date('2025-10-26T01:29:59Z')), first)
    t.equal(read(twice, false, new Date(second)), second, 'the newer of the two that have been')
    t.equal(read(twice, false, NOW), first, 'both to come')
  }
  t.equal(
    read('2025-10-26T02:30:00+02:00', false, new Date('2025-11-01T00:00:00Z')),
    first,
    'the offset decides',
  )
})
