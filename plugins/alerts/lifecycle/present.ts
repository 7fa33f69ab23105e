import type { Server } from '@hapi/hapi'
import { kindOf } from './kinds.ts'
import { alertLinks } from './message.ts'
import type { Alert, AlertTransition } from '../models.ts'

/** An alert as the API shows it. */
export function presentAlert(server: Server, alert: Alert): object {
  const { event } = alert
  return {
    id: alert.id,
    rule_name: alert.ruleName,
    alert_type: kindOf(server, alert.kind).label,
    event_type: alert.kind,
    severity: alert.severity,
    status: alert.status,
    title: alert.title,
    delivery_failed: alert.deliveryFailed,
    occurrences: alert.occurrences,
    asset: {
      id: event.asset.id,
      qualified_name: event.asset.qualified_name,
      asset_type: event.asset.asset_type,
    },
    event: { type: event.type, change_type: event.change_type ?? null, details: event.details },
    context_data: alert.contextData,
    created_at: alert.createdAt,
    last_seen_at: alert.lastSeenAt,
    snoozed_until: alert.snoozedUntil,
    resolved_at: alert.resolvedAt,
    links: alertLinks(server.config.baseUrl, alert),
  }
}

/** A transition of an alert as the API shows it. */
export function presentTransition(transition: AlertTransition): object {
  return {
    from_status: transition.fromStatus,
    to_status: transition.toStatus,
    reason: transition.reason,
    snoozed_until: transition.snoozedUntil,
    actor: transition.actor,
    at: transition.at,
  }
}
