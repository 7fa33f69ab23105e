import t from 'tap'
import {
  bucketAt,
  completeBuckets,
  findWindowProblem,
  readWindowSize,
  type BucketGrid,
} from '../../../checks/rows/buckets.ts'

const berlin = (size: string, keeping: BucketGrid['keeping'] = 'moments'): BucketGrid => ({
  ...{ size, keeping, timezone: 'Europe/Berlin' },
})
const utc = (size: string): BucketGrid => ({ size, timezone: 'UTC', keeping: 'moments' })
const texts = (grid: BucketGrid, at: string, count: number) =>
  completeBuckets(grid, new Date(at), count).map(({ from, to }) => `${from} ${to}`)

void t.test('a window is hours that divide a day, or whole days or weeks', async t => {
  for (const size of ['1h', '2h', '3h', '4h', '6h', '8h', '12h', '24h', '1d', '7d', '366d', '1w', '52w'])
    t.ok(readWindowSize(size), size)
  for (const size of ['0h', '5h', '25h', '48h', '0d', '367d', '53w', '1m', 'd', '', '1.5h', '-1d', ' 1d'])
    t.equal(readWindowSize(size), null, size)
  t.match(findWindowProblem('5h', 'moments'), 'hours that divide a day')
  t.match(findWindowProblem('6h', 'days'), 'whole days on a column of dates')
  t.equal(findWindowProblem('1d', 'days'), null)
})

void t.test('buckets begin at midnight and weeks on Mondays, and only those that are over count', async t => {
  t.same(texts(utc('1d'), '2026-03-02T00:00:00Z', 2), [
    '2026-02-28 00:00:00 2026-03-01 00:00:00',
    '2026-03-01 00:00:00 2026-03-02 00:00:00',
  ])
  t.same(texts(utc('1d'), '2026-03-01T23:59:59Z', 1), ['2026-02-28 00:00:00 2026-03-01 00:00:00'])
  t.same(texts(utc('1w'), '2026-11-28T13:00:00Z', 1), ['2026-11-16 00:00:00 2026-11-23 00:00:00'])
  t.same(texts(utc('7d'), '2026-11-28T13:00:00Z', 1), texts(utc('1w'), '2026-11-28T13:00:00Z', 1))
  t.same(texts(utc('6h'), '2026-11-28T13:00:00Z', 2), [
    '2026-11-28 00:00:00 2026-11-28 06:00:00',
    '2026-11-28 06:00:00 2026-11-28 12:00:00',
  ])
})

void t.test('a column of moments is compared in UTC, others as a clock of the zone shows them', async t => {
  const at = '2026-01-10T12:00:00Z'
  t.same(texts(berlin('1d'), at, 1), ['2026-01-08 23:00:00 2026-01-09 23:00:00'])
  t.same(texts(berlin('1d', 'wall'), at, 1), ['2026-01-09 00:00:00 2026-01-10 00:00:00'])
  t.same(texts(berlin('1d', 'days'), at, 1), ['2026-01-09 2026-01-10'])
})

void t.test('the day on which clocks change is one bucket, of 23 or 25 hours', async t => {
  const hours = (day: string) => {
    const { start, end } = bucketAt(berlin('1d'), new Date(`${day}T12:00:00Z`))
    return (end.getTime() - start.getTime()) / 3_600_000
  }
  t.same([hours('2026-03-29'), hours('2026-10-25'), hours('2026-06-01')], [23, 25, 24])
})

void t.test('an hour that clocks skip has no bucket, and one that they show twice has one', async t => {
  t.same(texts(berlin('1h', 'wall'), '2026-03-29T02:00:00Z', 3), [
    '2026-03-29 00:00:00 2026-03-29 01:00:00',
    '2026-03-29 01:00:00 2026-03-29 03:00:00',
    '2026-03-29 03:00:00 2026-03-29 04:00:00',
  ])
  const twice = completeBuckets(berlin('1h', 'wall'), new Date('2026-10-25T02:00:00Z'), 3)
  t.same(
    twice.map(({ from, to }) => `${from.slice(11, 13)}-${to.slice(11, 13)}`),
    ['00-01', '01-02', '02-03'],
  )
  t.equal(Number(twice[2]!.end) - Number(twice[2]!.start), 2 * 3_600_000)
})

void t.test('buckets follow each other without a gap, in any zone, over years', async t => {
  for (const timezone of [
    'UTC',
    'Europe/Berlin',
    'America/St_Johns',
    'Asia/Kathmandu',
    'America/Havana',
    'Australia/Lord_Howe',
  ])
    for (const size of ['1h', '6h', '1d', '3d', '1w'])
      for (const keeping of ['wall', 'moments'] as const) {
        const buckets = completeBuckets({ size, timezone, keeping }, new Date('2026-12-01T00:00:00Z'), 300)
        t.equal(buckets.length, 300)
        const gaps = buckets.slice(1).filter(({ start, from }, place) => {
          const before = buckets[place]!
          return start.getTime() !== before.end.getTime() || from !== before.to || before.start >= before.end
        })
        t.same(gaps, [], `${size} ${timezone} ${keeping}`)
      }
})
