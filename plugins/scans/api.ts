import type { Request, ServerRoute } from '@hapi/hapi'
import type { Model, ModelClass } from 'objection'
import type { Check, CheckType, CheckOutcome } from '../../checks/check.ts'
import type { CompanyRow, Transaction } from '../../server/database/database.ts'
import type { Source, TableContext } from '../catalog/api.ts'
import type { CheckResource } from './check-resource.ts'
import type { CheckSeries } from './check-series.ts'
import type { AskEngine, DeclaredChecks, FindOwners, StopListener } from './declared/declared-checks.ts'
import type { ListedChecks } from './list/listed-checks.ts'

import type { MissingCheckRequest, MissingCheckResult, MissingCheckStore } from './missing-checks.ts'
import type { Reconciler } from './reconcile/reconciler.ts'

export type { CheckResource, PresentedPage } from './check-resource.ts'
export type { CheckSeries } from './check-series.ts'
export type {
  AskEngine,
  CheckFields,
  CheckKind,
  CheckRef,
  CheckSubject,
  DeclaredCheck,
  DeclaredChecks,
  NewDeclaredCheck,
  RecordEvent,
  StoppedCheck,
} from './declared/declared-checks.ts'
export type { ListedChecks } from './list/listed-checks.ts'
export type { MissingCheckRequest, MissingCheckResult, MissingCheckTarget } from './missing-checks.ts'
export type { Reconciler } from './reconcile/reconciler.ts'
export type * from './reconcile/wanted-check.ts'

/** A row that stands for a check of one table, with the columns that `server/database/due.ts` asks for. */
export interface ScheduledCheck extends CompanyRow {
  sourceId: string
  tableId: string
  isActive: boolean
  nextRunAt: Date
  /** The due time that was claimed and is not recorded yet. */
  runningSlot: Date | null
  /** Whether a sweep would have claimed it when it was read for a scan. */
  isDue?: boolean
}

/** What a row wants measured; a type given by name is looked up, so that a missing extension becomes an error outcome. */
export type CheckSpec = Omit<Check, 'id' | 'type'> & { type: CheckType | string }

/** Why a row cannot be measured, found without asking its source. */
export interface MeasureRefusal {
  kind: string
  message: string
}

/** A row, locked, with what the scan says of it. */
export interface MeasuredRow<Row extends ScheduledCheck> {
  row: Row
  outcome: CheckOutcome
  /** The due time it was taken for; null of one that was asked for by hand and was not due. */
  slot: Date | null
}

/** A feature whose rows stand for checks, on schedule and on demand. */
export interface CheckFeature<Row extends ScheduledCheck = ScheduledCheck, Result = unknown> {
  name: string
  /** Its rows; the interval is the column `check_interval`, and `status_rank` is that of `ListedChecks`. */
  model: ModelClass<Row>
  /** What rows of a table want measured of it, in their order. */
  checks(
    rows: readonly Row[],
    table: TableContext,
    trx: Transaction,
  ): (CheckSpec | MeasureRefusal)[] | Promise<(CheckSpec | MeasureRefusal)[]>
  /**
   * Judges and stores, in one transaction with all other features of the scan. The rows are locked, so that two
   * scans of one row learn one after the other.
   * @returns what was made of each, in the same order
   */
  record(
    trx: Transaction,
    table: TableContext,
    taken: readonly MeasuredRow<Row>[],
    at: Date,
  ): Promise<Result[]>
  /** The column with the last status of the check: pass, fail, error or, in any case, WARNING. */
  lastStatus: string
  /** What was made of a row, in words. */
  describe(row: Row, result: Result): CheckSummary
  /** Its part of the list of all checks; without it, they are not listed there. */
  list?: ListedChecks
}

/** What a check found, in words. */
export interface CheckSummary {
  /** The check, as the paths of its feature take it. */
  id: string
  name: string
  /** A warning is no failure. */
  status: 'pass' | 'warning' | 'fail' | 'error'
  severity: 'info' | 'warning' | 'critical'
  message: string
}

/** What all active checks of an asset found, as a job's result has it. */
export interface AssetCheckResult {
  /** The qualified name of the table, or of the source. */
  asset: string
  tables: number
  checks: number
  /** Those that warn are among them. */
  passed: number
  failed: number
  /** Checks that could not run. */
  errors: number
  /** Statements that the source was sent. */
  statements: number
  /** The worst first, 1,000 at most; `feature` is the part of the API that they belong to. */
  findings: (CheckSummary & { feature: string; asset: string })[]
}

/** Whose active checks: those of a source, or of one table of it. */
export interface CheckTarget {
  companyId: string
  sourceId: string
  tableId?: string | undefined
}

/**
 * Scans a row's table now.
 * @returns undefined when the row is gone
 * @throws 404 `ASSET_NOT_FOUND` when the table is gone, 409 `CONFLICT` when its source is switched off
 */
export type CheckNow<Row, Result> = (
  row: Row,
  choice?: ScanRunOptions,
) => Promise<{ result: Result; outcome: CheckOutcome } | undefined>

/** Active checks by how they did last; those that have not run are in none. A warning is no failure. */
export interface StatusCounts {
  passing: number
  failing: number
  error: number
}

/** A check as a user asks for it. */
export interface CheckRequest {
  tablePath: string
  family: CheckType['family']
  type: string
  /** The name of the body's field that names the type. */
  typeField: 'rule_type' | 'metric_type'
  column: string | undefined
  config: Record<string, unknown>
  /** What the fields of the config are called in errors: `rule_config`, or nothing. */
  configField: string | undefined
  /** The names of the body beside those of the config, if they stand in one object. */
  otherFields?: readonly string[] | undefined
  nullIsValid?: boolean
  groupBy?: readonly string[]
}

/** A request that was found good, with the defaults of its config filled in. */
export type ConfiguredCheck = TableContext & {
  check: Omit<Check, 'id'>
  /** What people should know of it, sentences. */
  warnings: string[]
  /** Whether the engine was asked the type's questions, and has nothing against it. */
  isEngineValidated: boolean
}

/** How far back, and at which distance the points lie. */
export interface HistoryRange {
  days: number
  interval: 'hourly' | 'daily' | 'weekly'
}

/**
 * What a check would have said in the past, computed from the table's own timestamps, oldest first; or why that cannot be
 * known, for good (`isFinal`) or because the source could not be asked.
 */
export type ComputedHistory =
  { column: string; points: HistoryOutcome[] } | { message: string; isFinal: boolean }

/** What a check would have said at a moment. */
export interface HistoryOutcome {
  at: Date
  outcome: CheckOutcome
}

/** The past that a new check starts with, and its summary for the reply. */
export interface Backfill {
  points: HistoryOutcome[]
  summary: { points: number; timestamp_column: string | null; message: string }
}

/** A check that was measured and not stored. */
export interface DryRunMeasurement {
  /** What a scan of this check alone sends. */
  statements: { text: string; values: unknown[] }[]
  outcome: CheckOutcome
  at: Date
  /** Null when it was not asked for. */
  history: ComputedHistory | null
}

export interface ScanRunOptions {
  /** Invalid rows to keep per failing rule, 0 to 100. */
  sampleLimit?: number
  /**
   * When the scan counts as taken; defaults to the database's clock (the demo replays past days, with its source
   * switched off for the sweep).
   */
  at?: Date
  /** Ends what runs at the source and rejects; nothing is recorded then. */
  signal?: AbortSignal
  /** Whether it leaves a source alone that could not be reached just before, as what is scheduled always does. */
  respectsBreaker?: boolean
  /** Milliseconds to wait while all sessions of the source are in use. */
  slotWaitMs?: number
}

/** What a scan recorded of the checks of a table; called in its transaction, with the source and the table locked. */
export type ScanListener = (
  trx: Transaction,
  table: TableContext,
  findings: readonly CheckSummary[],
) => Promise<void>

/** What other features may ask of scans, as `server.plugins.scans`. */
export interface ScansApi {
  /**
   * Adds a feature's rows to the sweep.
   * @returns what scans one row's table now for this row alone, by the same path as the sweep's jobs
   */
  contribute<Row extends ScheduledCheck, Result>(feature: CheckFeature<Row, Result>): CheckNow<Row, Result>
  /** Adds a function that is called after each scan was recorded, in its transaction. */
  afterScan(listener: ScanListener): void
  /** Calls these functions. */
  notifyScanned: ScanListener
  /** The endpoints of one kind of check, which can be declared by files then, too. */
  routesOf<Row, Result extends Model>(resource: CheckResource<Row, Result>): ServerRoute[]
  /** Adds a kind of check without such endpoints to those that can be declared. */
  declare(checks: DeclaredChecks): void
  /** The kinds of checks that can be declared, in the order in which their rows are locked. */
  declaredKinds(): readonly DeclaredChecks[]
  /** Creates, changes, adopts and removes many checks of an owner: a file, a contract. */
  reconciler: Reconciler
  /**
   * Adds a feature that manages checks, for `managed_by` of their records and of lists.
   * @param text a SELECT of what `find` finds, for all companies: `company_id`, `kind`, `check_id`, `file` and `key`
   */
  addOwners(find: FindOwners, text: string): void
  /** Adds a function that is called when a caller removes or pauses one check. */
  afterStop(listener: StopListener): void
  /** Calls these functions. */
  notifyStopped: StopListener
  /** What manages each of some checks; nothing for checks made by hand. */
  findOwners: FindOwners
  /** Scans a table once for every feature's checks: those the sweep claimed, or all active ones. */
  runTable(
    companyId: string,
    tableId: string,
    which: 'claimed' | 'active',
    choice?: ScanRunOptions,
  ): Promise<{ checks: number; statements: number }>
  /**
   * The target of a check that is asked for, which has active checks.
   * @param tablePath a table of the asset, as `findTable` takes it
   * @throws 400 `VALIDATION_ERROR`, 404 `ASSET_NOT_FOUND`, 409 `CONFLICT` when its source is switched off
   */
  resolveTarget(
    trx: Transaction,
    companyId: string,
    assetId: string,
    tablePath?: string,
  ): Promise<CheckTarget>
  /**
   * Runs all active checks of a target, one scan a table, one table after the other. While all sessions of the source
   * are in use it waits.
   * @param options.onProgress receives the percentage done before each table; false ends the check
   * @param options.slotWaitMs milliseconds to wait for a session before the first table; defaults to any time
   * @returns null when it was ended
   * @throws 503 `UNAVAILABLE` when no session was free for the first table within `slotWaitMs`, 404 `ASSET_NOT_FOUND` when the source is gone, 409 `CONFLICT` when it is switched off
   */
  checkAsset(
    target: CheckTarget,
    options: { signal: AbortSignal; slotWaitMs?: number; onProgress?(percent: number): Promise<boolean> },
  ): Promise<AssetCheckResult | null>
  /** The results of a check in the last days; undefined when the table has no such check. */
  readSeries(
    trx: Transaction,
    check: { tableId: string; checkId: string; days: number },
  ): Promise<CheckSeries | undefined>
  /** Creates the checks of one type that tables or columns lack, where a single one would not be refused. */
  createMissing(request: MissingCheckRequest, store: MissingCheckStore): Promise<MissingCheckResult>
  /** Claims what is due now and sends one job a table; the sweep does so every minute. */
  dispatch(): Promise<{ tables: number }>
  /**
   * Checks a request against its type, the table and the engine. Opens a transaction of its own, and none while
   * the engine is asked.
   * @returns the table, and the config with its defaults
   * @throws 400 `VALIDATION_ERROR` naming the field, 404 `ASSET_NOT_FOUND`
   */
  configure(companyId: string, assetId: string, request: CheckRequest): Promise<ConfiguredCheck>
  /** The same for a table that is loaded. @param asksEngine whether the engine is asked about what only it knows */
  configureTable(
    table: TableContext,
    request: Omit<CheckRequest, 'tablePath'>,
    asksEngine: boolean | AskEngine,
  ): Promise<ConfiguredCheck>
  /**
   * Gives many questions about checks one session of a source. The first question opens it, so that work without any opens
   * none; what fails to open fails each question in the same way.
   */
  withSharedSession<T>(source: Source, work: (ask: AskEngine) => Promise<T>): Promise<T>
  /**
   * What a new check would have said in the past, by one statement. A source that cannot be reached
   * is reported in the summary and does not prevent the check.
   * @throws 400 `VALIDATION_ERROR` on `backfill_days` when this check has no past that could be known
   */
  backfill(configured: ConfiguredCheck, choice: HistoryRange): Promise<Backfill>
  /**
   * Measures a check now, and its past unless `choice` is null, and stores nothing.
   * @throws 409 `CONFLICT` when its source is switched off
   */
  dryRun(configured: ConfiguredCheck, choice: HistoryRange | null): Promise<DryRunMeasurement>
  /**
   * Requires write scope of who tries checks with SQL of their own.
   * @param checks their fields, as the caller writes them
   * @throws 403
   */
  requireScopeForSql(request: Request, checks: readonly Record<string, unknown>[]): void
  /**
   * Measures checks of one table now, in one scan, and stores nothing.
   * @returns their outcomes, in their order
   * @throws 409 `CONFLICT` when its source is switched off
   */
  measureOnce(table: TableContext, checks: readonly ConfiguredCheck['check'][]): Promise<CheckOutcome[]>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    scans: ScansApi
  }
}
