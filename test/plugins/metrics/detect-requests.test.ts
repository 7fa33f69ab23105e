import fc from 'fast-check'
import t from 'tap'
import { answerRequest, answerRequestLine } from '../../../plugins/metrics/detect/detect-requests.ts'

const DAY = 86_400
/** Monday, 2023-11-20, 00:00 UTC. */
const MONDAY = 1_700_438_400

interface Answer {
  id: unknown
  error?: string
  status?: string
  expected: number | null
  low: number | null
  high: number | null
  z: number
  is_anomaly: boolean
  deadline?: number
  expected_next?: number
}
interface Answers {
  id: unknown
  verdicts: Answer[]
}
type Row = [at: number, value: number, total: number | null]

const head = {
  id: 'a',
  kind: 'metric',
  metric_type: 'mean',
  interval: 'daily',
  direction: 'both',
  sensitivity: 3,
}
/** Thirty quiet days; the last one is far off. */
const rows = Array.from({ length: 30 }, (_, i): Row => [
  MONDAY + i * DAY,
  i === 29 ? 500 : 100 + (i % 4),
  null,
])
const percents = rows.map(([at, value]): Row => [at, value / 10, 200])
const times = rows.map(([at]): Row => [at, 0, null])
const office = { days: [1, 2, 3, 4, 5], start_hour: 9, end_hour: 17, timezone: 'Europe/Berlin' }

const point = (more: object, of: Row[] = rows) =>
  answerRequest({ ...head, history: of.slice(0, -1), point: of.at(-1), ...more }) as Answer

t.test('a point is judged by its history, and comes back with its id', async t => {
  t.match(point({}), {
    id: 'a',
    is_anomaly: true,
    expected: Number,
    low: Number,
    high: Number,
    z: Number,
    status: undefined,
  })
  t.match(point({ history: [] }), { status: 'cold_start', is_anomaly: false, expected: null, z: 0 })
  t.match(point({ kind: 'validity_auto', direction: undefined }, percents), { is_anomaly: true })
  t.equal(
    point({ kind: 'validity_auto', direction: 'high', point: [rows[29]![0], 0, 200] }, percents).is_anomaly,
    false,
  )
})

t.test('both forms give the same verdicts', async t => {
  const forms: [more: object, of: Row[]][] = [
    [{}, rows],
    [{ metric_type: 'null_percent' }, percents],
    [{ kind: 'validity_auto', operating_period_mode: 'auto' }, percents],
    [{ kind: 'validity_auto', operating_period_mode: 'schedule', schedule: office }, percents],
    [{ kind: 'freshness', interval: 'event' }, times],
  ]
  for (const [more, of] of forms) {
    const indexes = [0, 8, 29]
    const { id, verdicts } = answerRequest({
      ...head,
      ...more,
      mode: 'series',
      points: of,
      indexes,
    }) as Answers
    t.equal(id, 'a')
    const alone = indexes.map(i => point({ ...more, history: of.slice(0, i), point: of[i] }))
    t.strictSame(
      verdicts.map(said => ({ ...said, id: 'a' })),
      alone,
      JSON.stringify(more),
    )
  }
})

t.test('the deadline of an update comes from the updates before it alone', async t => {
  const fresh = { kind: 'freshness', interval: 'event' }
  const due = MONDAY + 30 * DAY
  const [early, late] = [due - DAY / 2, due + 3 * DAY].map(at =>
    point({ ...fresh, history: times, point: [at, 0, null] }),
  )
  t.equal(early!.expected_next, due)
  t.ok(early!.deadline! > due && early!.deadline! < due + DAY)
  t.equal(late!.deadline, early!.deadline)
  t.strictSame([early!.is_anomaly, late!.is_anomaly], [false, true])
  t.match(point({ ...fresh, history: times.slice(0, 6) }), { status: 'cold_start' })
})

t.test('days count from Sunday, and hours are those of the zone', async t => {
  // Activity of half the rows is usual from nine to five, New York time, on a Sunday, and at no other time.
  const schedule = { days: [0], start_hour: 9, end_hour: 17, timezone: 'America/New_York' }
  const sunday = MONDAY - DAY
  const hours = Array.from({ length: 10 * 7 * 24 }, (_, i): Row => {
    const isOpen = i % 168 >= 14 && i % 168 < 22
    return [sunday + i * 3600, isOpen ? 50 : 0, 100]
  })
  const ask = (hour: number) =>
    point({
      kind: 'validity_auto',
      direction: 'high',
      interval: 'hourly',
      operating_period_mode: 'schedule',
      schedule,
      history: hours,
      point: [sunday + (10 * 168 + hour) * 3600, 50, 100],
    }).is_anomaly
  t.strictSame([ask(13), ask(14), ask(21), ask(22), ask(24 + 14)], [true, false, false, true, true])
})

t.test('a wrong request is answered with what is wrong', async t => {
  const rule = { kind: 'validity_auto', history: percents }
  const cases: [more: object | null, problem: RegExp][] = [
    [{ kind: 'guess' }, /"kind" must be one of \[metric, validity_auto, freshness\]/],
    [{ kind: undefined }, /"kind" is required/],
    [{ metric_type: undefined }, /"metric_type" is required/],
    [{ interval: 'yearly' }, /"interval" must be one of \[hourly, daily, weekly\]/],
    [{ interval: 'event' }, /"interval" must be one of/],
    [{ direction: 'low' }, /"direction" must be one of/],
    [{ sensitivity: '3' }, /"sensitivity" must be a number/],
    [{ sensitivity: 0 }, /"sensitivity" must be greater/],
    [{ sensitivity: Infinity }, /"sensitivity" cannot be infinity/],
    [{ mode: 'both' }, /"mode" must be one of/],
    [{ history: 'x' }, /"history" must be a list/],
    [{ history: undefined }, /"history" must be a list/],
    [{ history: [rows[0], 5] }, /"history\[1\]" must be \[epoch seconds, value/],
    [{ history: [['2024-01-01', 5, null]] }, /"history\[0\]" must begin with a time in epoch seconds/],
    [{ history: [[1e300, 5, null]] }, /must begin with a time/],
    [{ history: [[1, null, null]] }, /finite number as its value/],
    [{ history: [[1, Infinity, null]] }, /finite number as its value/],
    [{ history: [[1, 5, -1]] }, /number of rows, or null/],
    [
      {
        history: [
          [2, 5],
          [1, 5],
        ],
      },
      /"history\[1\]" is earlier than the one before it/,
    ],
    [{ point: undefined }, /"point" must be \[epoch seconds/],
    [{ point: rows[0] }, /"point" is earlier than the one before it/],
    [{ ...rule, point: [MONDAY + 31 * DAY, 101, 10] }, /"point" must have a percentage/],
    [{ ...rule, operating_period_mode: 'always' }, /"operating_period_mode" must be one of/],
    [{ ...rule, operating_period_mode: 'schedule' }, /"schedule" is required/],
    [{ ...rule, schedule: { ...office, days: [7] } }, /"schedule\.days\[0\]"/],
    [{ ...rule, schedule: { ...office, start_hour: 9.5 } }, /"schedule\.start_hour" must be an integer/],
    [{ ...rule, schedule: { ...office, timezone: 'Mars/Olympus' } }, /Unknown time zone "Mars\/Olympus"/],
    [
      { mode: 'series', points: rows, indexes: [30] },
      /"indexes" must be a list of whole numbers from 0 to 29/,
    ],
    [{ mode: 'series', points: rows, indexes: [0.5] }, /"indexes" must be/],
    [{ mode: 'series', points: rows }, /"indexes" must be/],
    [{ mode: 'series', indexes: [0] }, /"points" must be a list/],
  ]
  for (const [more, problem] of cases)
    t.match(point(more ?? {}), { id: 'a', error: problem }, JSON.stringify(more))
  for (const request of [null, 5, 'text', [], undefined]) {
    t.match(answerRequest(request), { id: null, error: /A request is a JSON object/ })
  }
  t.match(answerRequest({ kind: 'metric' }), { id: null, error: String })
})

t.test('fields that do not matter may be null, missing or unknown', async t => {
  t.strictSame(
    point({ mode: null, operating_period_mode: null, schedule: null, family: 'x', labels: [1] }),
    point({}),
  )
  t.match(point({ kind: 'freshness', metric_type: undefined, interval: undefined, direction: null }), {
    deadline: Number,
  })
})

t.test('any line gets one line, never an end', async t => {
  const lines = fc.oneof(fc.string(), fc.json(), fc.constantFrom('{', '\u2028', '{"id":"\\u2028"}', 'NaN'))
  fc.assert(
    fc.property(lines, line => {
      const said = answerRequestLine(line)
      const read = JSON.parse(said) as Answer
      return !said.includes('\n') && typeof read.error === 'string'
    }),
  )
  t.match(JSON.parse(answerRequestLine('{"id": 1,')), { id: null, error: /one line of JSON: / })
})

t.test('percentages of more rows than there can be are judged, and soon', async t => {
  const many = 1e100
  const points: Row[] = [
    [-1_700_434_800, 50, many],
    [-700_434_800, 97, 0],
    [-700_434_799, 1, 0],
    [-700_434_799, 1, many],
    [-700_434_799, 50, many],
    [299_565_201, 0, 1],
    [299_565_201, 0, many],
    [299_651_601, 0, many],
  ]
  const asked = {
    ...{ id: 1, kind: 'validity_auto', metric_type: 'null_percent', interval: 'daily', direction: 'high' },
    ...{ sensitivity: 0.8, operating_period_mode: 'auto', mode: 'series', points, indexes: [7] },
  }
  const { verdicts } = answerRequest(asked) as Answers
  t.match(verdicts, [{ expected: Number, low: Number, high: Number, z: Number, is_anomaly: false }])
})

t.test('any series within the limits gets finite verdicts that agree with themselves', async t => {
  const series = fc.record({
    kind: fc.constantFrom('metric', 'validity_auto', 'freshness'),
    metric_type: fc.constantFrom('row_count', 'mean', 'null_percent'),
    interval: fc.constantFrom('hourly', 'daily', 'weekly'),
    direction: fc.constantFrom('both', 'high'),
    sensitivity: fc.double({ min: 0.5, max: 50, noNaN: true }),
    operating_period_mode: fc.constantFrom('off', 'auto'),
    rows: fc.array(
      fc.record({
        gap: fc.constantFrom(0, 1, 3600, DAY, 1e9),
        share: fc.constantFrom(0, 1, 0.5, 0.01, 0.97),
        total: fc.constantFrom(null, 0, 1, 1000, 1e100),
      }),
      { maxLength: 40 },
    ),
    size: fc.constantFrom(1, 1000, 1e15, -1e15, 1e100, 1e-20),
  })
  fc.assert(
    fc.property(series, ({ rows: made, size, ...asked }) => {
      const isPercent = asked.kind === 'validity_auto' || asked.metric_type === 'null_percent'
      let at = -MONDAY
      const points = made.map(({ gap, share, total }): Row => [
        (at += gap),
        share * (isPercent ? 100 : size),
        total,
      ])
      const request = { id: 1, ...asked, mode: 'series', points, indexes: points.map((_, i) => i) }
      const { verdicts } = answerRequest(request) as Answers
      return verdicts.every((said, i) => {
        if (said.status === 'cold_start') return !said.is_anomaly && said.z === 0
        const { expected, low, high, z, is_anomaly: isAnomaly } = said
        if (![expected, low, high, z].every(Number.isFinite)) return false
        const isHigh = asked.direction === 'high' || asked.kind === 'freshness'
        const isFlagged = (isHigh ? z : Math.abs(z)) > asked.sensitivity
        if (asked.kind === 'freshness') return isFlagged === isAnomaly
        const value = points[i]![1]
        const isOutside = value > high! || (!isHigh && value < low!)
        return low! <= expected! && expected! <= high! && isAnomaly === isFlagged && isAnomaly === isOutside
      })
    }),
    { numRuns: 100 },
  )
})
