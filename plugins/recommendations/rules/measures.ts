/** Metrics and freshness: what is measured again and again, and judged by what was learned of it. */
import { NUMERIC_KINDS, TEMPORAL_KINDS } from '../../../connectors/catalog.ts'
import { isCalendar, isIdentifier, wordsOf } from './names.ts'
import {
  confidenceAfter,
  formatCount,
  hasFewRowsPerDay,
  isKeyLike,
  METRIC_SENSITIVITY,
  primaryKeyOf,
  profiledColumn,
  round,
  type EvidenceColumn,
  type EvidenceBasis,
  type Suggestion,
  type TableEvidence,
} from './evidence.ts'

const MIN_ROWS = 20
/**
 * Fewer NULLs come in batches, as flights are cancelled in a storm: their share of a whole table jumps with each, so that it
 * alerts for what is no broken load. Next to none are left to `NOT_NULL`.
 */
const MIN_STEADY_PERCENT = 5
/** Columns with more values are no dimensions. */
const MAX_DIMENSION_VALUES = 1_000
const HOUR_MS = 3_600_000
/** A table whose newest row is older than this at the time of its profile is not loaded any more. */
const MAX_AGE_HOURS = 45 * 24
/**
 * The |z| beyond which a row count alerts. A load of one day that lacks most of its rows is found in five of twelve tables
 * with 4 and in nine with 3, for three false alerts in 96 months of a table (`npm run bench:recommendations`).
 */
const ROW_COUNT_SENSITIVITY = 3
/** Confidence that tables which others are made from gain. */
const DEPENDENTS_GAIN = 0.05

/** The metrics and the freshness schedule that the evidence of a table speaks for. */
export function suggestMeasures(table: TableEvidence): Suggestion[] {
  const key = primaryKeyOf(table)
  const columns = table.columns.filter(({ name }) => !key.includes(name))
  return [
    suggestRowCount(table),
    ...suggestFreshness(table),
    ...columns.flatMap(c => suggestMetrics(table, c)),
  ]
}

function usageOf({ dependents }: TableEvidence) {
  return {
    gain: dependents > 0 ? DEPENDENTS_GAIN : 0,
    basis: dependents > 0 ? (['usage'] satisfies EvidenceBasis[]) : [],
    evidence: dependents > 0 ? { dependents } : {},
  }
}

function suggestRowCount(table: TableEvidence): Suggestion {
  const rows = table.profile?.rowCount ?? table.estimatedRows
  const { gain, basis, evidence } = usageOf(table)
  const size = rows === null ? 'an unknown number of' : formatCount(rows)
  return {
    kind: 'metric',
    type: 'row_count',
    column: null,
    config: {},
    settings: { sensitivity: ROW_COUNT_SENSITIVITY },
    confidence: round((table.kind === 'table' ? 0.9 : 0.8) + gain),
    reason: `${table.name} has ${size} rows, and a load that fails or runs twice changes how they grow.`,
    basis: [...(table.profile ? (['profiles'] as const) : []), ...basis],
    evidence: { rows, ...evidence },
    isQuietByProfile: false,
  }
}

function suggestFreshness(table: TableEvidence): Suggestion[] {
  const { freshness, profile } = table
  const signal = freshness?.signal ? { ...freshness, isByValues: false } : findLoadedColumn(table)
  if (!signal) return []
  const { column } = signal
  const age =
    column === null ? NaN : ageOf(profile?.columns.find(({ name }) => name === column)?.max, profile)
  // Such a table would be stale at once, or learn nothing.
  if (age > MAX_AGE_HOURS) return []
  const { gain, basis, evidence } = usageOf(table)
  const isSeen = Number.isFinite(age)
  const how = column ?? 'the engine'
  return [
    {
      kind: 'freshness',
      type: 'freshness',
      column,
      config: {},
      settings: {},
      confidence: round((isSeen && !signal.isByValues ? 0.9 : 0.82) + gain),
      reason: isSeen
        ? `The newest ${how} was ${describeAge(age)} old when ${table.name} was profiled, and its cadence is learned.`
        : `${how} shows when ${table.name} was updated, and its cadence is learned.`,
      basis: [
        ...(isSeen ? (['profiles'] as const) : []),
        ...(signal.isByValues ? [] : (['names'] as const)),
        ...basis,
      ],
      evidence: {
        signal: signal.signal,
        column,
        ...(isSeen && { age_hours: Math.round(age * 10) / 10 }),
        ...evidence,
      },
      isQuietByProfile: false,
    },
  ]
}

/** A column whose newest value is older than this when the table is profiled is none that loads move. */
const MAX_LOADED_HOURS = 48
/** The days that its values cover: fewer may be those of one load. */
const MIN_LOADED_DAYS = 7

/** Words of times that no load moves, or that lie ahead. */
const OTHER_TIMES = new Set(
  `birth birthday dob born due expiry expires expire expiration end ends until valid validity scheduled planned
   expected target deadline next`.split(/\s+/),
)

/**
 * The column that loads move forward, by its values, in a table that has no conventional one: the newest is from around the
 * time of the profile, and none lies ahead. Where there are several, it is the one with the newest value.
 */
function findLoadedColumn(table: TableEvidence) {
  const { freshness, profile } = table
  // Without a word on signals, none may be read.
  if (!freshness || !profile) return undefined
  const moving = table.columns.flatMap(column => {
    const { min, max } = profiledColumn(table, column)?.profile ?? {}
    const [age, reach] = [ageOf(max, profile), ageOf(min, profile)]
    const isMoving = age >= 0 && age <= MAX_LOADED_HOURS && reach - age >= MIN_LOADED_DAYS * 24
    const isOther = wordsOf(column.name).some(word => OTHER_TIMES.has(word))
    return TEMPORAL_KINDS.includes(column.kind) && isMoving && !isOther ? [{ column: column.name, age }] : []
  })
  const [newest] = moving.toSorted((a, b) => a.age - b.age)
  return newest && { signal: 'column' as const, column: newest.column, isByValues: true }
}

/** Hours from a moment to the time of a profile; NaN of what is no moment. */
function ageOf(moment: unknown, profile: TableEvidence['profile']): number {
  if (!profile || typeof moment !== 'string') return NaN
  return (profile.profiledAt.getTime() - Date.parse(moment.includes('T') ? zoned(moment) : moment)) / HOUR_MS
}

/** Profiles give times without a zone in UTC. */
function zoned(time: string): string {
  return /(Z|[+-]\d{2}:?\d{2})$/.test(time) ? time : `${time}Z`
}

function describeAge(hours: number): string {
  if (hours < 1) return 'less than an hour'
  const [count, unit] = hours < 48 ? [Math.round(hours), 'hour'] : [Math.round(hours / 24), 'day']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

function suggestMetrics(table: TableEvidence, column: EvidenceColumn): Suggestion[] {
  const profiled = profiledColumn(table, column)
  if (!profiled || profiled.rows < MIN_ROWS) return []
  const { name, kind } = column
  const { profile, rows, nulls, values } = profiled
  const suggested: Suggestion[] = []
  const add = (
    type: 'null_percent' | 'distinct_count' | 'mean',
    confidence: number,
    reason: string,
    evidence: Record<string, unknown>,
  ) =>
    suggested.push({
      kind: 'metric',
      type,
      column: name,
      config: {},
      confidence,
      reason,
      evidence,
      settings: { sensitivity: METRIC_SENSITIVITY },
      basis: ['profiles'],
      isQuietByProfile: false,
    })
  if (nulls > 0 && values > 0) {
    const share = (100 * nulls) / rows
    add(
      'null_percent',
      confidenceAfter(rows, share >= MIN_STEADY_PERCENT && share <= 60 ? 0.9 : 0.75),
      `${share < 0.1 ? 'Less than 0.1' : share.toFixed(1)} % of ${name} is NULL, and a jump of that share shows a broken load.`,
      { rows, nulls, null_percent: Math.round(share * 100) / 100 },
    )
  }
  const distinct = profile.distinct ?? 0
  const isDimension = distinct > 20 && distinct <= MAX_DIMENSION_VALUES && distinct < values / 10
  if (isDimension && (kind === 'text' || kind === 'integer'))
    add(
      'distinct_count',
      confidenceAfter(values, 0.85),
      `${name} has ${formatCount(distinct)} values in ${formatCount(values)} rows, and some that vanish or appear change their number.`,
      { values, distinct },
    )
  const { mean, stddev } = profile
  if (
    NUMERIC_KINDS.includes(kind) &&
    !isIdentifier(name) &&
    !isCalendar(name) &&
    !isKeyLike(table, profiled) &&
    distinct > 5
  ) {
    if (mean !== null && stddev !== null && stddev > 0) {
      // A single row moves the mean of a table that gets a row or two a day, and RANGE finds another unit there.
      const isSteady = stddev <= 3 * Math.abs(mean) && !hasFewRowsPerDay(table)
      add(
        'mean',
        confidenceAfter(values, isSteady ? 0.95 : 0.65),
        `The mean of ${name} over ${formatCount(values)} values is ${formatMean(mean)}, and a change of unit or currency moves it.`,
        { values, mean, stddev },
      )
    }
  }
  return suggested
}

function formatMean(mean: number): string {
  return String(Number(mean.toPrecision(4)))
}
