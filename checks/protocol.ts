/**
 * The detector as a line protocol, so that a stored benchmark can drive it: one JSON request in, one JSON answer out.
 * A request is in point form (`history` and `point`) or in series form (`mode: "series"`, `points` and `indexes`);
 * both give the same verdicts.
 */
import Joi from 'joi'
import { learnCadence } from './cadence.ts'
import { isActive, judge, replay } from './detector.ts'
import type { DetectorOptions, Operating, Point, Schedule, Verdict } from './detector.ts'

/** Epoch seconds, value, and the rows behind a percentage. */
type Row = [at: number, value: number, total?: number | null]

interface Request {
  id: unknown
  mode?: 'point' | 'series' | null
  kind: 'metric' | 'validity_auto' | 'freshness'
  /** Regarded for metrics only. */
  metric_type?: string | null
  /** `event` for freshness only, which does not regard it. */
  interval: DetectorOptions['interval'] | 'event'
  direction?: DetectorOptions['direction'] | null
  sensitivity: number
  operating_period_mode?: Operating['mode'] | null
  schedule?: WorkingHours | null
  history?: Row[]
  point?: Row
  points?: Row[]
  indexes?: number[]
}

/** Days count from 0 = Sunday; hours are whole, the end exclusive; an end before the start is on the day after. */
interface WorkingHours {
  days: number[]
  start_hour: number
  end_hour: number
  timezone: string
}

/** Answers a line: any text, also one that is no JSON, gets exactly one answer, without a line break. */
export function answerLine(line: string): string {
  let request: unknown
  try {
    request = JSON.parse(line)
  } catch (error) {
    return JSON.stringify({ id: null, error: `A request is one line of JSON: ${(error as Error).message}.` })
  }
  return JSON.stringify(answer(request))
}

/** Answers one request: with verdicts, or with an `error` that says what is wrong with it. Never throws. */
export function answer(request: unknown): object {
  const fault = faultOf(request)
  if (fault !== null) return { id: (request as { id?: unknown } | null)?.id ?? null, error: fault }
  const asked = request as Request
  return asked.mode === 'series' ? answerSeries(asked) : { id: asked.id ?? null, ...answerPoint(asked) }
}

/** A moment that every calendar can hold, epoch seconds. */
const TIME_LIMIT = 8_640_000_000_000
/** Sizes beyond which sums of squares would not be finite. */
const VALUE_LIMIT = 1e100
/** Scores end at ±99. */
const SCORE_LIMIT = 99
/** Below the least everything is an anomaly; the most can be exceeded by a score. */
const SENSITIVITY = { least: 0.01, most: 50 }

const schedule = Joi.object({
  days: Joi.array().items(Joi.number().integer().min(0).max(6)).min(1).required(),
  start_hour: Joi.number().integer().min(0).max(23).required(),
  end_hour: Joi.number().integer().min(0).max(24).required(),
  timezone: Joi.string().required(),
})
  .unknown()
  .custom((hours: WorkingHours) => (isActive(scheduleOf(hours), 0), hours))
  .messages({ 'any.custom': '{{#label}}: {{#error.message}}' })

/** All but the rows, which are too many to be checked by a schema. */
const head = Joi.object({
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
  sensitivity: Joi.number().min(SENSITIVITY.least).max(SENSITIVITY.most).required(),
  operating_period_mode: Joi.valid('off', 'schedule', 'auto', null),
  schedule: Joi.when('operating_period_mode', {
    is: 'schedule',
    then: schedule.required(),
    otherwise: schedule.allow(null),
  }),
})
  .unknown()
  .prefs({ convert: false, errors: { wrap: { label: '"' } } })
  .messages({ 'object.base': 'A request is a JSON object.' })

/** What is wrong with a request, as a sentence; null when nothing is. */
function faultOf(request: unknown): string | null {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    return 'A request is a JSON object.'
  const { error } = head.validate(request)
  if (error) return `${error.message.replace(/\.$/, '')}.`
  const asked = request as Request
  const { mode, history, point, points, indexes } = asked
  if (mode === 'series') return faultOfRows(asked, 'points', points) ?? faultOfIndexes(points!, indexes)
  const ofHistory = faultOfRows(asked, 'history', history)
  if (ofHistory !== null) return ofHistory
  const ofPoint = faultOfRow(asked, point, history!.at(-1))
  return ofPoint && `"point" ${ofPoint}`
}

function faultOfRows(asked: Request, name: string, rows: unknown): string | null {
  if (!Array.isArray(rows)) return `"${name}" must be a list of [epoch seconds, value, total or null].`
  for (const [i, row] of rows.entries()) {
    const fault = faultOfRow(asked, row, rows[i - 1] as Row | undefined)
    if (fault !== null) return `"${name}[${i}]" ${fault}`
  }
  return null
}

/** What is wrong with a row, as the end of a sentence. */
function faultOfRow({ kind, metric_type: type }: Request, row: unknown, before?: Row): string | null {
  if (!Array.isArray(row)) return 'must be [epoch seconds, value, total or null].'
  const [at, value, total = null] = row as unknown[]
  if (!isWithin(at, -TIME_LIMIT, TIME_LIMIT)) return 'must begin with a time in epoch seconds.'
  if (before && at < before[0]) return 'is earlier than the one before it: oldest first.'
  if (kind === 'freshness') return null
  const isPercent = kind === 'validity_auto' || type === 'null_percent' || type === 'invalid_percent'
  if (isPercent && !isWithin(value, 0, 100)) return 'must have a percentage as its value: 0 to 100.'
  if (!isWithin(value, -VALUE_LIMIT, VALUE_LIMIT)) return 'must have a finite number as its value.'
  if (total !== null && !isWithin(total, 0, VALUE_LIMIT)) return 'must end with a number of rows, or null.'
  return null
}

function isWithin(given: unknown, least: number, most: number): given is number {
  return typeof given === 'number' && given >= least && given <= most
}

function faultOfIndexes(points: readonly Row[], indexes: unknown): string | null {
  const isFine =
    Array.isArray(indexes) && indexes.every(i => Number.isInteger(i) && isWithin(i, 0, points.length - 1))
  return isFine ? null : `"indexes" must be a list of whole numbers from 0 to ${points.length - 1}.`
}

function answerPoint(asked: Request): object {
  const history = asked.history!
  if (asked.kind === 'freshness') return answerFreshness(asked, history, asked.point!)
  return present(judge(history.map(pointOf), pointOf(asked.point!), optionsOf(asked)))
}

function answerSeries(asked: Request): object {
  const id = asked.id ?? null
  const points = asked.points!
  const indexes = asked.indexes!
  if (asked.kind === 'freshness') {
    return { id, verdicts: indexes.map(i => answerFreshness(asked, points.slice(0, i), points[i]!)) }
  }
  const verdicts = replay(points.map(pointOf), optionsOf(asked))
  return { id, verdicts: indexes.map(i => present(verdicts[i]!)) }
}

/** The deadline comes from the history alone; the point only says whether it was met. Minutes since the last update. */
function answerFreshness({ sensitivity }: Request, history: readonly Row[], [at]: Row): object {
  const times = history.map(row => row[0])
  const cadence = learnCadence(times, sensitivity)
  if (!cadence) return { ...NOTHING_YET }
  const last = times.at(-1)!
  const { expectedNext, deadline } = cadence
  const isLate = at > deadline
  const score = (sensitivity * (at - expectedNext)) / (deadline - expectedNext)
  return {
    expected: (expectedNext - last) / 60,
    low: 0,
    high: (deadline - last) / 60,
    z: clamp(Number.isFinite(score) ? score : isLate ? SCORE_LIMIT : 0),
    is_anomaly: isLate,
    deadline,
    expected_next: expectedNext,
  }
}

function clamp(score: number): number {
  return Math.max(-SCORE_LIMIT, Math.min(SCORE_LIMIT, score))
}

const NOTHING_YET = { status: 'cold_start', expected: null, low: null, high: null, z: 0, is_anomaly: false }

function present({ expected, low, high, zScore, isAnomaly }: Verdict): object {
  return expected === null ? { ...NOTHING_YET } : { expected, low, high, z: zScore, is_anomaly: isAnomaly }
}

function pointOf([at, value, total]: Row): Point {
  return { at, value, total: total ?? null }
}

function optionsOf(asked: Request): DetectorOptions {
  const isRule = asked.kind === 'validity_auto'
  return {
    series: isRule ? 'invalid_percent' : asked.metric_type!,
    interval: asked.interval as DetectorOptions['interval'],
    direction: asked.direction ?? (isRule ? 'high' : 'both'),
    sensitivity: asked.sensitivity,
    operating: {
      mode: asked.operating_period_mode ?? 'off',
      ...(asked.schedule && { schedule: scheduleOf(asked.schedule) }),
    },
  }
}

function scheduleOf({ days, start_hour: start, end_hour: end, timezone }: WorkingHours): Schedule {
  const rule = { days: days.map(day => (day === 0 ? 7 : day)), start: clock(start), end: clock(end) }
  return { timezone, rules: [rule] }
}

function clock(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`
}
