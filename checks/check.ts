import type Joi from 'joi'
import type { Capabilities, Capability, Row, Value } from '../connectors/connector.ts'
import type { ColumnInfo, ColumnKind, TableInfo } from '../connectors/catalog.ts'
import type { Dialect } from '../connectors/dialect.ts'
import type { Sql } from '../connectors/sql.ts'

/** What a check type sees when it writes its SQL. */
export interface CheckContext<Config = Record<string, unknown>> {
  /** The quoted column; for checks without a column, an empty piece of SQL. */
  column: Sql
  /** The column's catalog entry; absent for checks without a column. */
  info?: ColumnInfo
  table: TableInfo
  /** The quoted table, for checks that need a sub-query. */
  from: Sql
  config: Config
  dialect: Dialect
  /** Whether NULL rows are skipped (`treat_null_as_valid`); only rules look at it. */
  nullIsValid: boolean
}

/** How many rows were judged and how many of them are invalid. */
export interface RuleCounts {
  total: number
  invalid: number
}

/** What a measured expression gave, by the name the check gave it, as numbers; null where SQL gave NULL. */
export type MeasuredValues = Record<string, number | null>

/**
 * A number that takes a SELECT of its own, read as a table of one row beside the others. Checks that name an equal
 * SELECT have it computed once, whichever of its columns they take.
 */
export interface SubqueryMeasure {
  select: Sql
  /** An output column of `select`, small letters that it is named by without quotes. */
  column: string
  /**
   * The same number as an aggregate. It is taken in groups, and for the whole table where the engine has it sooner
   * and no other check has the SELECT computed anyway. A measure without one cannot be grouped.
   */
  aggregate?: Sql
}

/** What a check asks to be measured of a table. */
export type Measure = Sql | SubqueryMeasure

/**
 * How a measure of all rows follows from what it is of the rows of each period. Of its aggregate: `count` and `sum` add
 * up, the one is 0 and the other NULL of no rows; `least` and `greatest` are one of them; `mean` is an average of the
 * column's values, weighed by how many there are. Of the column's values themselves: `distinct` is how many different
 * ones there are, `repeated` how many rows have one that other rows have too.
 */
export type Rollup = 'count' | 'sum' | 'min' | 'max' | 'mean' | 'distinct' | 'repeated'

/** Something that only the engine can tell of a config. */
export interface EngineValidation {
  /** Must run: where the engine refuses it, its message is what is wrong with the config. */
  select: Sql
  /** Reads what it gave: a sentence naming what is wrong, or null. */
  validateRows?(rows: readonly Row[]): string | null
}

/** What all check types have. `Config` is declared with `type`: an interface does not fit the registry's. */
interface CheckBase<Config> {
  /** The type users name: `REGEX`, `null_percent`. */
  name: string
  /** One sentence for the API description. */
  description: string
  /** `rule_config` of a rule, the extra body fields of a metric. */
  config: Joi.ObjectSchema<Config>
  column: 'required' | 'optional' | 'ignored'
  /** Kinds of column it applies to; all when absent. */
  kinds?: readonly ColumnKind[]
  /** Capabilities the engine must claim; the check is refused at creation on an engine without. */
  needs?: readonly Capability[]
  /** It counts NULL in its own way: `treat_null_as_valid` changes none of its results. */
  ignoresNullPolicy?: true
  /** Never in a statement with others: its SQL is the user's own. */
  userSql?: true
  /**
   * Whether its number is a value that a row has, or lies between two: `always`, as the least one is, or `alone`, where
   * it is of one row only, as a mean. Refused of columns of personal data: the one wholly, the other in groups.
   */
  revealsValue?: 'always' | 'grouped'
  /**
   * What only the column's catalog entry or a parser can tell of a config: a sentence naming what is wrong,
   * or null. Awaited when a check is made and again before every scan, always before its SQL is written.
   */
  validateConfig?(
    config: Config,
    column: ColumnInfo | undefined,
    on: Pick<CheckContext, 'dialect' | 'table'>,
  ): string | null | Promise<string | null>
  /**
   * What people should know of a config that is taken and measured otherwise than it reads: sentences for the replies
   * that make, try out or check it.
   */
  configWarnings?(config: Config, column: ColumnInfo | undefined): string[]
  /**
   * What is asked of the engine when a check is made, as far as it can be reached; of a type that stays `alone`
   * again before every scan, since its SQL is the user's own.
   */
  engineValidations?(context: CheckContext<Config>): readonly EngineValidation[]
  /**
   * How each of its measures grows as rows are added, by name, which lets its past be computed; a type without it has
   * none. The measure of a metric by the narrow door is called `value`; rules by the narrow door need not say it.
   */
  rollup?: Readonly<Record<string, Rollup>>
}

/** A rule by the narrow door: which non-null values are valid. Null policy, counts and samples follow from it. */
export interface RowRule<Config = Record<string, unknown>> extends CheckBase<Config> {
  family: 'rule'
  /** A boolean expression over a non-null value; NULL counts as invalid. */
  valid(context: CheckContext<Config>): Sql
}

/** A rule by the wide door: its own measures, how to read them, and which rows to show. */
export interface TableRule<Config = Record<string, unknown>> extends CheckBase<Config> {
  family: 'rule'
  measures(context: CheckContext<Config>): Record<string, Measure>
  /** `total` is the table's row count, measured beside the check's own. */
  readMeasures(measured: MeasuredValues, total: number, context: CheckContext<Config>): RuleCounts
  /**
   * A condition that holds for invalid rows of the table, or a whole SELECT of them. `columns` are what a
   * sample shows as its value when the check has no column of its own. `rows` is a SELECT of as many rows, that may
   * stand in FROM where `select` may not.
   */
  samples(
    context: CheckContext<Config>,
  ): { where: Sql; columns?: readonly string[] } | { select: Sql; rows?: Sql }
}

/** A metric by the narrow door: one aggregate expression; NULL means no value. */
export interface AggregateMetric<Config = Record<string, unknown>> extends CheckBase<Config> {
  family: 'metric'
  measure(context: CheckContext<Config>): Sql
  /**
   * What the measure is the percentile of, and which, from 0 to 1. On an engine whose percentile is no aggregate the
   * plan computes groups by it, and several percentiles of one value together.
   */
  percentileOf?(context: CheckContext<Config>): { value: Sql; fraction: number }
}

/** A metric by the wide door: arithmetic on measures that it shares with others. */
export interface DerivedMetric<Config = Record<string, unknown>> extends CheckBase<Config> {
  family: 'metric'
  measures(context: CheckContext<Config>): Record<string, Measure>
  readMeasures(measured: MeasuredValues, total: number, context: CheckContext<Config>): number | null
}

export type RuleType<Config = Record<string, unknown>> = RowRule<Config> | TableRule<Config>
export type MetricType<Config = Record<string, unknown>> = AggregateMetric<Config> | DerivedMetric<Config>
/** What is registered in `server.checks`. */
export type CheckType<Config = Record<string, unknown>> = RuleType<Config> | MetricType<Config>

/** One configured check, as a scan takes it. */
export interface Check {
  /** Any id unique in the scan; outcomes carry it. */
  id: string
  type: CheckType
  column?: string
  config: Record<string, unknown>
  nullIsValid?: boolean
  /** Up to 3 columns; metrics only. */
  groupBy?: readonly string[]
  /** Columns that its samples do not show, beside those that none of the scan may. */
  maskedColumns?: readonly string[]
}

/** An invalid row kept as evidence: its primary key, or its number in the sample, and the value. */
export interface RowSample {
  row_id: Value
  /** Null where it is NULL, and where it is hidden. */
  value: Value
  /** The row has a value, or of several columns one, that is not shown. */
  is_hidden?: true
}

/** One group of a metric with `group_by`: the column values, as samples show them and no two alike, and the measure. */
export interface GroupValue {
  group: Record<string, Value>
  value: number | null
  total: number
}

/**
 * What a scan says of one check; `measured` are the numbers behind the counts, by the check's own names. A failed
 * measure is a value of its own, never a zero and never a pass; its `kind` is that of a ConnectorError, or
 * `invalid-check`, `unsupported`, `not-finite` or `too-many-groups`.
 */
export type CheckOutcome = {
  id: string
  durationMs: number
  /** What its type warns of, where there is something. */
  warnings?: string[]
} & (
  | { status: 'counted'; total: number; invalid: number; samples: RowSample[]; measured: MeasuredValues }
  | { status: 'measured'; value: number | null; total: number }
  | { status: 'grouped'; groups: GroupValue[] }
  | { status: 'error'; kind: string; message: string }
)

/** What a capability is for, in the words of an error. */
const CAPABILITY_PHRASES: Record<Capability, string> = {
  constraints: 'keys that the catalog tells',
  comments: 'comments that the catalog tells',
  lastModified: 'the time of the last change of a table',
  estimates: 'estimates of row counts',
  regex: 'regular expressions',
  percentile: 'exact percentiles',
  groupedPercentile: 'percentiles by group',
  dateParsing: 'a way to tell dates from other texts',
  readOnly: 'sessions that cannot write',
  cancel: 'a way to end running statements',
  renames: 'columns that can be followed through a rename',
}

/** Why no check of this type runs on an engine, a sentence naming what it lacks; null when it has all. */
export function describeMissingCapability(
  type: CheckType,
  { name, label, capabilities }: { name: string; label?: string; capabilities: Capabilities },
): string | null {
  const missing = type.needs?.find(capability => !capabilities[capability])
  return missing
    ? `${type.name} needs ${CAPABILITY_PHRASES[missing]}, which ${label ?? name} does not offer.`
    : null
}

/** True for a rule of the narrow door. */
export function isRowRule(type: CheckType): type is RowRule {
  return 'valid' in type
}

/** True for a metric of the narrow door. */
export function isAggregateMetric(type: CheckType): type is AggregateMetric {
  return 'measure' in type
}
