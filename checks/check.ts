import type Joi from 'joi'
import type { Capability, Row, Value } from '../connectors/connector.ts'
import type { ColumnInfo, ColumnKind, TableInfo } from '../connectors/catalog.ts'
import type { Dialect } from '../connectors/dialect.ts'
import type { Sql } from '../connectors/sql.ts'
import type { ComparedTables } from './comparison/result.ts'
import type { Domain } from './detector/scales.ts'
import type { Bucket } from './rows/buckets.ts'
export type { Bucket, BucketGrid } from './rows/buckets.ts'
import type { TakenSamples } from './rows/row-sample.ts'
export type { RowSample, TakenSamples } from './rows/row-sample.ts'
import type { SqlSurvey } from './sql/survey.ts'

/** Which rows a check is about: those for which a boolean expression in the engine's SQL is true. */
export interface Filter {
  /** In parentheses; a row for which it is false or NULL is not one of the check. */
  condition: Sql
  text: SqlSurvey
}

/** The input of a check type that writes its SQL. */
export interface CheckContext<Config = Record<string, unknown>> {
  /** The quoted column; empty SQL for a check without a column. */
  column: Sql
  /** The column's catalog entry; absent for checks without a column. */
  info?: ColumnInfo
  table: TableInfo
  /** The quoted table, for sub-queries. A type that does not say `filters` may not read it for a check with a filter. */
  from: Sql
  /** Which rows the check is about; absent where it is about all. */
  filter?: Filter | undefined
  /** The condition of the filter, where the statement reads other rows too: counts and aggregates are to apply it. */
  aggregateFilter?: Sql | undefined
  /** What stands in FROM of a sub-query of the rows that the check is about, without another name. */
  rows: Sql
  /** The quoted column for aggregates: NULL in rows that the check is not about, where these are read too. */
  value: Sql
  config: Config
  dialect: Dialect
  /** Whether NULL rows are skipped (`treat_null_as_valid`); rules only. */
  nullIsValid: boolean
}

/** How many rows were judged and how many of them are invalid. */
export interface RuleCounts {
  total: number
  invalid: number
}

/** The measured values by the check's own names; null for SQL NULL. */
export type MeasuredValues = Record<string, number | null>

/**
 * A number that needs a SELECT of its own, joined as a one-row table. Equal SELECTs are computed once, whichever of
 * their columns the checks read.
 */
export interface SubqueryMeasure {
  select: Sql
  /** An output column of `select`: an unquoted lower-case name. */
  column: string
  /** A cheaper SELECT of that column alone, where no check reads another column. */
  alone?: Sql
  /**
   * The same number as an aggregate: used in groups, and for the whole table where it is cheaper on the engine and no
   * other check needs the SELECT. A measure without an aggregate cannot be grouped.
   */
  aggregate?: Sql
}

/** One number that a check needs of a table. */
export type Measure = Sql | SubqueryMeasure

/**
 * How the measure of all rows follows from the measures of each period. `count` and `sum` add up (over no rows: 0 and
 * NULL); `min` and `max` take the extreme; `mean` is weighted by the number of values. Computed from the values
 * themselves: `standard_deviation` follows from those of
 * the periods with their means and numbers of values. Computed from the values
 * themselves: `distinct` counts different values, `repeated` counts rows whose value occurs more than once.
 */
export type Rollup = 'count' | 'sum' | 'min' | 'max' | 'mean' | 'standard_deviation' | 'distinct' | 'repeated'

/** A statement of the type's own that the engine runs, with none of a user's SQL in it. */
export interface SelectValidation {
  /** Must run: if the engine rejects it, the config is wrong. */
  select: Sql
  /** Returns a sentence that names what is wrong, or null. */
  validateRows?(rows: readonly Row[]): string | null
}

/** A statement with a user's SQL in it, which the engine neither runs nor plans. */
export interface AcceptValidation {
  /** Must be accepted: its names and types are resolved. Skipped where the engine cannot do that alone. */
  accepts: Sql
}

/** A statement by which the engine validates a config. */
export type EngineValidation = SelectValidation | AcceptValidation

/** Common to all check types. Declare `Config` with `type`: an interface does not fit the registry. */
interface CheckBase<Config> {
  /** The name in the API: `REGEX`, `null_percent`. */
  name: string
  /** What people call it: `Not null`. Defaults to its name in words. */
  label?: string
  /** One sentence for the API description. */
  description: string
  /** `rule_config` of a rule, the extra body fields of a metric. */
  config: Joi.ObjectSchema<Config>
  column: 'required' | 'optional' | 'ignored'
  /** Kinds of column it applies to; defaults to all. */
  kinds?: readonly ColumnKind[]
  /** It groups or compares the column's values: a column of which the engine cannot is refused at creation. */
  comparesValues?: true
  /** It reads the column's values as text: a column of which the engine has none is refused at creation. */
  readsText?: true
  /** Required capabilities: on an engine without them the check is refused at creation. */
  needs?: readonly Capability[]
  /** It counts NULL in its own way, so `treat_null_as_valid` does not affect it. */
  ignoresNullPolicy?: true
  /**
   * The SQL is written by the user: it never shares a statement, or, where it is `aggregate`, only as an aggregate among
   * others, and never where it `namesItsRows`.
   */
  userSql?: true | 'aggregate'
  /** It never shares a statement, because it reads another table too. */
  ownStatement?: true
  /**
   * Its measures are about the rows of a check's filter even in a statement that reads others: aggregates take
   * `context.value`, sub-queries `context.rows`, and rows are counted by `total`. Without it, a check with a filter has a
   * statement of those rows. A rule of `valid` needs not say so.
   */
  filters?: true
  /** Whether the config names the rows by itself, so that no filter can. */
  namesItsRows?(config: Config, on: Pick<CheckContext, 'dialect' | 'table'>): boolean
  /**
   * Whether the number reveals a row's value: `always` (a minimum), or only `grouped`, where a group may be one row (a
   * mean). On columns of personal data the former is refused, the latter is refused in groups.
   */
  revealsValue?: 'always' | 'grouped'
  /**
   * Validates a config against the column's catalog entry, or with a parser. Returns a sentence that names what is
   * wrong, or null. Runs when a check is created and before every scan, always before its SQL is written.
   */
  validateConfig?(
    config: Config,
    column: ColumnInfo | undefined,
    on: Pick<CheckContext, 'dialect' | 'table'>,
  ): string | null | Promise<string | null>
  /** Why a config cannot be measured by groups: a sentence, or null. Defaults to null. */
  validateGrouping?(config: Config, on: Pick<CheckContext, 'dialect' | 'table'>): Promise<string | null>
  /**
   * Names in SQL of a user whose values its number may show; `any` where it may read other tables, too, and none where it
   * counts rows. On personal data it is refused.
   */
  shownColumns?(
    config: Config,
    on: Pick<CheckContext, 'dialect' | 'table'>,
  ): Promise<readonly string[] | 'any'>
  /**
   * Sentences for the replies that create, try or run a check whose config is accepted but measured differently from
   * how it reads.
   */
  configWarnings?(config: Config, column: ColumnInfo | undefined): string[]
  /**
   * Statements that validate the config on the engine when a check is created, if the engine can be reached. With
   * `userSql` they run again before every scan.
   */
  engineValidations?(context: CheckContext<Config>): readonly EngineValidation[]
  /**
   * How each measure accumulates over periods, by name; without it a check has no computed history. The measure of an
   * AggregateMetric is called `value`; a RowRule needs no rollup.
   */
  rollup?: Readonly<Record<string, Rollup>>
  /**
   * Its measures depend on the rows alone: not on the time, on other tables or on settings. Where the engine knows which
   * parts of a table have changed, only these are read, and their measures are added up with what is kept of the others,
   * as its rollups say.
   */
  mergesParts?: true
}

/** Common to all rules. */
interface RuleBase<Config> extends CheckBase<Config> {
  family: 'rule'
  /** What comes after the number of invalid rows: `with unknown values`. By default the rows are called invalid. */
  failure?: string
}

/** A rule that judges each row by itself. The NULL policy, counts and samples follow from one expression. */
export interface RowRule<Config = Record<string, unknown>> extends RuleBase<Config> {
  /** A boolean expression over a non-null value; NULL counts as invalid. */
  valid(context: CheckContext<Config>): Sql
  /**
   * Whether the expression is NULL for NULL and for no value, as comparisons with constants are. Invalid rows are then
   * counted without a guard against NULL, which takes a fifth less time on PostgreSQL. Defaults to false.
   */
  isStrict?(context: CheckContext<Config>): boolean
}

/** A rule with its own measures and samples. */
export interface TableRule<Config = Record<string, unknown>> extends RuleBase<Config> {
  /** What was found in words, where the number of invalid rows does not say it; null where it does. */
  describe?(counted: RuleCounts & { measured: MeasuredValues }, config: Config): string | null
  measures(context: CheckContext<Config>): Record<string, Measure>
  /** `total` is the table's row count, measured beside the check's own. */
  readMeasures(measured: MeasuredValues, total: number, context: CheckContext<Config>): RuleCounts
  /**
   * A condition that holds for invalid rows, or a whole SELECT of them. `columns` are shown as the sample's value when
   * the check has no column. `rows` is a SELECT of as many rows that is valid in FROM, where `select` may not be.
   */
  samples(
    context: CheckContext<Config>,
  ): { where: Sql; columns?: readonly string[] } | { select: Sql; rows?: Sql }
}

/** Common to all metrics. */
interface MetricBase<Config> extends CheckBase<Config> {
  family: 'metric'
  /**
   * What its values can be: bands of its history keep within that, and are told by its kind of noise. Defaults to any
   * quantity (`continuous`).
   */
  domain?: Domain
}

/** A metric of one aggregate expression; NULL means no value. */
export interface AggregateMetric<Config = Record<string, unknown>> extends MetricBase<Config> {
  measure(context: CheckContext<Config>): Sql
  /**
   * For a percentile: its value and fraction (0 to 1), of which `measure` gives exactly the percentile. On an engine whose
   * percentile is no aggregate, groups and several percentiles of one value are computed from it; and so are those that
   * sort, where the engine finds several in one pass.
   */
  percentileOf?(context: CheckContext<Config>): { value: Sql; fraction: number }
  /**
   * Whether it sorts all values, and is worth reading the table once more on an engine that computes all aggregates beside
   * such a one without parallel workers. Defaults to false.
   */
  sorts?: true
}

/** A metric computed from measures that it shares with other checks. */
export interface DerivedMetric<Config = Record<string, unknown>> extends MetricBase<Config> {
  measures(context: CheckContext<Config>): Record<string, Measure>
  readMeasures(measured: MeasuredValues, total: number, context: CheckContext<Config>): number | null
}

export type RuleType<Config = Record<string, unknown>> = RowRule<Config> | TableRule<Config>
export type MetricType<Config = Record<string, unknown>> = AggregateMetric<Config> | DerivedMetric<Config>
/** An entry of the registry `server.checks`. */
export type CheckType<Config = Record<string, unknown>> = RuleType<Config> | MetricType<Config>

/** The buckets of time that a check is measured of, each by itself. */
export interface CheckWindow {
  /** The column with the time of a row; rows without one are in no bucket. */
  column: string
  /** What buckets are cut by, equal for checks whose buckets fit together: `1d Europe/Berlin`. */
  grid: string
  /** Following each other, the oldest first; at most 100. */
  buckets: readonly Bucket[]
}

/** One configured check. */
export interface Check {
  /** Unique in the scan; its outcome has the same id. */
  id: string
  type: CheckType
  column?: string
  config: Record<string, unknown>
  nullIsValid?: boolean
  /** A boolean expression in the engine's SQL: the check is about the rows for which it is true. */
  filter?: string
  /** Measures each bucket by itself; the outcome has one of each. */
  window?: CheckWindow
  /** Up to 3 columns; metrics only. */
  groupBy?: readonly string[]
  /** Columns hidden in its samples, in addition to those of the whole scan. */
  maskedColumns?: readonly string[]
  /** What its user wrote may have failed the last statement that it shared, so that checks which did not are kept from it. */
  isSuspect?: boolean
}

/** One group of a metric with `group_by`: its unique column values, as samples show them, and the measure. */
export interface GroupValue {
  group: Record<string, Value>
  value: number | null
  total: number
}

/** What was measured of one bucket of time: counts, a value or groups. */
export interface BucketOutcome {
  bucket: Bucket
  outcome: CheckOutcome
}

/**
 * The outcome of one check; `measured` holds the numbers behind the counts. A failed measure is an `error`, never a
 * zero and never a pass; its `kind` is that of a ConnectorError, or `invalid-check`, `unsupported`, `not-finite` or
 * `too-many-groups`.
 */
export type CheckOutcome = {
  id: string
  durationMs: number
  /** From `configWarnings`, if there are any. */
  warnings?: string[]
  /** A suspect that took so much of the time of the scan that it is to stay apart. */
  isSlow?: true
} & (
  | ({ status: 'counted'; total: number; invalid: number; measured: MeasuredValues } & TakenSamples)
  | { status: 'measured'; value: number | null; total: number }
  | { status: 'grouped'; groups: GroupValue[] }
  | { status: 'windowed'; buckets: BucketOutcome[] }
  | { status: 'compared'; found: ComparedTables }
  | { status: 'error'; kind: string; message: string }
)

export function isRowRule(type: CheckType): type is RowRule {
  return 'valid' in type
}

/** What a rule found in the words of its type; null where the number of invalid rows says it. */
export function describeCounted(type: CheckType, outcome: CheckOutcome, config: object): string | null {
  if (outcome.status !== 'counted' || !('describe' in type)) return null
  return type.describe?.(outcome, config as Record<string, unknown>) ?? null
}

/** What the values of a metric can be. @param type undefined of a metric whose extension was removed */
export function domainOf(type: CheckType | undefined): Domain {
  return (type?.family === 'metric' && type.domain) || 'continuous'
}

export function isAggregateMetric(type: CheckType): type is AggregateMetric {
  return 'measure' in type
}

/** The part of the server that an extension adds check types to: `register(server: ExtensibleCheckType)`. */
export interface ExtensibleCheckType {
  checks: { add(...types: CheckType[]): void }
}
