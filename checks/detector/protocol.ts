/**
 * The detector as a line protocol, so that any scorer can drive it: one JSON request in, one JSON answer out. A
 * request is in point form (`history` and `point`) or in series form (`mode: "series"`, `points` and `indexes`).
 */
import { learnCadence } from '../cadence.ts'
import { judge, replay, type DetectorOptions, type Operating, type Point, type Verdict } from '../detector.ts'

type Row = [at: number, value: number, total?: number | null]

interface Request {
  id: string
  mode?: 'series'
  kind: 'metric' | 'validity_auto' | 'freshness'
  metric_type: string
  interval: string
  direction?: 'both' | 'high'
  sensitivity: number
  operating_period_mode?: Operating['mode']
  /** Days count from 0 = Sunday; hours are whole, the end exclusive. */
  schedule?: { days: number[]; start_hour: number; end_hour: number; timezone: string }
  history?: Row[]
  point?: Row
  points?: Row[]
  indexes?: number[]
}

/** Answers one request; an unreadable one is answered with `error`. */
export function answer(request: unknown): object {
  const fault = faultOf(request)
  if (fault) return { id: (request as { id?: unknown } | null)?.id ?? null, error: fault }
  const asked = request as Request
  return asked.mode === 'series' ? answerSeries(asked) : { id: asked.id, ...answerPoint(asked) }
}

const INTERVALS = ['hourly', 'daily', 'weekly', 'event']

function faultOf(request: unknown): string | null {
  if (typeof request !== 'object' || request === null) return 'A request is a JSON object.'
  const { mode, interval, sensitivity, history, point, points, indexes } = request as Partial<Request>
  if (!INTERVALS.includes(interval ?? '')) return `"interval" is one of ${INTERVALS.join(', ')}.`
  if (typeof sensitivity !== 'number') return '"sensitivity" is a number.'
  if (mode === 'series') {
    return areRows(points) && Array.isArray(indexes) && indexes.every(i => Number.isInteger(i) && i in points)
      ? null
      : 'Series form needs "points" as [epoch seconds, value, total] and "indexes" into them.'
  }
  return areRows(history) && areRows([point])
    ? null
    : 'Point form needs "history" and "point" as [epoch seconds, value, total].'
}

function areRows(rows: unknown): rows is Row[] {
  return (
    Array.isArray(rows) && rows.every(row => Array.isArray(row) && row.slice(0, 2).every(Number.isFinite))
  )
}

function answerPoint(asked: Request): object {
  const history = asked.history!
  if (asked.kind === 'freshness') return answerFreshness(asked, history, asked.point!)
  return present(judge(history.map(pointOf), pointOf(asked.point!), optionsOf(asked)))
}

function answerSeries(asked: Request): object {
  const { id, points, indexes } = { points: asked.points!, indexes: asked.indexes!, id: asked.id }
  if (asked.kind === 'freshness') {
    return { id, verdicts: indexes.map(i => answerFreshness(asked, points.slice(0, i), points[i]!)) }
  }
  const verdicts = replay(points.map(pointOf), optionsOf(asked))
  return { id, verdicts: indexes.map(i => present(verdicts[i]!)) }
}

/** The deadline comes from the history alone; the point only says whether it was met. Minutes since the last update. */
function answerFreshness(asked: Request, history: readonly Row[], point: Row): object {
  const cadence = learnCadence(
    history.map(row => row[0]),
    asked.sensitivity,
  )
  if (!cadence)
    return { status: 'cold_start', expected: null, low: null, high: null, z: 0, is_anomaly: false }
  const last = history[history.length - 1]![0]
  const { expectedNext, deadline } = cadence
  return {
    expected: (expectedNext - last) / 60,
    low: 0,
    high: (deadline - last) / 60,
    z: (asked.sensitivity * (point[0] - expectedNext)) / Math.max(1, deadline - expectedNext),
    is_anomaly: point[0] > deadline,
    deadline,
    expected_next: expectedNext,
  }
}

function present(verdict: Verdict): object {
  const { expected, low, high, zScore, isAnomaly } = verdict
  const cold = expected === null ? { status: 'cold_start' } : {}
  return { expected, low, high, z: zScore, is_anomaly: isAnomaly, ...cold }
}

function pointOf([at, value, total]: Row): Point {
  return { at, value, total: total ?? null }
}

function optionsOf(asked: Request): DetectorOptions {
  const { interval, direction, sensitivity } = asked
  return {
    series: asked.kind === 'validity_auto' ? 'invalid_percent' : asked.metric_type,
    interval: interval === 'hourly' || interval === 'daily' ? interval : 'weekly',
    direction: direction ?? 'both',
    sensitivity,
    operating: operatingOf(asked),
  }
}

function operatingOf({ operating_period_mode: mode, schedule }: Request): Operating {
  if (!schedule) return { mode: mode ?? 'off' }
  const { days, start_hour: start, end_hour: end, timezone } = schedule
  const rule = { days: days.map(day => (day === 0 ? 7 : day)), start: clock(start), end: clock(end) }
  return { mode: mode ?? 'off', schedule: { timezone, rules: [rule] } }
}

function clock(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`
}
