import type { Bucket, Check, CheckOutcome, CheckType } from '../../checks/check.ts'
import type { CostEstimate } from '../../connectors/connector.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { TableContext } from '../catalog/api.ts'
import type { PartsUseReply } from './parts/parts-use.ts'
import type { CheckSummary } from './kind.ts'
import type { WindowBody, WindowColumns } from './windows/windows.ts'

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
  /**
   * The parts of tables whose unchanged parts are not read again, those that were read, and the rows of these and of the
   * others. Null where all tables were read whole.
   */
  parts: PartsUseReply | null
  /** The worst first, 1,000 at most; `feature` is the part of the API that they belong to. */
  findings: (CheckSummary & { feature: string; asset: string })[]
}

/** Whose active checks: those of a source, or of one table of it. */
export interface CheckTarget {
  companyId: string
  sourceId: string
  tableId?: string | undefined
}

/** How all active checks of an asset are run. */
export interface AssetCheckOptions {
  signal: AbortSignal
  /** Milliseconds to wait for a session before the first table; defaults to any time. */
  slotWaitMs?: number
  /** Receives the percentage done before each table; false ends the check. */
  onProgress?(percent: number): Promise<boolean>
}

/** Active checks by how they did last. A warning is no failure. */
export interface StatusCounts {
  passing: number
  /** Nothing was learned yet that could judge their last values. */
  learning: number
  failing: number
  error: number
  /** Active checks without a result. */
  pending: number
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
  /** A boolean expression in the SQL of the engine: the check is about the rows for which it is true. */
  filter?: string | null | undefined
  /** One bucket of time at a time; absent of a check that takes no window, not even that of its table. */
  window?: WindowBody
}

/** A request that was found good, with the defaults of its config filled in. */
export type ConfiguredCheck = TableContext & {
  /** Without its window, whose buckets depend on the moment. */
  check: Omit<Check, 'id' | 'window'>
  window?: WindowColumns
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
  | {
      column: string
      points: HistoryOutcome[]
      /** Moments at which it had no rows to say anything of. */
      gaps: Date[]
    }
  | { message: string; isFinal: boolean }

/** What a check would have said at a moment. */
export interface HistoryOutcome {
  at: Date
  /** The bucket that it is about, of a check with a window. */
  bucket?: Bucket
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
  /** Null when it was not asked for, or no session was opened. */
  cost: CheckCost | null
}

/** What a check would read. */
export interface CheckCost {
  runsPerMonth: number
  /** One run without a window. */
  wholeTable: CostEstimate
  /** One run with its window: the newest bucket and those that are measured again; null of a check without one. */
  window: CostEstimate | null
  timeColumn: string | null
  /** What the user wrote of it, which was left out since an estimate plans; null where there is none, or nothing was. */
  unplannedSql: 'expression' | 'select' | null
  /** Active checks of the table that the same statement measures when they are due together. */
  sharedWith: number
}

export interface ScanRunOptions {
  /** Invalid rows to keep per failing rule, 0 to 100. */
  sampleLimit?: number
  /** Whether these have all columns of their rows. */
  wholeRows?: boolean
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

/** What the reply of a dry run says of a rule or metric, as far as other features read it. */
export interface TriedCheck {
  status: string
  learning?: boolean
  error_message?: string | null
  history: {
    source: string | null
    timestamp_column: string | null
    points: number
    alerts: number
    message: string
    series: TriedPoint[]
  }
}

/** A point of the past, judged, with the band at each sensitivity. */
export interface TriedPoint {
  at: Date
  value: number | null
  expected_value: number | null
  z_score: number | null
  learning: boolean
  bands: { sensitivity: number; low: number; high: number }[]
}
