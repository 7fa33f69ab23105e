/**
 * The command `detect`: judges a series that comes on standard input, line by line, each point by those before it;
 * or answers the requests of a stored benchmark. It needs no settings and no database.
 */
import Joi from 'joi'
import { advance, start, verdict } from '../checks/detector.ts'
import type { DetectorOptions, DetectorState, Verdict } from '../checks/detector.ts'
import { parseMoment } from '../checks/moments.ts'
import { answerLine } from '../checks/protocol.ts'
import { answerLines, LineError, type Streams } from './cli/line-filter.ts'

export const INTERVALS = ['hourly', 'daily', 'weekly'] as const
/** What the values can be said to be. */
export const METRICS = [
  ...['row_count', 'distinct_count', 'duplicate_count', 'null_percent'],
  ...['min_value', 'max_value', 'mean', 'percentile'],
] as const

export interface DetectOptions {
  interval: (typeof INTERVALS)[number]
  /** The score beyond which a value is an anomaly. */
  sensitivity: number
  /** Only values that are too high are anomalies. */
  oneSided?: true
  /** The first points, which are learned without a verdict. */
  warmup: number
  /** Without it, values with a total are percentages and others plain quantities. */
  metric?: string
}

/** A series so far. */
interface Series {
  options: DetectOptions
  /** Null before the first point, which decides what the values are. */
  state: DetectorState | null
  /** Whether values come with the rows behind them. */
  isCounted: boolean
  /** The last point's time, epoch seconds. */
  last: number
  points: number
  anomalies: number
}

interface Line {
  timestamp: unknown
  value: number
  total?: number | null
}

const EXAMPLE = '{"timestamp": "2024-05-01T06:00:00Z", "value": 120}'

/**
 * Prints a verdict for each point, as it comes, until the input ends or `signal` aborts.
 * @throws LineError at the first line that is no point, or comes before the one above it
 */
export async function detect(streams: Streams, options: DetectOptions, signal: AbortSignal): Promise<void> {
  invite(streams, `points such as ${EXAMPLE}`)
  const series: Series = { options, state: null, isCounted: false, last: -Infinity, points: 0, anomalies: 0 }
  await answerLines(streams, (line, number) => JSON.stringify(judge(series, line, number)), signal)
  if (streams.notes.isTTY) streams.notes.write(`${summary(series)}\n`)
}

/** Answers each request with one line, in order; what is wrong with a request is its answer. */
export async function answerRequests(streams: Streams, signal: AbortSignal): Promise<void> {
  invite(streams, 'requests of the benchmark protocol')
  await answerLines(streams, answerLine, signal)
}

/** Tells whoever sits at the terminal what is waited for. */
function invite({ input, notes }: Streams, what: string): void {
  if (input.isTTY)
    notes.write(`Reading ${what}, one JSON object a line, from standard input; Ctrl-D ends them.\n`)
}

function summary({ points, anomalies, options }: Series): string {
  const found = `${points === 1 ? '1 point' : `${points} points`}, ${anomalies === 1 ? '1 anomaly' : `${anomalies} anomalies`}`
  return `${found} at sensitivity ${options.sensitivity}`
}

/** Judges the point of a line, then learns it. */
function judge(series: Series, text: string, number: number): object {
  const { timestamp, value, total } = readLine(text, number)
  const at = readTime(timestamp, number)
  if (at < series.last)
    throw new LineError(
      `Line ${number}: its timestamp ${JSON.stringify(timestamp)} is before that of the line above. Sort the lines by time.`,
    )
  const { options } = series
  const isCounted = total != null
  if (!series.state) series.isCounted = isCounted
  const state = (series.state ??= start(seriesOf(options, isCounted)))
  assertMeaning(series, state.options.series, { value, total }, number)
  const point = { at, value, total: total ?? null }
  const said = series.points < options.warmup ? UNJUDGED : verdict(state, point, options.sensitivity)
  series.state = advance(state, point)
  series.last = at
  series.points++
  if (said.isAnomaly) series.anomalies++
  return { timestamp, value, ...present(said) }
}

const UNJUDGED = { expected: null, low: null, high: null, zScore: 0, isAnomaly: false, learning: true }

function present({ expected, low, high, zScore, isAnomaly, learning }: Omit<Verdict, 'basis'>): object {
  return { expected, low, high, z_score: zScore, is_anomaly: isAnomaly, learning }
}

/** A percentage with its rows is judged as that of a rule when one-sided, else as that of NULLs. */
function seriesOf(options: DetectOptions, isCounted: boolean): Omit<DetectorOptions, 'sensitivity'> {
  const { interval, oneSided, metric } = options
  const percent = oneSided ? 'invalid_percent' : 'null_percent'
  // To the detector a mean is a plain quantity.
  const series = metric ?? (isCounted ? percent : 'mean')
  return { series, interval, direction: oneSided ? 'high' : 'both' }
}

const LIMIT = 1e100
const line = Joi.object({
  timestamp: Joi.required(),
  value: Joi.number().unsafe().min(-LIMIT).max(LIMIT).required(),
  total: Joi.number().unsafe().min(0).max(LIMIT).allow(null),
})
  .unknown()
  .prefs({ convert: false })
  .messages({ 'object.base': 'it is no JSON object' })

function readLine(text: string, number: number): Line {
  const { value, error } = line.validate(parse(text, number))
  if (error) throw new LineError(`Line ${number}: ${error.message}. Write each point as ${EXAMPLE}.`)
  return value as Line
}

function parse(text: string, number: number): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new LineError(
      `Line ${number} is no JSON: ${(error as Error).message}. Write each point as ${EXAMPLE}.`,
    )
  }
}

/** Numbers from here on are milliseconds: as seconds they would be in the year 5138 or later. */
const MILLISECONDS_FROM = 1e11
/** The last moment that a calendar can hold, milliseconds. */
const LAST_MOMENT = 8.64e15

/** Epoch seconds of a timestamp: ISO 8601, in UTC where it has no zone, or epoch seconds or milliseconds. */
function readTime(timestamp: unknown, number: number): number {
  const milliseconds =
    typeof timestamp === 'string' ? parseMoment(withMinutes(timestamp))?.from : millisecondsOf(timestamp)
  if (milliseconds === undefined || Math.abs(milliseconds) > LAST_MOMENT)
    throw new LineError(
      `Line ${number}: "timestamp" ${JSON.stringify(timestamp)} is no time. Give ISO 8601, such as "2024-05-01T06:00:00Z" or "2024-05-01", or epoch seconds or milliseconds.`,
    )
  return milliseconds / 1000
}

/** Databases write a zone as `+02`, too. */
function withMinutes(timestamp: string): string {
  return timestamp.replace(/(:\d{2}(?:\.\d+)?[+-]\d{2})$/, '$1:00')
}

function millisecondsOf(timestamp: unknown): number | undefined {
  if (typeof timestamp !== 'number') return undefined
  return Math.abs(timestamp) < MILLISECONDS_FROM ? timestamp * 1000 : timestamp
}

/** Refuses a value that the series cannot have, and a total that would not be regarded. */
function assertMeaning(
  { isCounted, options }: Series,
  series: string,
  { value, total }: Pick<Line, 'value' | 'total'>,
  number: number,
): void {
  const isPercent = series.endsWith('_percent')
  if (isPercent && (value < 0 || value > 100))
    throw new LineError(
      `Line ${number}: "value" ${value} is no percentage. Give 0 to 100${isCounted ? ', or leave out "total" where values are no percentages' : ''}.`,
    )
  if (series.endsWith('_count') && value < 0)
    throw new LineError(`Line ${number}: "value" ${value} is no ${series}, which is never below 0.`)
  if (total == null) return
  if (options.metric !== undefined && !isPercent)
    throw new LineError(
      `Line ${number} has a "total", which belongs to percentages. Leave it out, or leave out --metric ${series}.`,
    )
  if (!isCounted)
    throw new LineError(
      `Line ${number} has a "total", which the first had not. Give it from the first line on, or never.`,
    )
}
