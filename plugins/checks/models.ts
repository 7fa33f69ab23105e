import type {
  Constructor,
  Model,
  ModelClass,
  Pojo,
  QueryBuilder,
  QueryBuilderType,
  QueryContext,
  TransactionOrKnex,
} from 'objection'
import type { DetectorState } from '../../checks/detector.ts'
import { defineCap, type CompanyCap } from '../../server/database/company-caps.ts'
import { CompanyRow, type Transaction } from '../../server/database/database.ts'
import type { CheckOwner } from '../../server/http/check-owner.ts'

/** What manages checks: monitors files, and contracts. */
export type OwnerKind = 'file' | 'contract'

/** How a check did last, and how one result of it did. */
export type CheckStatus = 'pass' | 'warning' | 'fail' | 'error'

/** The values of the columns that a check groups by, by column; {} of a check without groups. */
export type SeriesValues = Record<string, unknown>

/**
 * A check of one table. The model of a kind names its `kind` and its `settings`: properties of its own, which are stored
 * together in one column. It declares the columns `name`, `description`, `severity`, `sensitivity` and `checkInterval` as its kind
 * has them. Its queries see the checks of that kind alone; those of this class see all.
 */
export class CheckRow extends CompanyRow {
  static override tableName = 'checks'
  static override jsonAttributes = ['config', 'settings', 'ownerRef']
  static kind: string | undefined
  static settings: readonly string[] = []

  declare id: string
  declare uuid: string
  declare sourceId: string
  declare tableId: string
  declare kind: string
  /** The type of the rule or metric; the kind itself where it has no types. */
  declare type: string
  declare columnName: string | null
  /** A boolean expression in the SQL of the engine, of the rows that it is about; null of all rows. */
  declare filter: string | null
  /** The column with the time of a row, of a check with a window. */
  declare timeColumn: string | null
  /** `1d`: it is about one bucket of so much time; null of all rows. */
  declare windowSize: string | null
  /** `6h`: for how long data of a bucket may still arrive; null is none. */
  declare windowDelay: string | null
  /** How many of the last buckets are measured again; null is 2. */
  declare revisit: number | null
  /** The end of the newest bucket that was measured. */
  declare lastBucketEnd: Date | null
  declare config: Record<string, unknown>
  declare groupByColumns: string[]
  declare otherTableId: string | null
  /** What manages it; null of one that was made by hand. */
  declare ownerKind: OwnerKind | null
  declare ownerRef: CheckOwner | null
  declare isActive: boolean
  declare operatingScheduleId: string | null
  /** The id of the last result that is no part of the baseline: up to it, something else was measured. */
  declare baselineAfter: string
  declare status: CheckStatus | null
  declare isLearning: boolean
  /** Runs in a row that failed; errors neither count nor end them. */
  declare failingRuns: number
  declare lastCheckedAt: Date | null
  declare nextRunAt: Date
  /** Days of the past that it waits for; null of one that waits for none. */
  declare backfillDays: number | null
  /** The due time that was claimed and is not recorded yet. */
  declare runningSlot: Date | null
  declare createdAt: Date
  declare updatedAt: Date
  /** Whether a sweep would have claimed it when it was read for a scan. */
  isDue?: boolean

  static override query<M extends Model>(this: Constructor<M>, trx?: TransactionOrKnex): QueryBuilderType<M> {
    const { kind } = this as unknown as typeof CheckRow
    const builder = super.query(trx) as unknown as QueryBuilderType<M>
    if (kind === undefined) return builder
    return builder.onBuild(query => {
      if (!query.isInsert()) void query.where('checks.kind', kind)
    })
  }

  override $beforeInsert(context: QueryContext): void {
    super.$beforeInsert(context)
    this.kind = (this.constructor as typeof CheckRow).kind!
  }

  override $parseDatabaseJson(json: Pojo): Pojo {
    const { settings, ...row } = super.$parseDatabaseJson(json)
    if (settings === undefined) return row
    return { ...withoutValues(this.constructor as typeof CheckRow), ...(settings as Pojo), ...row }
  }

  /** A new row has all of its settings; a change sets those that it names, each in its place. */
  override $formatDatabaseJson(json: Pojo): Pojo {
    const names = new Set((this.constructor as typeof CheckRow).settings)
    const isNew = 'kind' in json
    const row: Pojo = {}
    const settings: Pojo = isNew ? { ...withoutValues(this.constructor as typeof CheckRow) } : {}
    for (const [name, value] of Object.entries(json))
      if (!names.has(name)) row[name] = value
      else if (isNew) settings[name] = value
      else row[`settings:${name}`] = value
    return super.$formatDatabaseJson(isNew ? { ...row, settings } : row)
  }
}

/** The most checks of a kind that a company may have. @param name as errors have it, @param what its checks, in the plural */
export function capOfKind(kind: string, { name, what }: { name: string; what: string }): CompanyCap {
  return defineCap({
    name,
    table: CheckRow.tableName,
    condition: `kind = '${kind}'`,
    most: 100_000,
    what,
    advice: 'delete one first',
  })
}

/** The columns of a new check. */
export type NewRow<Row extends CheckRow> = Partial<Row> & Pick<Row, 'sourceId' | 'tableId' | 'type'>

/** The settings of a kind, each null: what an older row does not have. */
export function withoutValues({ settings }: Pick<typeof CheckRow, 'settings'>): Record<string, null> {
  return Object.fromEntries(settings.map(name => [name, null]))
}

/** The model of a kind of check. */
export type CheckModel<Row extends CheckRow = CheckRow> = (new () => Row) &
  Pick<typeof CheckRow, 'tableName' | 'kind' | 'settings'>

/** A query of the checks of one kind, with the types that Objection loses where a model is a parameter. */
export function queryChecks<Row extends CheckRow>(
  model: CheckModel<Row>,
  trx: Transaction,
): QueryBuilder<Row, Row[]> {
  return (model as unknown as ModelClass<Row>).query(trx) as unknown as QueryBuilder<Row, Row[]>
}

/** The names of the tables of a check, and the number of its source, as they are joined in. */
export interface TableNames {
  catalogName: string
  schemaName: string
  ofTable: string
  qualifiedName: string
  isTableActive: boolean
  sourceNumber: string
  /** Of its second table; null without one. */
  otherCatalog: string | null
  otherSchema: string | null
  otherTable: string | null
  isOtherActive: boolean | null
  /** The source of its second table. */
  otherSourceId: string | null
  otherSource: string | null
}

/** An outcome of one series of a check, judged. */
export class CheckResult extends CompanyRow {
  static override tableName = 'check_results'
  static override jsonAttributes = ['series', 'details']

  declare id: string
  declare checkId: string
  declare series: SeriesValues
  declare at: Date
  declare scheduledFor: Date | null
  /** A `SourceKind`, which reads its results itself, may have others: a warning, or null where it could judge nothing. */
  declare status: Exclude<CheckStatus, 'warning'>
  /** Null when the status is `error`, and where there is none, such as the mean of no rows. */
  declare value: number | null
  declare totalRows: string | number | null
  declare expected: number | null
  declare low: number | null
  declare high: number | null
  declare zScore: number | null
  declare isLearning: boolean
  /** The alert that it raised or counted on. */
  declare alertId: string | null
  /** A user dismissed it as expected: it is learned in full. */
  declare isConfirmed: boolean
  /** Computed from the table's own timestamps when the check was made. */
  declare isBackfilled: boolean
  declare errorMessage: string | null
  declare durationMs: number
  /** The bucket of time that it is about; null of one of all rows. */
  declare bucketStart: Date | null
  declare bucketEnd: Date | null
  /** When its bucket was last found to have other numbers, how often, and the value that it had first. */
  declare revisedAt: Date | null
  declare revisions: number
  declare firstValue: number | null
  /** What its kind of check has that others have not. */
  declare details: Record<string, unknown>
}

/** What was learned of one series of a check; without it, it is learned again from the results. */
export class CheckState extends CompanyRow {
  static override tableName = 'check_states'
  static override idColumn = ['checkId', 'series']
  static override jsonAttributes = ['series', 'state']

  declare checkId: string
  declare series: SeriesValues
  declare state: DetectorState
  /** Results in a row that had the series; 0 once it is missing, below 0 when an alert reports it. */
  declare run: number
  /** The last result that had the series. */
  declare lastSeenAt: Date | null
}
