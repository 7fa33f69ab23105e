import fc from 'fast-check'
import t from 'tap'
import {
  judgeByHistory,
  type Basis,
  type DetectorOptions,
  type SeriesPoint,
  type SeriesVerdict,
} from '../../checks/detector.ts'
import {
  comparable,
  countOf,
  describeDeviation,
  describeFinding,
  explainBasis,
  explanation,
  formatFinding,
  roundShare,
} from '../../checks/explanation.ts'

const DAY = 86_400
/** Monday, 2023-11-20, 00:00 UTC. */
const MONDAY = 1_700_438_400

const verdict = (basis: Partial<Basis>, low: number, high: number): SeriesVerdict => ({
  expected: (low + high) / 2,
  low,
  high,
  zScore: -9,
  isAnomaly: true,
  learning: false,
  basis: { kind: 'level', cycle: null, slot: null, sightings: 40, ...basis },
})
const point = (value: number, total: number | null = null): SeriesPoint => ({ at: MONDAY, value, total })

t.test('says what was found, what is usual, and how much has been seen', async t => {
  const says = (
    series: string,
    at: SeriesPoint,
    said: SeriesVerdict,
    interval: 'hourly' | 'daily' = 'daily',
  ) => explanation(series, at, said, interval)
  const mondays = verdict({ kind: 'slot', cycle: 'weekday', slot: 1, sightings: 14 }, 9_800.2, 10_402.9)
  t.equal(
    says('row_count', point(2_140), mondays),
    '2,140 rows, expected 9,800 to 10,400 (−78 %); compared with 14 earlier Mondays',
  )
  const ends = verdict({ kind: 'slot', cycle: 'weekend', slot: 1, sightings: 1 }, 10, 20)
  t.equal(
    says('distinct_count', point(99), ends),
    '99 distinct values, expected 10 to 20 (+395 %); compared with 1 earlier value of weekend days',
  )
  const nights = verdict({ kind: 'slot', cycle: 'hourOfWeekend', slot: 27, sightings: 8 }, 1, 2)
  t.equal(
    says('mean', point(7.25), nights, 'hourly'),
    'mean 7.25, expected 1 to 2 (+263 %); compared with 8 earlier hours from 03:00 UTC of weekend days',
  )
  t.equal(
    says('null_percent', point(12.5, 400), verdict({}, 0.51, 1.2)),
    '12.5 % null, expected 0.51 to 1.2 %; compared with 40 earlier values',
  )
  t.equal(
    says('row_count', point(5), verdict({ kind: 'step' }, 900, 1_100)),
    '5 rows, expected 900 to 1,100 (−99 %); judged by the usual change from day to day, with 40 earlier values',
  )
  t.equal(
    says('invalid_percent', point(30, 1_000), verdict({ kind: 'dormant', sightings: 9 }, 0, 0.61)),
    '30 % of 1,000 rows invalid, expected at most 0.61 %; the table usually rests at this time, by 9 earlier values',
  )
})

t.test('says a value and its band in few words', async t => {
  const says = (series: string, value: number, band: { low: number; high: number } | null) =>
    formatFinding(describeFinding(series, { value }, band))
  t.equal(
    says('row_count', 4_743, { low: 4_801.59, high: 5_037.57 }),
    '4,743 rows, expected 4,800 to 5,040 (−1.2 %)',
  )
  t.equal(says('null_percent', 12.5, { low: 0.514, high: 1.2 }), '12.5 % null, expected 0.514 to 1.2 %')
  t.equal(says('mean', 7.25, { low: 7, high: 7 }), 'mean 7.25, expected 7 (+3.6 %)')
  t.equal(says('mean', 23.456789, { low: 1, high: 2.345678 }), 'mean 23.5, expected 1 to 2.35 (+900 %)')
  t.equal(says('row_count', 1, null), '1 row')
  t.equal(says('min_value', -3, { low: 0, high: 9 }), 'minimum −3, expected 0 to 9')
})

t.test('says apart from the value what it was compared with, and how far out it lies', async t => {
  const { basis } = verdict({ kind: 'step', sightings: 20 }, 501, 514)
  t.equal(
    explainBasis(basis, 7.234, 'daily'),
    'Judged by the usual change from day to day, with 20 earlier values; z = 7.2',
  )
  t.equal(explainBasis(null, null, 'daily'), 'Too few earlier values to compare with')
})

t.test('writes numbers that a person reads, whatever their size', async t => {
  const says = (value: number, low: number, high: number) =>
    explanation('mean', point(value), verdict({}, low, high), 'daily')
  t.equal(says(-0, 1, 2), 'mean 0, expected 1 to 2 (−100 %); compared with 40 earlier values')
  t.equal(
    says(2.5e-9, 1e-9, 2e-9),
    'mean 2.5e-9, expected 1e-9 to 2e-9 (+25 %); compared with 40 earlier values',
  )
  t.equal(
    says(3e60, 1e20, 1.5e20),
    'mean 3e+60, expected 1e+20 to 1.5e+20 (2e+40 times as much); compared with 40 earlier values',
  )
})

t.test('says so when there is nothing to compare with', async t => {
  const cold = judgeByHistory([], point(5), {
    series: 'row_count',
    domain: 'rows',
    interval: 'daily',
    direction: 'both',
    sensitivity: 3,
  })
  t.equal(explanation('row_count', point(5), cold, 'daily'), '5 rows; too few earlier values to compare with')
})

t.test('a rounded band never shows an anomaly inside it', async t => {
  const amounts = fc.double({ min: -1e9, max: 1e9, noNaN: true })
  fc.assert(
    fc.property(amounts, amounts, amounts, (value, a, b) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)]
      fc.pre(value < low || value > high)
      const words = explanation('mean', point(value), verdict({ kind: 'level' }, low, high), 'daily')
      const [, least, most] = /expected (\S+?)(?: to (\S+?))?(?: \(.*)?;/.exec(words)!
      const read = (text: string) => Number(text.replaceAll(',', '').replace('−', '-'))
      const shown = read(/^mean (\S+),/.exec(words)![1]!)
      const tolerance = 1e-5 * Math.abs(value)
      if (value > high) t.ok(shown + tolerance >= read(most ?? least!), words)
      else t.ok(shown - tolerance <= read(least!), words)
    }),
    { numRuns: 300 },
  )
})

t.test('comes with the values of the same slot, else with the last ones', async t => {
  const history = Array.from({ length: 60 }, (_, i): SeriesPoint => ({ at: MONDAY + i * DAY, value: i }))
  const at = MONDAY + 60 * DAY
  const mondays = comparable(history, { kind: 'slot', cycle: 'weekday', slot: 1, sightings: 9 }, at, 3)
  t.same(
    mondays.map(({ value }) => value),
    [42, 49, 56],
  )
  t.same(
    comparable(history, { kind: 'level', cycle: null, slot: null, sightings: 60 }, at, 2).map(p => p.value),
    [58, 59],
  )
  t.same(comparable(history, null, MONDAY), [], 'nothing later than the verdict')
})

t.test('a real Monday is compared with Mondays', async t => {
  const options: DetectorOptions = {
    series: 'row_count',
    domain: 'rows',
    interval: 'daily',
    direction: 'both',
    sensitivity: 3,
  }
  const weekly = Array.from({ length: 98 }, (_, i): SeriesPoint => {
    const isMonday = i % 7 === 0
    return { at: MONDAY + i * DAY, value: (isMonday ? 10_000 : 3_000) + ((i * 37) % 200) }
  })
  const today: SeriesPoint = { at: MONDAY + 98 * DAY, value: 2_140 }
  const said = judgeByHistory(weekly, today, options)
  t.equal(said.isAnomaly, true)
  t.match(
    explanation('row_count', today, said, 'daily'),
    /^2,140 rows, expected .* compared with 14 earlier Mondays$/,
  )
})

t.test('says what was found, what was expected and how far it is from that', async t => {
  t.equal(
    formatFinding({ found: '587 rows', expected: '501 to 514', deviation: '+14 %' }),
    '587 rows, expected 501 to 514 (+14 %)',
  )
  t.equal(formatFinding({ found: '3 days old', expected: 'every 24 h' }), '3 days old, expected every 24 h')
  t.equal(formatFinding({ found: 'table removed' }), 'table removed')
  t.equal(countOf(1, 'row'), '1 row')
  t.equal(countOf(1_204_331, 'row'), '1,204,331 rows')
})

t.test('a deviation is a share of the nearest expected value', async t => {
  t.equal(describeDeviation(587, 514), '+14 %')
  t.equal(describeDeviation(12, 80), '−85 %')
  t.equal(describeDeviation(0, 80), '−100 %')
  t.equal(describeDeviation(1, 1_000_000), '−99.9 %', 'what is left is not nothing')
  t.equal(describeDeviation(5_061, 5_060), '+0.02 %')
  t.equal(describeDeviation(60_000, 500), '120 times as much')
  t.equal(describeDeviation(5, 0), null, 'from zero there is no share')
  t.equal(describeDeviation(-5, 10), null)
})

t.test('no deviation is called zero', async t => {
  const amounts = fc.double({ min: 1e-9, max: 1e12, noNaN: true })
  fc.assert(
    fc.property(amounts, amounts, (value, bound) => {
      fc.pre(value !== bound && Math.abs(value / bound - 1) > 1e-9)
      t.notMatch(describeDeviation(value, bound), /^[+−]?0 %/)
    }),
    { numRuns: 300 },
  )
})

t.test('a share is rounded, but never to the other side of its limit, nor to none or all', async t => {
  t.equal(roundShare(0.332, 0), 0.3)
  t.equal(roundShare(1.25, 0), 1.3)
  t.equal(roundShare(76.5, 0), 77)
  t.equal(roundShare(10.04, 10), 10.04)
  t.equal(roundShare(99.97, 0), 99.97)
  t.equal(roundShare(100, 0), 100)
})
