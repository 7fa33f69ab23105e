import type { Transaction } from '../../server/database/database.ts'
import type { DemoAlerts } from './demo.ts'
import type { Subscriptions } from './rules/subscriptions.ts'

export const EVENT_TYPES = [
  'schema_change',
  'freshness_violation',
  'discovery_complete',
  'connection_failed',
  'validity_failure',
  'metric_anomaly',
  'referential_failure',
  'destination_disabled',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** In the order in which they get worse. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Something that people should hear of. */
export interface AlertEvent {
  type: EventType
  /** What caused it, within its type: a rule, a metric, a table. One open alert a cause; a repeat counts on it. */
  cause: string
  severity: Severity
  /** Null of what no source has to do with. */
  sourceId: string | null
  asset: { id: string; qualifiedName: string; assetType: string; tags?: readonly string[] }
  /** The name of the rule, metric or schedule that spoke. */
  ruleName: string
  /** One sentence for people. */
  title: string
  /** A schema change's type. */
  changeType?: string
  details: object
  /** Stored with the alert and shown with it, not sent. */
  contextData?: object
  /** Stored as resolved at once: news, not a trouble (`discovery_complete`). */
  isNews?: true
}

/** What became of an event. */
export interface RaiseResult {
  alertId: string
  /** Whether an alert was opened for it; else it counts on one that is open. */
  isNew: boolean
}

/** What nobody looks at any more: some causes, or all that alerts of some types, or of any, say of a source or of tables. */
export type OrphanedAlerts =
  | { type: EventType; causes: readonly string[] }
  | { sourceId: string; types?: readonly EventType[] }
  | { assetIds: readonly string[]; types: readonly EventType[] }

/**
 * Makes what an alert spoke of part of what is expected; `actor` dismissed it.
 * @returns whether its check judges by that from now on, so that a failure is beyond what was dismissed
 */
export type LearnExpected = (
  trx: Transaction,
  alert: { id: string; cause: string; actor: string },
) => Promise<boolean>

/** Which of some ids are those of things that are there, in the transaction's company. */
export type LookUp = (trx: Transaction, ids: readonly string[]) => Promise<string[]>

/** How assets are looked up. */
export interface AssetLookup {
  filterKnown: LookUp
  /** The UUID of an asset by its UUID or qualified name. @throws 404 `ASSET_NOT_FOUND` for an unknown name */
  resolveId(trx: Transaction, asset: string): Promise<string>
}

/** What other features may ask of alerts, as `server.plugins.alerts`. All act inside the caller's transaction. */
export interface AlertsApi {
  /**
   * Opens an alert, or counts on the open one of the same cause, or on the one that was dismissed if the cause has not
   * recovered since; one that got worse is opened anew. Deliveries and their jobs commit with it.
   */
  raise(trx: Transaction, event: AlertEvent): Promise<RaiseResult>
  /**
   * The same for many events, in a number of statements that grows by a few with every thousand.
   * @param events each of another type or cause: two of the same are a mistake of the caller's, and throw
   * @returns what became of each, in their order
   */
  raiseAll(trx: Transaction, events: readonly AlertEvent[]): Promise<RaiseResult[]>
  /**
   * Resolves the open alert of a cause, if there is one, and notifies those who were notified that it began. A dismissal
   * ends with it, so that the next failure opens a new alert.
   * @returns whether one was open
   */
  resolve(trx: Transaction, type: EventType, cause: string): Promise<boolean>
  /**
   * The same for many causes, in a number of statements that grows by a few with every thousand.
   * @param reason one short sentence for the alert's history; that it recovered, unless told
   * @returns how many were open
   */
  resolveAll(trx: Transaction, type: EventType, causes: readonly string[], reason?: string): Promise<number>
  /**
   * Resolves the open alerts of what is no longer watched, since nothing would ever find that it recovered: called
   * after whoever may raise them can no more. Sends `alert.resolved` for each.
   * @returns how many were open
   */
  resolveOrphaned(trx: Transaction, what: OrphanedAlerts): Promise<number>
  /**
   * Takes removed assets out of the alert rules that name them, after their last alerts were resolved. A rule that
   * names no other asset is switched off: without the filter it would let everything through.
   */
  forgetAssets(trx: Transaction, assetIds: readonly string[]): Promise<void>
  /**
   * Hears of alerts of a type that somebody dismisses as expected. Called with the alert in the transaction of the
   * dismissal, before its row is locked: whoever records results locks their rule first and the alert after it.
   */
  onExpected(type: EventType, learn: LearnExpected): void
  /** How to look up which of some ids are assets: the catalog, which builds on alerts, says so when it registers. */
  setAssetLookup(lookUp: AssetLookup): void
  /** Which of some ids are assets of the company. */
  filterKnownAssets: LookUp
  resolveAssetId: AssetLookup['resolveId']
  /** Lets the feature that raised an alert learn that it was expected. @returns whether it judges by that from now on */
  learnExpected(
    trx: Transaction,
    alert: { id: string; kind: EventType; cause: string; actor: string },
  ): Promise<boolean>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    alerts: AlertsApi & { subscriptions: Subscriptions; demo: DemoAlerts }
  }
}
