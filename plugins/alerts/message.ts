import type { EventType } from './api.ts'
import type { Alert, MessageType } from './models.ts'

/** `alert.alert_type` of each type of event. */
export const ALERT_TYPES: Record<EventType, string> = {
  schema_change: 'schema',
  freshness_violation: 'freshness',
  discovery_complete: 'discovery',
  connection_failed: 'connection',
  validity_failure: 'validity',
  metric_anomaly: 'metric',
  referential_failure: 'referential',
}

/** The addresses of an alert and its asset. */
export function links(
  baseUrl: string,
  alert: Pick<Alert, 'id' | 'assetId'>,
): { alert_url: string; asset_url: string } {
  return {
    alert_url: `${baseUrl}/api/v1/sdk/alerts/${alert.id}`,
    asset_url: `${baseUrl}/api/v1/assets/${alert.assetId}`,
  }
}

/** The body of a message about an alert, in the specification's payload shape. It is stored and never made again. */
export function messageBody(alert: Alert, type: MessageType, baseUrl: string): string {
  const { event } = alert
  return JSON.stringify({
    event_type: type,
    alert: {
      id: alert.id,
      rule_name: alert.ruleName,
      alert_type: ALERT_TYPES[alert.kind],
      status: alert.status,
      created_at: alert.createdAt.toISOString(),
    },
    event: {
      type: event.type,
      change_type: event.change_type,
      asset: { qualified_name: event.asset.qualified_name, asset_type: event.asset.asset_type },
      details: event.details,
    },
    links: links(baseUrl, alert),
  })
}

/** The body of a test, of the same shape; no alert of this id exists. */
export function testBody(id: string, destinationName: string, baseUrl: string): string {
  return JSON.stringify({
    event_type: 'alert.test',
    alert: {
      id,
      rule_name: 'Test alert',
      alert_type: 'test',
      status: 'triggered',
      created_at: new Date().toISOString(),
    },
    event: {
      type: 'test',
      asset: { qualified_name: 'test.test.test.test', asset_type: 'table' },
      details: { message: `A test of the destination ${destinationName}: nothing is wrong` },
    },
    links: { alert_url: `${baseUrl}/api/v1/sdk/alerts`, asset_url: `${baseUrl}/api/v1/assets` },
  })
}
