import type { Server } from '@hapi/hapi'
import type { Check, CheckType, Outcome } from '../../checks/check.ts'
import type { Transaction } from '../../server/database.ts'

/** A table of the catalog with its source, as the catalog gives them. */
export type Loaded = NonNullable<Awaited<ReturnType<Server['plugins']['catalog']['load']>>>

/** Checks to scan, and what becomes of their outcomes. */
export interface Batch<Result = unknown> {
  checks: Check[]
  /** Judges and stores, in one transaction with all other batches of the scan. */
  record(trx: Transaction, outcomes: readonly Outcome[], at: Date): Promise<Result>
}

/** A feature that has checks to run when they are due. */
export interface Contribution {
  name: string
  /** Its table of schedules, with the columns that `server/due.ts` asks for; the interval is `check_interval`. */
  table: string
  /** The checks of a table: those that were claimed and are not recorded yet, or all active ones. */
  load(trx: Transaction, table: Loaded, which: 'claimed' | 'active'): Promise<Batch>
  /** How the active checks of a source did last. */
  tally(trx: Transaction, source: Loaded['source']): Promise<Tally>
}

/** Checks by how they did last; those that have not run are in none. */
export interface Tally {
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
  groupBy?: readonly string[]
}

export interface ScanChoice {
  /** Invalid rows to keep per failing rule, 0 to 100. */
  sampleLimit?: number
  /** When the scan counts as taken; the database's clock unless told (the demo replays past days). */
  at?: Date
}

/** What other features may ask of scans, as `server.plugins.scans`. */
export interface ScansApi {
  /** Adds a feature's due checks to the sweep. */
  contribute(contribution: Contribution): void
  /**
   * Scans a table now for one feature, by the same path as the sweep's jobs.
   * @throws 404 `ASSET_NOT_FOUND` when the table is gone
   */
  run<Result>(
    companyId: string,
    tableId: string,
    load: (trx: Transaction, table: Loaded) => Promise<Batch<Result>>,
    choice?: ScanChoice,
  ): Promise<Result>
  /** Scans a table once for every feature's checks: those the sweep claimed, or all active ones. */
  runTable(
    companyId: string,
    tableId: string,
    which: 'claimed' | 'active',
    choice?: ScanChoice,
  ): Promise<{ checks: number; statements: number }>
  /**
   * Checks a request against its type, the table and the engine. Opens a transaction of its own, and none while
   * the engine is asked.
   * @returns the table, and the config with its defaults
   * @throws 400 `VALIDATION_ERROR` naming the field, 404 `ASSET_NOT_FOUND`
   */
  configure(
    companyId: string,
    assetId: string,
    request: CheckRequest,
  ): Promise<Loaded & { type: CheckType; config: Record<string, unknown> }>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    scans: ScansApi
  }
}
