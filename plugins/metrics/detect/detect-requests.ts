/**
 * The line protocol of `tidemark detect --requests`, for benchmarks: one JSON request in, one JSON answer out.
 * A request is in point form (`history` and `point`) or in series form (`mode: "series"`, `points` and `indexes`);
 * both give the same verdicts.
 */
import Joi from 'joi'
import { learnCadence } from '../../../checks/cadence.ts'
import { isActive, judgeByHistory, replaySeries } from '../../../checks/detector.ts'
import { domainOfSeries } from '../../../checks/series-domains.ts'
import type {
  DetectorOptions,
  Operating,
  SeriesPoint,
  Schedule,
  SeriesVerdict,
} from '../../../checks/detector.ts'

/** Epoch seconds, value, and the rows behind a percentage. */
type RequestPoint = [at: number, value: number, total?: number | null]

interface DetectRequest {
  id: unknown
  mode?: 'point' | 'series' | null
  kind: 'metric' | 'validity_auto' | 'freshness'
  /** Used for metrics only. */
  metric_type?: string | null
  /** `event` for freshness only, which ignores it. */
  interval: DetectorOptions['interval'] | 'event'
  direction?: DetectorOptions['direction'] | null
  sensitivity: number
  operating_period_mode?: Operating['mode'] | null
  schedule?: WorkingHours | null
  history?: RequestPoint[]
  point?: RequestPoint
  points?: RequestPoint[]
  indexes?: number[]
}

/** Days count from 0 = Sunday; hours are whole, the end exclusive; an end before the start is on the day after. */
interface WorkingHours {
  days: number[]
  start_hour: number
  end_hour: number
  timezone: string
}

/** Answers any text, also one that is not JSON, with exactly one line, without a line break. */
export function answerRequestLine(line: string): string {
  let request: unknown
  try {
    request = JSON.parse(line)
  } catch (error) {
    return JSON.stringify({ id: null, error: `A request is one line of JSON: ${(error as Error).message}.` })
  }
  return JSON.stringify(answerRequest(request))
}

/** What is expected of a point, and whether it is an anomaly. */
interface Verdict {
  status?: string
  expected: number | null
  low: number | null
  high: number | null
  z: number
  is_anomaly: boolean
  /** Epoch seconds, of freshness. */
  deadline?: number
  expected_next?: number
}

type DetectReply = { id: unknown } & (Verdict | { verdicts: Verdict[] } | { error: string })

/** Answers one request: with verdicts, or with an `error`. Never throws. */
export function answerRequest(request: unknown): DetectReply {
  const fault = findRequestFault(request)
  if (fault !== null) return { id: (request as { id?: unknown } | null)?.id ?? null, error: fault }
  const valid = request as DetectRequest
  return valid.mode === 'series' ? answerSeries(valid) : { id: valid.id ?? null, ...answerPoint(valid) }
}

/** The range of a Date. */
const MAX_EPOCH_SECONDS = 8_640_000_000_000
/** Sums of squares of larger values would overflow. */
const MAX_VALUE = 1e100
/** Scores end at ±99. */
const MAX_Z_SCORE = 99
/** Below the minimum everything is an anomaly; above the maximum no score could exceed it. */
const SENSITIVITY = { min: 0.01, max: 50 }

const workingHoursSchema = Joi.object({
  days: Joi.array().items(Joi.number().integer().min(0).max(6)).min(1).required(),
  start_hour: Joi.number().integer().min(0).max(23).required(),
  end_hour: Joi.number().integer().min(0).max(24).required(),
  timezone: Joi.string().required(),
})
  .unknown()
  .custom((hours: WorkingHours) => (isActive(toSchedule(hours), 0), hours))
  .messages({ 'any.custom': '{{#label}}: {{#error.message}}' })

/** Without the points, which are too many for a schema. */
const requestSchema = Joi.object({
  mode: Joi.valid('point', 'series', null),
  kind: Joi.valid('metric', 'validity_auto', 'freshness').required(),
  metric_type: Joi.when('kind', {
    is: 'metric',
    then: Joi.string().required(),
    otherwise: Joi.string().allow(null),
  }),
  interval: Joi.when('kind', {
    is: 'freshness',
    then: Joi.valid('hourly', 'daily', 'weekly', 'event'),
    otherwise: Joi.valid('hourly', 'daily', 'weekly').required(),
  }),
  direction: Joi.valid('both', 'high', null),
  sensitivity: Joi.number().min(SENSITIVITY.min).max(SENSITIVITY.max).required(),
  operating_period_mode: Joi.valid('off', 'schedule', 'auto', null),
  schedule: Joi.when('operating_period_mode', {
    is: 'schedule',
    then: workingHoursSchema.required(),
    otherwise: workingHoursSchema.allow(null),
  }),
})
  .unknown()
  .prefs({ convert: false, errors: { wrap: { label: '"' } } })
  .messages({ 'object.base': 'A request is a JSON object.' })

/** Returns a sentence on what is wrong with a request, or null. */
function findRequestFault(request: unknown): string | null {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    return 'A request is a JSON object.'
  const { error } = requestSchema.validate(request)
  if (error) return `${error.message.replace(/\.$/, '')}.`
  const typed = request as DetectRequest
  const { mode, history, point, points, indexes } = typed
  if (mode === 'series') return findPointsFault(typed, 'points', points) ?? findIndexesFault(points!, indexes)
  const historyFault = findPointsFault(typed, 'history', history)
  if (historyFault !== null) return historyFault
  const pointFault = findPointFault(typed, point, history!.at(-1))
  return pointFault && `"point" ${pointFault}`
}

function findPointsFault(request: DetectRequest, name: string, rows: unknown): string | null {
  if (!Array.isArray(rows)) return `"${name}" must be a list of [epoch seconds, value, total or null].`
  for (const [i, row] of rows.entries()) {
    const fault = findPointFault(request, row, rows[i - 1] as RequestPoint | undefined)
    if (fault !== null) return `"${name}[${i}]" ${fault}`
  }
  return null
}

/** Returns what is wrong with a point, as the end of a sentence, or null. */
function findPointFault({ kind, metric_type: type }: DetectRequest, row: unknown, before?: RequestPoint) {
  if (!Array.isArray(row)) return 'must be [epoch seconds, value, total or null].'
  const [at, value, total = null] = row as unknown[]
  if (!isWithin(at, -MAX_EPOCH_SECONDS, MAX_EPOCH_SECONDS)) return 'must begin with a time in epoch seconds.'
  if (before && at < before[0]) return 'is earlier than the one before it: oldest first.'
  if (kind === 'freshness') return null
  const isPercent = kind === 'validity_auto' || type === 'null_percent' || type === 'invalid_percent'
  if (isPercent && !isWithin(value, 0, 100)) return 'must have a percentage as its value: 0 to 100.'
  if (!isWithin(value, -MAX_VALUE, MAX_VALUE)) return 'must have a finite number as its value.'
  if (total !== null && !isWithin(total, 0, MAX_VALUE)) return 'must end with a number of rows, or null.'
  return null
}

function isWithin(given: unknown, least: number, most: number): given is number {
  return typeof given === 'number' && given >= least && given <= most
}

function findIndexesFault(points: readonly RequestPoint[], indexes: unknown): string | null {
  const isFine =
    Array.isArray(indexes) && indexes.every(i => Number.isInteger(i) && isWithin(i, 0, points.length - 1))
  return isFine ? null : `"indexes" must be a list of whole numbers from 0 to ${points.length - 1}.`
}

function answerPoint(request: DetectRequest): Verdict {
  const history = request.history!
  if (request.kind === 'freshness') return answerFreshness(request, history, request.point!)
  return presentVerdict(
    judgeByHistory(history.map(toPoint), toPoint(request.point!), detectorOptions(request)),
  )
}

function answerSeries(request: DetectRequest): DetectReply {
  const id = request.id ?? null
  const points = request.points!
  const indexes = request.indexes!
  if (request.kind === 'freshness') {
    return { id, verdicts: indexes.map(i => answerFreshness(request, points.slice(0, i), points[i]!)) }
  }
  const verdicts = replaySeries(points.map(toPoint), detectorOptions(request))
  return { id, verdicts: indexes.map(i => presentVerdict(verdicts[i]!)) }
}

/** The deadline comes from the history alone; the point only says whether it was met. Minutes since the last update. */
function answerFreshness(
  { sensitivity }: DetectRequest,
  history: readonly RequestPoint[],
  [at]: RequestPoint,
): Verdict {
  const times = history.map(row => row[0])
  const cadence = learnCadence(times, sensitivity)
  if (!cadence) return { ...COLD_START }
  const last = times.at(-1)!
  const { expectedNext, deadline } = cadence
  const isLate = at > deadline
  const score = (sensitivity * (at - expectedNext)) / (deadline - expectedNext)
  return {
    expected: (expectedNext - last) / 60,
    low: 0,
    high: (deadline - last) / 60,
    z: clamp(Number.isFinite(score) ? score : isLate ? MAX_Z_SCORE : 0),
    is_anomaly: isLate,
    deadline,
    expected_next: expectedNext,
  }
}

function clamp(score: number): number {
  return Math.max(-MAX_Z_SCORE, Math.min(MAX_Z_SCORE, score))
}

const COLD_START: Verdict = {
  status: 'cold_start',
  expected: null,
  low: null,
  high: null,
  z: 0,
  is_anomaly: false,
}

function presentVerdict({ expected, low, high, zScore, isAnomaly }: SeriesVerdict): Verdict {
  return expected === null ? { ...COLD_START } : { expected, low, high, z: zScore, is_anomaly: isAnomaly }
}

function toPoint([at, value, total]: RequestPoint): SeriesPoint {
  return { at, value, total: total ?? null }
}

function detectorOptions(request: DetectRequest): DetectorOptions {
  const isRule = request.kind === 'validity_auto'
  const series = isRule ? 'invalid_percent' : request.metric_type!
  return {
    series,
    domain: domainOfSeries(series),
    interval: request.interval as DetectorOptions['interval'],
    direction: request.direction ?? (isRule ? 'high' : 'both'),
    sensitivity: request.sensitivity,
    operating: {
      mode: request.operating_period_mode ?? 'off',
      ...(request.schedule && { schedule: toSchedule(request.schedule) }),
    },
  }
}

function toSchedule({ days, start_hour: start, end_hour: end, timezone }: WorkingHours): Schedule {
  const rule = {
    days: days.map(day => (day === 0 ? 7 : day)),
    start: formatHour(start),
    end: formatHour(end),
  }
  return { timezone, rules: [rule] }
}

function formatHour(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`
}
