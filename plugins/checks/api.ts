import type { AnyRequest } from '../../server/http/access.ts'
import type { ServerRoute } from '@hapi/hapi'
import type { Job } from '../../server/jobs/jobs.ts'
import type { CheckOutcome } from '../../checks/check.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { Source, TableContext } from '../catalog/api.ts'
import type { CheckResource } from './check-resource.ts'
import type { CheckSeries } from './check-series.ts'
import type { AskEngine, DeclaredChecks, StopListener } from './declared/declared-checks.ts'
import type { CheckKind, SourceKind } from './kind.ts'

import type { CheckRow } from './models.ts'
import type { Reconciler } from './reconcile/reconciler.ts'

import type {
  AssetCheckOptions,
  AssetCheckResult,
  Backfill,
  CheckRequest,
  CheckTarget,
  ConfiguredCheck,
  DryRunMeasurement,
  HistoryRange,
  ScanListener,
  ScanRunOptions,
} from './types.ts'

export type * from './types.ts'
export type { CheckResource, PresentedPage } from './check-resource.ts'
export type { CheckSeries } from './check-series.ts'
export type { WindowColumns } from './windows/windows.ts'
export type {
  AskEngine,
  CheckFields,
  CheckKindName,
  CheckRef,
  CheckSubject,
  CheckToStore,
  DeclaredCheck,
  DeclaredChecks,
  NewDeclaredCheck,
  RecordEvent,
  StoppedCheck,
  CheckedTable,
} from './declared/declared-checks.ts'
export type {
  AlertContext,
  AlertSubject,
  AlertTexts,
  Capture,
  CheckKind,
  CheckMoment,
  CheckSpec,
  CheckSummary,
  ClaimedSource,
  Detection,
  JudgedSeries,
  JudgedValue,
  Judgement,
  MeasureRefusal,
  MoreAlerts,
  OutcomeWithoutId,
  OwnMeasurement,
  OwnMeasurementOptions,
  OwnOutcome,
  SeriesSighting,
  SlotRange,
  SourceKind,
  WantedMeasure,
} from './kind.ts'
export type { CheckChange, CheckTotals } from './store.ts'
export type { LackedCheck, MissingChecks, MissingRequest } from './reconcile/missing.ts'
export type { Reconciler } from './reconcile/reconciler.ts'
export type * from './reconcile/wanted-check.ts'

/** What other features may read in SQL: kinds of checks their rows, results and what was learned. */
export const READABLE_TABLES = ['checks', 'check_results', 'check_states'] as const

/** What other features may ask of scans, as `server.plugins.checks`. */
export interface ChecksApi {
  /** What people call a type of checks: `Not null`. */
  labelOfType(type: string): string
  /**
   * Adds a kind of check: the sweep runs its checks from now on, lists show them, and its alerts are raised. Extensions add
   * kinds, too.
   */
  addKind<Row extends CheckRow>(kind: CheckKind<Row>): void
  /**
   * Adds a kind that is measured for many tables of a source at once. The sweep claims its checks from now on.
   * @returns the job of a source, for the jobs of the feature that adds it
   */
  addSourceKind<Row extends CheckRow>(kind: SourceKind<Row>): Job
  /** The kinds of checks that were added, but for those. */
  kinds(): readonly Pick<CheckKind, 'name' | 'feature' | 'label'>[]
  /** The endpoints of one kind of check, which can be declared by files then, too. */
  routesOf<Row extends CheckRow>(resource: CheckResource<Row>): ServerRoute[]
  /** Adds a function that is called after each scan was recorded, in its transaction. */
  afterScan(listener: ScanListener): void
  /** Adds a kind of check without such endpoints to those that can be declared. */
  declare(checks: DeclaredChecks): void
  /** The kinds of checks that can be declared, in the order in which their rows are locked. */
  declaredKinds(): readonly DeclaredChecks[]
  /** Creates, changes, adopts and removes many checks of an owner: a file, a contract. And creates those that tables lack. */
  reconciler: Reconciler
  /** Adds a function that is called when a caller removes or pauses one check. */
  afterStop(listener: StopListener): void
  /** Calls these functions. */
  notifyStopped: StopListener
  /** Scans a table once for the checks of all kinds: those the sweep claimed, or all active ones. */
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
   * @returns null when it was ended
   * @throws 503 `UNAVAILABLE` when no session was free for the first table within `slotWaitMs`, 404 `ASSET_NOT_FOUND` when the source is gone, 409 `CONFLICT` when it is switched off
   */
  checkAsset(target: CheckTarget, options: AssetCheckOptions): Promise<AssetCheckResult | null>
  /** The results of a check in the last days; undefined when the table has no such check. */
  readSeries(
    trx: Transaction,
    check: { tableId: string; checkId: string; days: number },
  ): Promise<CheckSeries | undefined>
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
   * @param costInterval how often it would run; with it, what it would cost is estimated before it is measured
   * @throws 409 `CONFLICT` when its source is switched off
   */
  dryRun(
    configured: ConfiguredCheck,
    choice: HistoryRange | null,
    costInterval?: HistoryRange['interval'],
  ): Promise<DryRunMeasurement>
  /**
   * Estimates the bytes that one reading of each of some tables of a source takes. Nothing is read for it.
   * @returns null where the engine does not say, or cannot be asked now
   */
  estimateBytes(companyId: string, tableIds: readonly string[]): Promise<number | null>
  /** Sends a job that computes the past of the checks of a source that wait for theirs, as `reconciler.addMissing` makes them. */
  sendBackfill(trx: Transaction, source: Pick<Source, 'id' | 'companyId'>): Promise<void>
  /**
   * Requires write scope of who tries checks with SQL of their own.
   * @param checks their fields, as the caller writes them
   * @throws 403
   */
  requireScopeForSql(request: AnyRequest, checks: readonly Record<string, unknown>[]): void
  /**
   * Measures checks of one table now, in one scan, and stores nothing.
   * @returns their outcomes, in their order
   * @throws 409 `CONFLICT` when its source is switched off
   */
  measureOnce(table: TableContext, checks: readonly ConfiguredCheck['check'][]): Promise<CheckOutcome[]>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    checks: ChecksApi
  }
}
