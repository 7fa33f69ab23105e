import { toApiNames } from '../../../../server/http/fields.ts'
import type { Membership, MembershipReason } from '../grouping/membership.ts'
import type { Around } from './around.ts'
import { namedAsset } from '../grouping/store.ts'
import { Incident } from '../models.ts'
import { shortName } from '../short-name.ts'

/** An incident with what lists read beside it. */
export class ListedIncident extends Incident {
  declare openAlertCount: number
  /** Tables and sources with an alert. */
  declare assetIds: string[]
  declare triggerCount: number
  declare lastTriggeredAt: Date | null
  declare assigneeEmail: string | null
  declare assigneeName: string | null
}

const MINUTE_MS = 60_000

export function presentIncident(baseUrl: string, incident: ListedIncident, around: Around) {
  const { cause, createdAt, acknowledgedAt, resolvedAt, startedAt } = incident
  return {
    id: incident.id,
    number: incident.number,
    status: incident.status,
    severity: incident.severity,
    event_type: incident.eventType,
    title: incident.title,
    description: describeIncident(incident),
    root_cause: { is_named: true, ...cause, explanation: cause.explanation ?? null },
    alert_count: incident.alertCount,
    open_alert_count: incident.openAlertCount,
    asset_count: incident.assetIds.length,
    ...around,
    trigger_count: incident.triggerCount,
    reopened_count: incident.reopenedCount,
    assignee:
      incident.assigneeId === null
        ? null
        : { id: incident.assigneeId, email: incident.assigneeEmail, full_name: incident.assigneeName },
    post_mortem: incident.postMortem,
    merged_into: incident.mergedInto,
    started_at: startedAt,
    first_detected_at: createdAt,
    created_at: createdAt,
    last_triggered_at: incident.lastTriggeredAt ?? incident.lastAlertAt,
    acknowledged_at: acknowledgedAt,
    snoozed_until: incident.snoozedUntil,
    resolved_at: resolvedAt,
    minutes_to_detect: startedAt && minutesBetween(startedAt, createdAt),
    minutes_to_acknowledge: acknowledgedAt && minutesBetween(createdAt, acknowledgedAt),
    minutes_to_resolve: resolvedAt && minutesBetween(createdAt, resolvedAt),
    context_data: {
      cause_asset_id: cause.is_named === false ? null : cause.asset_id,
      cause_qualified_name: namedAsset(incident),
      cause_alert_id: cause.alert_id,
      confidence: cause.confidence,
    },
    url: `${baseUrl}/incidents/${incident.id}`,
  }
}

function minutesBetween(from: Date, to: Date): number {
  return Math.max(0, Math.round((to.getTime() - from.getTime()) / (MINUTE_MS / 10)) / 10)
}

function describeIncident(incident: ListedIncident): string {
  const { alertCount, assetIds, mergedInto } = incident
  if (mergedInto !== null) return 'It belongs to another incident, which has its alerts'
  const alerts = alertCount === 1 ? '1 alert' : `${alertCount} alerts`
  const assets = assetIds.length === 1 ? '' : ` on ${assetIds.length} tables`
  const cause = namedAsset(incident)
  return `${alerts}${assets}; ${cause === null ? 'one discovery found them, and none causes the others' : `the cause is ${cause}`}`
}

/** An alert as its incident shows it. */
export interface ShownAlert {
  id: string
  title: string
  kind: string
  severity: string
  status: string
  assetId: string
  qualifiedName: string
  createdAt: Date
  lastSeenAt: Date
  resolvedAt: Date | null
  membership: Membership | null
  placedBy: string | null
}

/** @param names of actors, by how histories name them */
export function presentMember(
  { kind, membership, placedBy, ...alert }: ShownAlert,
  { cause }: Incident,
  names: ReadonlyMap<string, string>,
  downstreamCount: number,
) {
  const isCause = alert.id === cause.alert_id
  const isPlaced = placedBy !== null && !isCause
  const reason: MembershipReason | null = isPlaced ? 'person' : (membership?.reason ?? null)
  return {
    ...toApiNames(alert),
    event_type: kind,
    downstream_count: downstreamCount,
    is_cause: isCause,
    reason,
    steps: isPlaced ? null : (membership?.steps ?? null),
    relative_to: isPlaced ? null : (membership?.relative_to ?? null),
    why: isPlaced
      ? `put here by ${names.get(placedBy) ?? 'a person'}`
      : membership && describeMembership(membership),
  }
}

function describeMembership({ reason, steps, relative_to: name }: Membership): string {
  const table = shortName(name ?? '')
  const count = steps === 1 ? '1 step' : `${steps} steps`
  switch (reason) {
    case 'cause':
      return 'the cause'
    case 'same_table':
      return 'the same table'
    case 'downstream':
      return `${count} downstream of ${table}`
    case 'upstream':
      return `${count} upstream of ${table}`
    case 'same_discovery':
      return 'found by the same discovery'
    case 'former_lineage':
      return 'joined by lineage that is no longer known'
  }
}
