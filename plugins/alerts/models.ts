import type { Finding } from '../../checks/explanation.ts'
import { CompanyRow } from '../../server/database/database.ts'
import { defineCap } from '../../server/database/company-caps.ts'
import { newestFirst } from '../../server/http/page.ts'
import type { AlertResolution, Severity } from './api.ts'
import type { EventType } from './destinations/destination.ts'

export const ALERT_STATUSES = ['triggered', 'acknowledged', 'snoozed', 'resolved', 'dismissed'] as const
export type AlertStatus = (typeof ALERT_STATUSES)[number]

/** A condition in SQL on alerts. */
export const IS_OPEN = `status in ('triggered', 'acknowledged', 'snoozed')`

/** The same of a loaded one. */
export function isOpen({ status }: Pick<Alert, 'status'>): boolean {
  return status !== 'dismissed' && status !== 'resolved'
}

/**
 * A condition in SQL on alerts: a repeat counts on an ongoing alert instead of opening another. The condition of the unique
 * index `alerts_ongoing`, which allows a cause one such alert.
 */
export const IS_ONGOING = `(${IS_OPEN} or dismissal_lasts)`

/** The order of lists, with the id as tie-break. */
export const NEWEST_FIRST = newestFirst('createdAt', 'id')

/** The stored part of an event that rules match and messages contain. */
export interface StoredEvent {
  type: string
  change_type?: string
  asset: { id: string; qualified_name: string; asset_type: string; tags: string[] }
  details: object
  /** What was found and expected, in words; absent where its sentence has no such parts. */
  finding?: Finding
}

export class Alert extends CompanyRow {
  static override tableName = 'alerts'
  static override jsonAttributes = ['event', 'contextData', 'resolution']

  declare id: string
  declare sourceId: string | null
  declare assetId: string | null
  declare kind: string
  declare cause: string
  declare severity: Severity
  declare status: AlertStatus
  declare deliveryFailed: boolean
  declare ruleName: string
  declare title: string
  declare event: StoredEvent
  declare contextData: object
  declare occurrences: number
  declare createdAt: Date
  declare lastSeenAt: Date
  declare snoozedUntil: Date | null
  declare resolvedAt: Date | null
  /** The alert of the same cause that this one replaced because it got worse. */
  declare supersedes: string | null
  /** It was dismissed, and its check has not recovered since. */
  declare dismissalLasts: boolean
  /** The newest reason that a person gave. */
  declare notes: string | null
  declare resolution: AlertResolution | null
  /** The user who takes care of it. */
  declare assigneeId: string | null
}

/** Whether an alert is never sent, counted or previewed. */
export function isDemo({ contextData }: Pick<Alert, 'contextData'>): boolean {
  return (contextData as { is_demo?: true }).is_demo === true
}

/** The opposite of `isDemo`, a condition in SQL on alerts. */
export const NOT_DEMO = `context_data ->> 'is_demo' is distinct from 'true'`

export class AlertTransition extends CompanyRow {
  static override tableName = 'alert_history'
  static override jsonAttributes = ['resolution']

  declare id: string
  declare alertId: string
  declare fromStatus: AlertStatus | null
  declare toStatus: AlertStatus
  declare reason: string | null
  /** The end of a snooze. */
  declare snoozedUntil: Date | null
  /** `system`, `user:<id>` or `key:<id>`. */
  declare actor: string
  declare resolution: AlertResolution | null
  declare at: Date
}

/** What people did with an alert beside changing its status. */
export class AlertActivity extends CompanyRow {
  static override tableName = 'alert_activities'
  static override jsonAttributes = ['metadata']

  declare id: string
  declare alertId: string
  declare activityType: 'comment' | 'assigned'
  /** `user:<id>` or `key:<id>`. */
  declare actor: string
  declare metadata: Record<string, unknown>
  declare createdAt: Date
}

/** Who is notified next of an alert that no person has taken within a time. */
export interface EscalationStep {
  /** Since the rule sent the alert. */
  after_minutes: number
  destination_ids: string[]
}

/** Selects the destinations of alerts. A null filter matches everything. */
export class AlertRule extends CompanyRow {
  static override tableName = 'alert_rules'
  static override jsonAttributes = ['escalation']
  static override cap = defineCap({
    name: 'alert_rules',
    most: 1_000,
    what: 'alert rules',
    advice: 'delete one first',
  })

  declare id: string
  declare name: string
  declare description: string | null
  declare eventTypes: string[] | null
  declare severities: Severity[] | null
  declare assetIds: string[] | null
  declare tagFilterMode: 'any' | 'all' | null
  declare tagFilterTags: string[] | null
  /** Ids of users and teams, and addresses. */
  declare owners: string[] | null
  declare destinationIds: string[]
  declare cooldownMinutes: number
  /** In the order of their times; null for none. */
  declare escalation: EscalationStep[] | null
  declare isActive: boolean
  /** From 0 to 1. Without effect while the authors of code are not notified. */
  declare codeAuthorMinConfidence: number | null
  declare createdAt: Date
  declare updatedAt: Date
}

export class Destination extends CompanyRow {
  static override tableName = 'destinations'
  static override cap = defineCap({
    name: 'destinations',
    most: 1_000,
    what: 'destinations',
    advice: 'delete one first',
    condition: 'deleted_at is null',
  })
  static override jsonAttributes = ['config']

  declare id: string
  declare name: string
  declare destinationType: string
  /** With a placeholder for each secret. */
  declare config: Record<string, unknown>
  /** The secrets of the config, sealed JSON. */
  declare secrets: string | null
  /** Sealed JSON, newest first. */
  declare signingSecrets: string
  declare isActive: boolean
  declare isVerified: boolean
  /** Whether it gets a message about each alert, or about incidents. */
  declare messages: MessageChoice
  /** Whether its deliveries are only simulated. */
  declare isDemo: boolean
  declare disabledReason: string | null
  /** Since when all attempts have failed. */
  declare failingSince: Date | null
  /** Since when no attempt has got an answer; set by a timeout. */
  declare silentSince: Date | null
  declare createdAt: Date
  declare updatedAt: Date
  declare deletedAt: Date | null
}

export const MESSAGE_CHOICES = ['alerts', 'incidents'] as const
export type MessageChoice = (typeof MESSAGE_CHOICES)[number]

export type DeliveryTrigger = 'automatic' | 'manual' | 'test'

/** One message to one destination. */
export class Delivery extends CompanyRow {
  static override tableName = 'deliveries'

  declare id: string
  declare alertId: string | null
  declare messageId: string
  /** The incident that it is about; null of a message about its alert alone. */
  declare incidentId: string | null
  declare destinationId: string
  declare ruleIds: string[]
  declare eventType: EventType
  /** As composed by the destination's type. */
  declare body: string
  /** The recipients served so far, of a destination with several. */
  declare served: string[]
  declare trigger: DeliveryTrigger
  declare status: 'pending' | 'delivered' | 'failed' | 'stopped'
  declare attempt: number
  declare fence: number
  declare claimedBy: string | null
  declare claimedAt: Date | null
  declare jobId: string | null
  declare nextAttemptAt: Date | null
  declare createdAt: Date
  declare completedAt: Date | null
  declare stoppedReason: string | null
}

export class DeliveryAttempt extends CompanyRow {
  static override tableName = 'delivery_attempts'
  static override idColumn = ['deliveryId', 'n']

  declare deliveryId: string
  declare n: number
  declare requestId: string | null
  declare trigger: DeliveryTrigger
  declare startedAt: Date
  declare endedAt: Date
  declare statusCode: number | null
  declare errorClass: string | null
  declare errorMessage: string | null
  declare address: string | null
  declare tlsVersion: string | null
  declare latencyMs: number
  declare isSlow: boolean
  declare responseBody: string | null
}

/** A field of what is named as the cause of incidents `i`, in SQL; null where none is. */
export const namedCause = (field: 'asset_id' | 'qualified_name') =>
  `case when i.cause ->> 'is_named' = 'false' then null else i.cause ->> '${field}' end`
