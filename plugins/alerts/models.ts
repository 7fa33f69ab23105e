import { CompanyRow } from '../../server/database/database.ts'
import { newestFirst } from '../../server/http/page.ts'
import type { Severity } from './api.ts'
import type { MessageType } from './destinations/destination.ts'

export const ALERT_STATUSES = ['triggered', 'acknowledged', 'snoozed', 'resolved', 'dismissed'] as const
export type AlertStatus = (typeof ALERT_STATUSES)[number]

/** Whether an alert is open, a condition in SQL. */
export const IS_OPEN = `status in ('triggered', 'acknowledged', 'snoozed')`

/**
 * Whether a repeat counts on an alert instead of opening another: it is open, or its dismissal lasts. The condition
 * of the unique index `alerts_ongoing`, which allows a cause one such alert.
 */
export const IS_ONGOING = `(${IS_OPEN} or dismissal_lasts)`

/** The order of lists, with the id as tie-break. */
export const NEWEST_FIRST = newestFirst('createdAt', 'id')

/** What happened, as it is stored, matched against rules and sent. */
export interface StoredEvent {
  type: string
  change_type?: string
  asset: { id: string; qualified_name: string; asset_type: string; tags: string[] }
  details: object
}

/** A trouble, or a piece of news, that people should hear of. */
export class Alert extends CompanyRow {
  static override tableName = 'alerts'
  static override jsonAttributes = ['event', 'contextData']

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
}

/** One move of an alert from a status to another. */
export class AlertTransition extends CompanyRow {
  static override tableName = 'alert_history'

  declare id: string
  declare alertId: string
  declare fromStatus: AlertStatus | null
  declare toStatus: AlertStatus
  declare reason: string | null
  /** Of a snooze: when it ends. */
  declare snoozedUntil: Date | null
  /** `system`, `user:<id>` or `key:<id>`. */
  declare actor: string
  declare at: Date
}

/** Which events reach which destinations; null filters let everything through. */
export class AlertRule extends CompanyRow {
  static override tableName = 'alert_rules'

  declare id: string
  declare name: string
  declare description: string | null
  declare eventTypes: string[] | null
  declare severities: Severity[] | null
  declare assetIds: string[] | null
  declare tagFilterMode: 'any' | 'all' | null
  declare tagFilterTags: string[] | null
  declare destinationIds: string[]
  declare cooldownMinutes: number
  declare isActive: boolean
  declare createdAt: Date
  declare updatedAt: Date
}

/** Where alerts are sent. */
export class Destination extends CompanyRow {
  static override tableName = 'destinations'
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
  /** Whether it is there to be looked at only: nothing is sent to it, and the API does not list it. */
  declare isDemo: boolean
  declare disabledReason: string | null
  /** When the first of the attempts failed that have all failed since. */
  declare failingSince: Date | null
  /** When the first of the attempts timed out that have all got no answer since. */
  declare silentSince: Date | null
  declare createdAt: Date
  declare updatedAt: Date
  declare deletedAt: Date | null
}

export type DeliveryTrigger = 'automatic' | 'manual' | 'test'

/** One message on its way to one destination. */
export class Delivery extends CompanyRow {
  static override tableName = 'deliveries'

  declare id: string
  declare alertId: string | null
  declare messageId: string
  declare destinationId: string
  declare ruleIds: string[]
  declare eventType: MessageType
  /** As the destination's type composed it. */
  declare body: string
  /** Who got it, of a destination of several people. */
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

/** One try to deliver. */
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
