import type Joi from 'joi'
import type { Logger } from 'pino'
import type { AlertTitle } from './alert-title.ts'
import type { DemoPast } from './demo-api.ts'
import type { AlertOverview, OverviewScope } from './dimensions.ts'
import type { IncidentsApi } from './incidents-api.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { Registry } from '../../server/registry.ts'
import type {
  BrokenClause,
  ContractLookup,
  DemoReceiver,
  LineageLookup,
  NamedOwner,
  ReachLookup,
} from './look-ups.ts'
import type { OwnedAssets, WatchLookup } from './watch-lookup.ts'

export type { DemoStep } from './demo-api.ts'
export type { IncidentsApi, TableIncident } from './incidents-api.ts'
export type {
  BrokenClause,
  ContractLookup,
  DemoReceiver,
  JobRun,
  LineageLookup,
  NamedOwner,
  ReachLookup,
  ReachedAsset,
} from './look-ups.ts'
export type { AlertOverview, Dimension, OverviewScope } from './dimensions.ts'
export type { LastPass, OwnedAssets, PastOfAlert, Unwatched, WatchLookup } from './watch-lookup.ts'

/** What other features may read in SQL: which alerts there are, and what happened to them. */
export const READABLE_TABLES = ['alerts', 'alert_history'] as const

/** In the order in which they get worse. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** What an alert shows, or a finding that no alert speaks of. Earlier ones are stronger evidence of a cause. */
export const SYMPTOMS = ['connection', 'drift', 'failed_run', 'stale', 'volume', 'quality'] as const
export type Symptom = (typeof SYMPTOMS)[number]

/** A kind of alert that a feature or an extension raises. */
export interface AlertKind {
  /** `event_type` of the API, by which rules select: `validity_failure`. */
  name: string
  /** Other names for it that filters, rules and previews accept: `freshness_stale`. Replies have `name`. */
  aliases?: readonly string[]
  /** `alert_type` of the API: `validity`. */
  label: string
  /** What people call it: `stale table`. By default its name in words. */
  title?: string
  /**
   * Whether each check raises it again as long as it fails. Then a dismissal lasts until a check recovers. Other kinds are
   * raised once for each occurrence, and a dismissal must not hide the next one.
   */
  isRechecked?: true
  /** What it shows of the data, for incidents; may depend on the details of an event. Defaults to `quality`. */
  symptom?: Symptom | ((details: Record<string, unknown>) => Symptom)
  /** Whether it comes with every run: only rules that name it match it, and trends do not count it. */
  isRoutine?: true
  /** The id of the rule, metric, check or schedule that raised an alert, which replies show; absent if none did. */
  ruleIdOf?(alert: { cause: string; details: Record<string, unknown> }): unknown
  /** The fields of the details of its events, for the description of the API. Webhooks carry them. */
  details?: Joi.ObjectSchema
  /** What a message states, in order, from the details of an event. A fact without a value is left out. */
  facts?(details: Record<string, unknown>, text: FactText): (readonly [name: string, value: unknown])[]
  /** Called in the transaction of a dismissal as expected, before the row of the alert is locked: features lock their rules before alerts. */
  learnExpected?: LearnExpected
}

/** Functions that put the details of an event into words. */
export interface FactText {
  /** A sentence, or null if one of its values is missing. */
  fill(words: TemplateStringsArray, ...values: unknown[]): string | null
  /** The parts that are there, or null if none is. @param separator defaults to `, ` */
  join(parts: readonly unknown[], separator?: string): string | null
  /** `8 to 12` of a band with `low` and `high`; null if one is missing. */
  range(band: unknown): string | null
}

/** An occurrence that people should be notified of. */
export interface AlertEvent {
  /** The name of its kind. */
  type: string
  /** What caused it, within its kind: a rule, a metric, a table. One open alert per cause; a repeat counts on it. */
  cause: string
  severity: Severity
  /** Null if it concerns no source. */
  sourceId: string | null
  asset: { id: string; qualifiedName: string; assetType: string; tags?: readonly string[] }
  /** The name of the rule, metric or schedule that raised it. */
  ruleName: string
  /** One sentence for people, in its parts; a text stands as it is. */
  title: AlertTitle | string
  /** The type of a schema change. */
  changeType?: string
  details: object
  /** Stored and shown with the alert, not sent. */
  contextData?: object
  /** Whether it needs no action: it is stored as resolved at once. */
  isNews?: true
}

export interface RaiseResult {
  alertId: string
  /** Whether an alert was opened; else the event counts on an ongoing one. */
  isNew: boolean
}

/** Alerts that no check will ever find recovered: of some causes, of a source, or of assets; `onlyRechecked` by kind. */
export type OrphanedAlerts =
  | { type: string; causes: readonly string[] }
  | { sourceId: string; onlyRechecked?: true }
  | { assetIds: readonly string[]; onlyRechecked?: true }

/**
 * Adds the values of an alert, which `actor` dismissed, to the expected ones.
 * @returns whether its check uses them from now on, so that a later failure is a new one
 */
export type LearnExpected = (
  trx: Transaction,
  alert: { id: string; cause: string; actor: string },
) => Promise<boolean>

/** What alerts ask of the features above them, which connect it when they register; each may be left out. */
export interface LookUps {
  assets: AssetLookup
  owners: OwnerLookup
  lineage: LineageLookup
  contracts: ContractLookup
  demoReceiver: DemoReceiver
  watch: WatchLookup
  reach: ReachLookup
}

/** Sources and tables, by the catalog. */
export interface AssetLookup {
  /** The ids that are assets of the transaction's company. */
  filterKnown(trx: Transaction, ids: readonly string[]): Promise<string[]>
  /** The UUID of an asset by its UUID or qualified name. @throws 404 `ASSET_NOT_FOUND` for an unknown name */
  resolveId(trx: Transaction, asset: string): Promise<string>
  /** The shortest names by which people know some tables, by id: one statement. */
  shortNames(trx: Transaction, tableIds: readonly string[]): Promise<Map<string, string>>
  /** A source, or a table with its source, by UUID or qualified name. @throws 404 `ASSET_NOT_FOUND` */
  findAsset(
    trx: Transaction,
    asset: string,
  ): Promise<{ source: { id: string; name: string }; table?: { id: string; qualifiedName: string } }>
  /** What is wrong with the data, by feature. @param since where the counts of what happened start */
  readHealth(
    trx: Transaction,
    since: Date,
  ): Promise<{ attention: AttentionItem[]; since?: Record<string, number> }[]>
}

/** Who owns assets, for rules, lists and mail. */
export interface OwnerLookup {
  /**
   * What rules store of owners that a caller names: ids of users and teams, and addresses.
   * @param owners ids, addresses and names of teams
   * @param field where they were given
   * @throws 400 for one that is not known
   */
  resolveOwners(trx: Transaction, owners: readonly string[], field: string): Promise<string[]>
  /** By asset, the ids and addresses of all who own it; members of an owning team own it too. */
  loadOwnerKeys(trx: Transaction, assetIds: readonly string[]): Promise<Map<string, ReadonlySet<string>>>
  /**
   * A SELECT of the `asset_id` of all assets that an owner owns, and perhaps more columns.
   * @throws 400 on `owner` for one that is not known
   */
  ownedAssetsQuery(trx: Transaction, owner: string): Promise<OwnedAssets>
  /** The owners in force of assets, by their ids; one without owners is missing. */
  ownersOf(trx: Transaction, assetIds: readonly string[]): Promise<Map<string, NamedOwner[]>>
  /** The addresses to which mail for the owners of an asset may go. */
  listAddresses(trx: Transaction, assetId: string): Promise<string[]>
}

/** What an alert is about. */
export interface AlertSubject {
  assetId: string | null
  sourceId: string | null
  title: string
  details: Record<string, unknown>
}

/** Counts of alerts and rules, and the alerts that need attention. */
export interface AlertHealth {
  /** `recent_alerts` were opened within the last 24 hours. */
  summary: {
    total_rules: number
    active_rules: number
    recent_alerts: number
    unresolved_alerts: number
    open_by_severity: Record<Severity, number>
    /** Triggered or acknowledged. */
    active_alerts: number
    /** Tables with such an alert. */
    affected_tables: number
    /** Destinations that are active. */
    active_destinations: number
  }
  /** Alerts that were opened, and resolved or dismissed, since the time that was given; routine kinds do not count. */
  since: { alerts_opened: number; alerts_ended: number }
  attention: AttentionItem[]
}

/** Something wrong with an asset. The worst severity is the health of the company. */
export interface AttentionItem {
  /** What kind of problem: `alert`, `freshness`, `schema_drift`, `checks`. */
  type: string
  severity: 'critical' | 'warning'
  /** One sentence. */
  title: string
  asset_id: string | null
  /** The qualified name. */
  asset_name: string | null
  /** Present for an alert. */
  alert_id?: string
}

/** What people may state about the end of an alert, by the names in the API. */
export const RESOLUTION_FIELDS = [
  'action_category',
  'action_detail',
  'root_cause_category',
  'root_cause_detail',
  'pr_url',
  'job_run_id',
  'external_link',
] as const
export type ResolutionField = (typeof RESOLUTION_FIELDS)[number]
export type AlertResolution = { [Field in ResolutionField]?: string }

/** Mail subscriptions of addresses, which belong to no company. */
export interface Subscriptions {
  /** The page that unsubscribes an address, or subscribes it again. */
  linkFor(email: string): string
  /** Whether a token belongs to an address: made with any of the present keys. */
  isToken(email: string, token: string): boolean
  isSubscribed(email: string): Promise<boolean>
  subscribe(email: string): Promise<void>
  unsubscribe(email: string): Promise<void>
  /** The unsubscribed ones among some addresses, in lower case. */
  unsubscribed(emails: readonly string[]): Promise<ReadonlySet<string>>
}

/** `server.plugins.alerts`, for other features. All functions act inside the caller's transaction. */
export interface AlertsApi {
  addKind(...kinds: AlertKind[]): void
  /**
   * Opens an alert, or counts on the open one of the same cause, or on the dismissed one if the cause has not recovered
   * since. One that got worse is opened anew. Deliveries and their jobs commit with it.
   */
  raise(trx: Transaction, event: AlertEvent): Promise<RaiseResult>
  /**
   * Raises many events; the number of statements grows by a few per thousand events.
   * @throws if two events have the same kind and cause
   * @returns the results in the order of the events
   */
  raiseAll(trx: Transaction, events: readonly AlertEvent[]): Promise<RaiseResult[]>
  /**
   * Resolves the open alert of a cause and notifies those who were notified of it. A dismissal ends too, so that the next
   * failure opens a new alert.
   * @returns whether one was open
   */
  resolve(trx: Transaction, type: string, cause: string): Promise<boolean>
  /**
   * Resolves the open alerts of many causes; the number of statements grows by a few per thousand causes.
   * @param reason one short sentence for the alert's history; defaults to "It recovered"
   * @returns how many were open
   */
  resolveAll(trx: Transaction, type: string, causes: readonly string[], reason?: string): Promise<number>
  /**
   * Resolves open alerts that no check will find recovered, and sends `alert.resolved` for each. Call it after the last
   * moment at which they can be raised.
   * @returns how many were open
   */
  resolveOrphaned(trx: Transaction, orphaned: OrphanedAlerts): Promise<number>
  /**
   * Takes removed assets out of the alert rules that name them, after their last alerts were resolved. A rule that names
   * no other asset is switched off: without the filter it would match everything.
   */
  forgetAssets(trx: Transaction, assetIds: readonly string[]): Promise<void>
  /**
   * Takes removed users and teams out of the alert rules that name them. A rule that names no other owner is switched off.
   * @param owners their ids, and addresses
   */
  forgetOwners(trx: Transaction, owners: readonly string[]): Promise<void>
  /**
   * The part of alerts in the health of the company; at most 20 alerts, the worst first.
   * @param since where the counts of opened and ended alerts start; without it they are 0
   */
  readHealth(trx: Transaction, since?: Date): Promise<AlertHealth>
  /** Counts of alerts by day and by source, the worst open incidents, and how long incidents took: in four statements. */
  readOverview(trx: Transaction, scope: OverviewScope): Promise<AlertOverview>
  /** What an alert is about. @throws 404 `ALERT_NOT_FOUND` */
  findSubject(trx: Transaction, alertId: string): Promise<AlertSubject>
  /** Makes the ongoing alerts of causes name these clauses of contracts, and no others. Call it before rows of clauses are locked. */
  renameContracts(trx: Transaction, clauses: ReadonlyMap<string, readonly BrokenClause[]>): Promise<void>
  /** Called by features that are above alerts, when they register. */
  connect(lookUps: Partial<LookUps>): void
  /** A SELECT of `company_id` and `asset_id` of triggered and acknowledged alerts, a part of statements which name the company. */
  openAlertsQuery: string
  filterKnownAssets: AssetLookup['filterKnown']
}

/** Does what is due of all companies. @param log gets what failed for a company @returns how many rows it changed */
export type SweepStep = (log: Pick<Logger, 'error'>) => Promise<number>

export type SweepStepName = 'woken' | 'postponed' | 'escalated' | 'resent' | 'ended' | 'disabled' | 'digested'

/** Alerts and a destination to look at, as `server.plugins.alerts.demo`. Nothing leaves the process. */
export interface DemoAlerts {
  /** Opens the demo alert, or returns the open one. */
  raise(
    trx: Transaction,
    event: DemoEvent,
  ): Promise<{ id: string; title: string; severity: Severity; isNew: boolean }>
  /** Deletes all demo alerts. @returns how many there were */
  remove(trx: Transaction): Promise<number>
  /** Creates the demo destination, whose deliveries are simulated, or returns the existing one. */
  createDestination(
    trx: Transaction,
    name: string,
  ): Promise<{ id: string; name: string; destinationType: string; isNew: boolean }>
  past: DemoPast
}

export type DemoEvent = Omit<AlertEvent, 'cause' | 'contextData' | 'isNews'>

declare module '@hapi/hapi' {
  interface PluginProperties {
    alerts: AlertsApi & {
      kinds: Registry<AlertKind>
      subscriptions: Subscriptions
      demo: DemoAlerts
      incidents: IncidentsApi
      sweep: Record<SweepStepName, SweepStep>
    }
  }
}
