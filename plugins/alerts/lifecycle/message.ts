import type { EventType } from '../api.ts'
import type { MessageType, Payload } from '../destinations/destination.ts'
import type { Alert } from '../models.ts'

/** `alert.alert_type` of each type of event. */
export const ALERT_TYPES: Record<EventType, string> = {
  schema_change: 'schema',
  freshness_violation: 'freshness',
  discovery_complete: 'discovery',
  connection_failed: 'connection',
  validity_failure: 'validity',
  metric_anomaly: 'metric',
  referential_failure: 'referential',
  destination_disabled: 'destination',
}

/** Why an alert is over, or why it is sent again. */
export interface MessageReason {
  /** One short sentence. */
  reason?: string | null
  /** The alert that tells of it from now on, since it got worse. */
  supersededBy?: string
  /** When the alert is sent again, since its snooze is over. */
  remindedAt?: Date
}

/** The addresses of an alert and of what it is about. */
export function alertLinks(
  baseUrl: string,
  { id, event }: Pick<Alert, 'id' | 'event'>,
): { alert_url: string; asset_url: string } {
  const place = event.asset.asset_type === 'destination' ? 'sdk/alerts/destinations' : 'assets'
  return {
    alert_url: `${baseUrl}/api/v1/sdk/alerts/${id}`,
    asset_url: `${baseUrl}/api/v1/${place}/${event.asset.id}`,
  }
}

/** The payload of a message about an alert as it is now, and why it is over or sent again. */
export function alertPayload(
  alert: Alert,
  type: MessageType,
  baseUrl: string,
  { reason, supersededBy, remindedAt }: MessageReason = {},
): Payload {
  const { event } = alert
  return {
    event_type: type,
    alert: {
      id: alert.id,
      rule_name: alert.ruleName,
      alert_type: ALERT_TYPES[alert.kind],
      status: alert.status,
      severity: alert.severity,
      title: alert.title,
      created_at: alert.createdAt.toISOString(),
      ...(reason && { reason }),
      ...(supersededBy && { superseded_by: supersededBy }),
      ...(remindedAt && { reminded_at: remindedAt.toISOString() }),
    },
    event: {
      type: event.type,
      ...(event.change_type !== undefined && { change_type: event.change_type }),
      asset: { qualified_name: event.asset.qualified_name, asset_type: event.asset.asset_type },
      details: event.details,
    },
    links: alertLinks(baseUrl, alert),
  }
}

/** A test, of the same shape; no alert of this id exists. */
export function testPayload(id: string, destinationName: string, baseUrl: string): Payload {
  const title = `A test of the destination ${destinationName}: nothing is wrong`
  return {
    event_type: 'alert.test',
    alert: {
      id,
      rule_name: 'Test alert',
      alert_type: 'test',
      status: 'triggered',
      severity: 'info',
      title,
      created_at: new Date().toISOString(),
    },
    event: {
      type: 'test',
      asset: { qualified_name: 'test.test.test.test', asset_type: 'table' },
      details: { message: title },
    },
    links: { alert_url: `${baseUrl}/api/v1/sdk/alerts`, asset_url: `${baseUrl}/api/v1/assets` },
  }
}
