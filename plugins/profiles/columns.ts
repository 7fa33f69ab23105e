import type { CheckOutcome } from '../../checks/check.ts'
import type { ColumnInfo } from '../../connectors/catalog.ts'
import type { ColumnProfile, PatternName, Quantiles, TopValue } from './api.ts'
import { checkId, QUANTILE_NAMES, type NumberName } from './measures.ts'
import { MIN_PATTERN_SHARE } from './patterns.ts'
import { MAX_TOP_VALUES } from './top-values.ts'

/** Rows that each value of an enum has on average, at least. */
const MIN_ROWS_PER_ENUM_VALUE = 10

/** What the columns of a table were measured with. */
interface MeasuredTable {
  outcomes: ReadonlyMap<string, CheckOutcome>
  /** Rows that were read. */
  profiledRows: number
  isSampled: boolean
  isDistinctApproximate: boolean
  masked: ReadonlySet<string>
  patterns: ReadonlyMap<string, PatternName>
  /** What is known of columns with few values, by their names. */
  values: ReadonlyMap<string, { distinct: number }>
}

/** The profile of a column by the outcomes of its checks, without its frequent values. */
export function readColumn({ name, type, kind }: ColumnInfo, measured: MeasuredTable): ColumnProfile {
  const { outcomes, profiledRows, isSampled, masked } = measured
  const number = (what: NumberName) => valueOf(outcomes, name, what)
  const extreme = (what: 'min' | 'max') =>
    kind === 'date' || kind === 'timestamp' ? readMoment(number(what), kind) : number(what)
  const [count, distinct] = [number('count'), measured.values.get(name)?.distinct ?? number('distinct')]
  const isDistinctExact = distinct !== null && !isSampled && !measured.isDistinctApproximate
  const column: ColumnProfile = {
    name,
    type,
    kind,
    count,
    distinct,
    isDistinctExact,
    isMasked: false,
    mean: number('mean'),
    nulls: count === null ? null : profiledRows - count,
    min: extreme('min'),
    max: extreme('max'),
    stddev: number('stddev'),
    quantiles: readQuantiles(number),
    minLength: number('minLength'),
    maxLength: number('maxLength'),
    meanLength: number('meanLength'),
    topValues: null,
    pattern: readPattern(measured.patterns.get(name), count, number('matches')),
    isKeyCandidate: isDistinctExact && count === profiledRows && count > 0 && distinct === count,
  }
  return masked.has(name) ? maskColumn(column) : column
}

/** Fewer distinct values follow from their mean and their deviation. */
const MIN_DISTINCT_OF_MEAN = 3

/** A column without what shows values. */
export function maskColumn(column: ColumnProfile): ColumnProfile {
  const isShown = (column.distinct ?? 0) >= MIN_DISTINCT_OF_MEAN
  return {
    ...column,
    min: null,
    max: null,
    quantiles: null,
    topValues: null,
    isMasked: true,
    mean: isShown ? column.mean : null,
    stddev: isShown ? column.stddev : null,
  }
}

/** A column with its frequent values, which show whether it is an enum. */
export function withTopValues(column: ColumnProfile, topValues: TopValue[] | undefined): ColumnProfile {
  return { ...column, topValues: topValues ?? null, pattern: column.pattern ?? enumPattern(column) }
}

/** Few values that return, of texts and whole numbers. */
function enumPattern({ kind, count, distinct }: ColumnProfile): ColumnProfile['pattern'] {
  if (!['text', 'integer', 'other'].includes(kind) || !count || !distinct) return null
  const isEnum = distinct <= MAX_TOP_VALUES && distinct * MIN_ROWS_PER_ENUM_VALUE <= count
  return isEnum ? { name: 'enum', share: 1 } : null
}

/** The measured number of a column; null where there is none. */
export function valueOf(
  outcomes: ReadonlyMap<string, CheckOutcome>,
  column: string,
  name: string,
): number | null {
  const outcome = outcomes.get(checkId(column, name))
  return outcome?.status === 'measured' ? outcome.value : null
}

function readQuantiles(number: (name: keyof Quantiles) => number | null): Quantiles | null {
  const found = QUANTILE_NAMES.map(name => [name, number(name)] as const)
  return found.some(([, value]) => value === null)
    ? null
    : (Object.fromEntries(found) as Record<keyof Quantiles, number>)
}

/** Dates beyond those of JavaScript, and years of more than four digits, are left out. */
function readMoment(seconds: number | null, kind: 'date' | 'timestamp'): string | null {
  if (seconds === null) return null
  const moment = new Date(seconds * 1_000)
  const year = moment.getUTCFullYear()
  if (!(year >= 1 && year <= 9_999)) return null
  const text = moment.toISOString()
  return kind === 'date' ? text.slice(0, 10) : text.replace('.000Z', 'Z')
}

function readPattern(
  name: PatternName | undefined,
  count: number | null,
  matches: number | null,
): ColumnProfile['pattern'] {
  if (name === undefined || matches === null || !count) return null
  const share = matches / count
  return share >= MIN_PATTERN_SHARE ? { name, share } : null
}
