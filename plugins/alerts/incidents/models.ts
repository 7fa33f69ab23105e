import { CompanyRow } from '../../../server/database/database.ts'
import { newestFirst } from '../../../server/http/page.ts'
import type { Severity } from '../api.ts'
import type { NamedCause } from './grouping/cause.ts'
import type { Membership } from './grouping/membership.ts'

export const INCIDENT_STATUSES = ['open', 'acknowledged', 'snoozed', 'resolved', 'dismissed'] as const
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number]

/** A condition in SQL on incidents. */
export const IS_ACTIVE = `status in ('open', 'acknowledged', 'snoozed')`

/** The order of lists, with the id as tie-break. */
export const NEWEST_FIRST = newestFirst('createdAt', 'id')

/** Alerts that belong together. */
export class Incident extends CompanyRow {
  static override tableName = 'incidents'
  static override jsonAttributes = ['cause']

  declare id: string
  /** By which people call it; null of those that an older version opened. */
  declare number: number | null
  declare status: IncidentStatus
  declare severity: Severity
  declare title: string
  declare eventType: string
  declare cause: NamedCause
  declare alertCount: number
  /** When the problem began, where the evidence shows it. */
  declare startedAt: Date | null
  declare createdAt: Date
  declare lastAlertAt: Date
  declare acknowledgedAt: Date | null
  declare snoozedUntil: Date | null
  declare resolvedAt: Date | null
  declare assigneeId: string | null
  declare postMortem: string | null
  /** The incident that has its alerts, as it turned out to be a part of it. */
  declare mergedInto: string | null
  /** Who moved alerts into it or out of it, or merged it: grouping leaves it as it is. Null while no person did. */
  declare arrangedBy: string | null
  /** How often it was over and went on. */
  declare reopenedCount: number
  /** Until when the message about its end waits, as it may fail again; null if it does not wait. */
  declare endHeldUntil: Date | null
}

/** The part of each alert in an incident. */
export class IncidentAlert extends CompanyRow {
  static override tableName = 'incident_alerts'
  static override idColumn = 'alertId'
  static override jsonAttributes = ['reason']

  declare alertId: string
  declare incidentId: string
  declare joinedAt: Date
  /** Why it belongs there; null of alerts that older versions put there. */
  declare reason: Membership | null
  /** The person or key that put it there; null for the program. */
  declare placedBy: string | null
}

export const ACTIVITY_TYPES = [
  'opened',
  'alerts_joined',
  'cause_changed',
  'severity_raised',
  'merged',
  'split',
  'acknowledged',
  'snoozed',
  'reopened',
  'resolved',
  'dismissed',
  'comment',
  'assigned',
  'post_mortem_changed',
  'sent',
] as const
export type ActivityType = (typeof ACTIVITY_TYPES)[number]

/** An entry of the timeline of an incident. */
export class IncidentActivity extends CompanyRow {
  static override tableName = 'incident_activities'
  static override jsonAttributes = ['metadata']

  declare id: string
  declare incidentId: string
  declare activityType: ActivityType
  /** `system`, `user:<id>` or `key:<id>`. */
  declare actor: string
  declare metadata: Record<string, unknown>
  declare createdAt: Date
}
