/** The axis of a chart, and the series that are computed from its values. */
import fc from 'fast-check'
import t from 'tap'
import { findClipped, fitAxis } from '../../../plugins/console/client/parts/chart/axis.ts'
import { changesOf, valuesOfWeekBefore } from '../../../plugins/console/client/parts/chart/derived.ts'
import {
  joinLetters,
  nameMark,
  placeMark,
  type ChartPoint,
} from '../../../plugins/console/client/parts/chart/points.ts'

const DAY = 86_400_000

/** A metric that learned for ten days, when anything up to 19,000 was expected, and fell at last. */
const learned: ChartPoint[] = Array.from({ length: 30 }, (_, n) => ({
  at: n * DAY,
  value: n === 29 ? 4_819 : 5_000 + (n % 3) * 20,
  ...(n < 10 ? { low: -9_000, high: 19_000 } : { low: 4_887, high: 5_114 }),
  isAnomaly: n === 29,
}))

t.test(
  'the axis fits the values and the recent range; a wide range of the past is cut with a mark',
  async t => {
    const axis = fitAxis(learned)
    t.ok(axis.min > 4_700 && axis.max < 5_200, `${axis.min} to ${axis.max}`)
    t.strictSame(findClipped(learned, axis), [
      { side: 'above', from: 0, to: 9 * DAY, reach: 19_000 },
      { side: 'below', from: 0, to: 9 * DAY, reach: -9_000 },
    ])
    t.strictSame(findClipped(learned.slice(10), axis), [])
  },
)

t.test('thresholds and zero are on the axis where they are wanted, and an empty chart has one', async t => {
  t.ok(fitAxis(learned, { threshold: [1_000, 9_000] }).min < 1_000)
  t.ok(fitAxis(learned, { threshold: 9_000 }).max > 9_000)
  t.equal(fitAxis(learned, { isFromZero: true }).min, 0)
  t.strictSame(fitAxis([]), { min: 0, max: 1 })
  t.strictSame(fitAxis([{ at: 0, value: null }]), { min: 0, max: 1 })
  const { min, max } = fitAxis([{ at: 0, value: 5 }])
  t.ok(min < 5 && max > 5, 'a single value')
})

const number = fc.double({ min: -1e12, max: 1e12, noNaN: true })
const point = fc.record({
  at: fc.constant(0),
  value: fc.option(number),
  low: fc.option(number),
  high: fc.option(number),
  isAnomaly: fc.boolean(),
})
const series = fc
  .array(point, { minLength: 1, maxLength: 60 })
  .map(points => points.map((each, n): ChartPoint => ({ ...each, at: n * DAY })))

t.test('no value is ever outside the axis, nor the end of the range that an anomaly is beyond', async t => {
  fc.assert(
    fc.property(series, fc.boolean(), (points, isFromZero) => {
      for (const shown of [points, changesOf(points)]) {
        const { min, max } = fitAxis(shown, { isFromZero })
        const isShown = (value: number) => value >= min && value <= max
        if (min >= max) return false
        for (const { value, low, high, isAnomaly } of shown) {
          if (value === null) continue
          if (!isShown(value)) return false
          if (isAnomaly && high != null && value > high && !isShown(high)) return false
          if (isAnomaly && low != null && (high == null || value <= high) && value < low && !isShown(low))
            return false
        }
      }
      return true
    }),
    { numRuns: 500 },
  )
})

t.test('a mark that came shortly after the newest value stands beside it', async t => {
  const mark = (at: number) => placeMark({ at, kind: 'run', text: '' }, learned)
  t.strictSame([5 * DAY, 29 * DAY + 3_600_000, 40 * DAY].map(mark), [5 * DAY, 29 * DAY, 40 * DAY])
})

t.test('letters of marks never overprint each other: those that stand together share a label', async t => {
  const marks = [
    { kind: 'alert', left: 300 },
    { kind: 'change', left: 10 },
    { kind: 'incident', left: 290 },
    { kind: 'change', left: 299 },
    { kind: 'change', left: 292 },
  ] as const
  t.strictSame(joinLetters(marks, 40), [
    { left: 10, text: 'S' },
    { left: 290, text: 'I S A' },
  ])
})

t.test('a mark is named with its kind, as its name alone reads like a cause', async t => {
  t.equal(
    nameMark({ at: 0, kind: 'change', text: 'column removed total' }),
    'schema change: column removed total',
  )
  t.equal(nameMark({ at: 0, kind: 'incident', text: '7 schema changes' }), 'incident: 7 schema changes')
  t.equal(nameMark({ at: 0, kind: 'alert' }), 'this alert')
})

t.test('what is cut and what is shown are all of the expected range', async t => {
  fc.assert(
    fc.property(series, points => {
      const axis = fitAxis(points)
      const spans = findClipped(points, axis)
      return points.every(({ at, low, high }) => {
        const isMarked = (side: string) => spans.some(s => s.side === side && s.from <= at && s.to >= at)
        return (
          isMarked('above') === (high != null && high > axis.max) &&
          isMarked('below') === (low != null && low < axis.min)
        )
      })
    }),
  )
})

t.test('a change is counted from the last known value, and its range with it', async t => {
  const values = (points: readonly ChartPoint[]) =>
    points.map(({ at, value, low, high }) => [at, value, low ?? null, high ?? null])
  t.strictSame(
    values(
      changesOf([
        { at: 1, value: 100 },
        { at: 2, value: 110, low: 105, high: 115 },
        { at: 3, value: null, low: 115, high: 125 },
        { at: 4, value: 150, low: 125, high: 135 },
      ]),
    ),
    [
      [2, 10, 5, 15],
      [3, null, 5, 15],
      [4, 40, 15, 25],
    ],
    'a missing value stays a gap',
  )
  t.strictSame(changesOf([]), [])
  t.strictSame(
    changesOf([
      { at: 1, value: 716 },
      { at: 2, value: 806, low: 718.091, high: 724.052, explanation: '806 rows, expected 719 to 724' },
    ]),
    [{ at: 2, value: 90, low: 3, high: 8 }],
    'the expectation of a count is in whole numbers, and that of the total does not stand beside it',
  )
  const again = [
    ...Array.from({ length: 4 }, (_, n) => ({ at: n * DAY, value: n * 10 })),
    { at: 4 * DAY, value: 130, low: 35, high: 45, isAnomaly: true },
    { at: 4 * DAY + 60_000, value: 130, low: 36, high: 46, isAnomaly: true },
    { at: 4 * DAY + 120_000, value: 40, low: 36, high: 46 },
  ]
  t.strictSame(
    values(changesOf(again)).at(-1),
    [4 * DAY + 60_000, 100, 6, 16],
    'a check that is run again has changed nothing since the run before',
  )
})

t.test('the week before stands beside the same moment, or nothing does', async t => {
  const daily = Array.from({ length: 10 }, (_, n) => ({ at: n * DAY + (n % 2) * 600_000, value: n }))
  t.strictSame(valuesOfWeekBefore(daily), [null, null, null, null, null, null, null, 0, 1, 2])
  const withGap = daily.filter((_, n) => n !== 1)
  t.strictSame(valuesOfWeekBefore(withGap).slice(-3), [0, null, 2])
  t.strictSame(valuesOfWeekBefore([]), [])
  fc.assert(fc.property(series, points => valuesOfWeekBefore(points).length === points.length))
})
