/**
 * The command `detect`: judges a series from standard input line by line, each point by those before it, or answers
 * the requests of a stored benchmark. It needs no settings and no database.
 */
import { Option } from 'commander'
import Joi from 'joi'
import { judgePoint, learnPoint, startDetector } from '../../../checks/detector.ts'
import type { DetectorOptions, DetectorState, SeriesVerdict } from '../../../checks/detector.ts'
import { parseMoment } from '../../../checks/moments.ts'
import { domainOfSeries } from '../../../checks/series-domains.ts'
import { answerRequestLine } from './detect-requests.ts'
import { withJsonOption, type CommandContribution } from '../../../server/cli/command.ts'
import { answerLines, LineError, type LineStreams } from '../../../server/cli/line-filter.ts'
import { integerBetween, numberBetween } from '../../../server/cli/option-values.ts'

const DETECT_INTERVALS = ['hourly', 'daily', 'weekly'] as const
/** Choices of `--metric`. */
const DETECT_METRICS = [
  ...['row_count', 'distinct_count', 'duplicate_count', 'null_percent'],
  ...['min_value', 'max_value', 'mean', 'percentile', 'sum', 'standard_deviation'],
  ...['min_length', 'mean_length', 'max_length'],
] as const

export interface DetectOptions {
  interval: (typeof DETECT_INTERVALS)[number]
  /** The score beyond which a value is an anomaly. */
  sensitivity: number
  /** Only values that are too high are anomalies. */
  oneSided?: true
  /** Points at the start that are learned without a verdict. */
  warmup: number
  /** Without it, values with a total are percentages and others plain quantities. */
  metric?: string
}

export const detectCommand: CommandContribution = {
  name: 'detect',
  define(command, terminal) {
    const streams = { input: process.stdin, output: process.stdout, notes: process.stderr }
    withJsonOption(command)
      .description(
        'judge a series: reads {"timestamp", "value", "total"?} on each line of standard input, oldest first, and ' +
          'prints each with the expected range and whether it is an anomaly',
      )
      .addOption(
        new Option('--interval <interval>', 'how often values come')
          .choices(DETECT_INTERVALS)
          .default('daily'),
      )
      .addOption(
        new Option('--sensitivity <z>', 'the score beyond which a value is an anomaly, 0.1 to 10')
          .argParser(numberBetween(0.1, 10))
          .default(3),
      )
      .option('--one-sided', 'only values that are too high are anomalies')
      .addOption(
        new Option('--warmup <points>', 'how many points to learn from before the first verdict')
          .argParser(integerBetween(0, 999_999_999))
          .default(0),
      )
      .addOption(
        new Option(
          '--metric <type>',
          'what the values are; defaults to percentages when they have a total',
        ).choices(DETECT_METRICS),
      )
      .addOption(
        new Option('--requests', 'answer requests of the benchmark protocol instead').conflicts([
          ...['interval', 'sensitivity', 'oneSided', 'warmup', 'metric'],
        ]),
      )
      .action((options: DetectOptions & { requests?: true }) =>
        options.requests
          ? answerRequests(streams, terminal.signal)
          : detectAnomalies(streams, options, terminal.signal),
      )
  },
}

/** A series so far. */
interface DetectedSeries {
  options: DetectOptions
  /** Null before the first point, which decides what the values are. */
  state: DetectorState | null
  /** Whether the first point had a total. */
  isCounted: boolean
  /** Time of the last point, in epoch seconds. */
  lastSeconds: number
  points: number
  anomalies: number
}

interface PointLine {
  timestamp: unknown
  value: number
  total?: number | null
}

const EXAMPLE = '{"timestamp": "2024-05-01T06:00:00Z", "value": 120}'

/**
 * Prints a verdict for each point, as it comes, until the input ends or `signal` aborts.
 * @throws LineError at the first line that is not a point, or is earlier than the one above it
 */
export async function detectAnomalies(streams: LineStreams, options: DetectOptions, signal: AbortSignal) {
  promptForInput(streams, `points such as ${EXAMPLE}`)
  const series: DetectedSeries = {
    options,
    state: null,
    isCounted: false,
    lastSeconds: -Infinity,
    points: 0,
    anomalies: 0,
  }
  await answerLines(
    streams,
    (pointLineSchema, number) => JSON.stringify(judgeLine(series, pointLineSchema, number)),
    signal,
  )
  if (streams.notes.isTTY) streams.notes.write(`${summarizeSeries(series)}\n`)
}

/** Answers each request with one line, in order; a wrong request is answered with an error. */
export async function answerRequests(streams: LineStreams, signal: AbortSignal): Promise<void> {
  promptForInput(streams, 'requests of the benchmark protocol')
  await answerLines(streams, answerRequestLine, signal)
}

function promptForInput({ input, notes }: LineStreams, what: string): void {
  if (input.isTTY)
    notes.write(`Reading ${what}, one JSON object a line, from standard input; Ctrl-D ends them.\n`)
}

function summarizeSeries({ points, anomalies, options }: DetectedSeries): string {
  const found = `${points === 1 ? '1 point' : `${points} points`}, ${anomalies === 1 ? '1 anomaly' : `${anomalies} anomalies`}`
  return `${found} at sensitivity ${options.sensitivity}`
}

/** Judges the point of a line, then learns it. */
function judgeLine(series: DetectedSeries, text: string, number: number) {
  const { timestamp, value, total } = parsePointLine(text, number)
  const at = parseTimestamp(timestamp, number)
  if (at < series.lastSeconds)
    throw new LineError(
      `Line ${number}: its timestamp ${JSON.stringify(timestamp)} is before that of the line above. Sort the lines by time.`,
    )
  const { options } = series
  const isCounted = total != null
  if (!series.state) series.isCounted = isCounted
  const state = (series.state ??= startDetector(detectorOptions(options, isCounted)))
  assertValueFits(series, state.options.series, { value, total }, number)
  const point = { at, value, total: total ?? null }
  const judgement =
    series.points < options.warmup ? WARMUP_VERDICT : judgePoint(state, point, options.sensitivity)
  series.state = learnPoint(state, point)
  series.lastSeconds = at
  series.points++
  if (judgement.isAnomaly) series.anomalies++
  return { timestamp, value, ...presentVerdict(judgement) }
}

const WARMUP_VERDICT = { expected: null, low: null, high: null, zScore: 0, isAnomaly: false, learning: true }

function presentVerdict({ expected, low, high, zScore, isAnomaly, learning }: Omit<SeriesVerdict, 'basis'>) {
  return { expected, low, high, z_score: zScore, is_anomaly: isAnomaly, learning }
}

/** A percentage with a total is judged as `invalid_percent` when one-sided, else as `null_percent`. */
function detectorOptions(options: DetectOptions, isCounted: boolean): Omit<DetectorOptions, 'sensitivity'> {
  const { interval, oneSided, metric } = options
  const percent = oneSided ? 'invalid_percent' : 'null_percent'
  // The detector treats a mean as a plain quantity.
  const series = metric ?? (isCounted ? percent : 'mean')
  return { series, domain: domainOfSeries(series), interval, direction: oneSided ? 'high' : 'both' }
}

const MAX_VALUE = 1e100
const line = Joi.object({
  timestamp: Joi.required(),
  value: Joi.number().unsafe().min(-MAX_VALUE).max(MAX_VALUE).required(),
  total: Joi.number().unsafe().min(0).max(MAX_VALUE).allow(null),
})
  .unknown()
  .prefs({ convert: false })
  .messages({ 'object.base': 'it is not a JSON object' })

function parsePointLine(text: string, number: number): PointLine {
  const { value, error } = line.validate(parseJson(text, number))
  if (error) throw new LineError(`Line ${number}: ${error.message}. Write each point as ${EXAMPLE}.`)
  return value as PointLine
}

function parseJson(text: string, number: number): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new LineError(
      `Line ${number} is not JSON: ${(error as Error).message}. Write each point as ${EXAMPLE}.`,
    )
  }
}

/** Timestamps from here on are milliseconds: in seconds they would be in the year 5138 or later. */
const MIN_EPOCH_MS = 1e11
/** The latest time that a Date can hold. */
const MAX_DATE_MS = 8.64e15

/** Epoch seconds of a timestamp: ISO 8601, in UTC where it has no zone, or epoch seconds or milliseconds. */
function parseTimestamp(timestamp: unknown, number: number): number {
  const milliseconds =
    typeof timestamp === 'string'
      ? parseMoment(withZoneMinutes(timestamp))?.from
      : epochMilliseconds(timestamp)
  if (milliseconds === undefined || Math.abs(milliseconds) > MAX_DATE_MS)
    throw new LineError(
      `Line ${number}: "timestamp" ${JSON.stringify(timestamp)} is not a time. Give ISO 8601, such as "2024-05-01T06:00:00Z" or "2024-05-01", or epoch seconds or milliseconds.`,
    )
  return milliseconds / 1000
}

/** Databases also write a zone as `+02`. */
function withZoneMinutes(timestamp: string): string {
  return timestamp.replace(/(:\d{2}(?:\.\d+)?[+-]\d{2})$/, '$1:00')
}

function epochMilliseconds(timestamp: unknown): number | undefined {
  if (typeof timestamp !== 'number') return undefined
  return Math.abs(timestamp) < MIN_EPOCH_MS ? timestamp * 1000 : timestamp
}

/** Refuses a value that the series cannot have, and a total that would be ignored. */
function assertValueFits(
  { isCounted, options }: DetectedSeries,
  series: string,
  { value, total }: Pick<PointLine, 'value' | 'total'>,
  number: number,
): void {
  const isPercent = series.endsWith('_percent')
  if (isPercent && (value < 0 || value > 100))
    throw new LineError(
      `Line ${number}: "value" ${value} is not a percentage. Give 0 to 100${isCounted ? ', or leave out "total" if values are not percentages' : ''}.`,
    )
  if (series.endsWith('_count') && value < 0)
    throw new LineError(`Line ${number}: "value" ${value} is not a ${series}, which is never below 0.`)
  if (total == null) return
  if (options.metric !== undefined && !isPercent)
    throw new LineError(
      `Line ${number} has a "total", which belongs to percentages. Leave it out, or leave out --metric ${series}.`,
    )
  if (!isCounted)
    throw new LineError(
      `Line ${number} has a "total", which the first line had not. Give it from the first line on, or never.`,
    )
}
