import type { Server } from '@hapi/hapi'
import type { MessageType, Payload } from '../destinations/destination.ts'
import type { IncidentPart } from '../destinations/payload.ts'
import type { Alert } from '../models.ts'
import { kindOf } from '../kinds.ts'

export interface MessageReason {
  /** One short sentence. */
  reason?: string | null
  /** The id of the alert that replaced it because it got worse. */
  supersededBy?: string
  /** When the alert was sent again, since its snooze had ended. */
  remindedAt?: Date
  /** What a message about an incident says of it. */
  incident?: IncidentPart | undefined
}

const ASSET_PAGES: Record<string, string> = { destination: 'routing', source: 'sources' }

/** The pages of an alert and of its asset, by id; a client that takes no HTML is redirected from there to the API. */
export function alertLinks(baseUrl: string, { id, event: { asset } }: Pick<Alert, 'id' | 'event'>) {
  return {
    alert_url: `${baseUrl}/alerts/${id}`,
    asset_url: `${baseUrl}/${ASSET_PAGES[asset.asset_type] ?? 'tables'}/${asset.id}`,
  }
}

/** The payload of a message about an alert as it is now. */
export function alertPayload(
  server: Server,
  alert: Alert,
  type: MessageType,
  { reason, supersededBy, remindedAt, incident }: MessageReason = {},
): Payload {
  const { event } = alert
  return {
    event_type: type,
    alert: {
      id: alert.id,
      rule_name: alert.ruleName,
      alert_type: kindOf(server, alert.kind).label,
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
    links: alertLinks(server.config.baseUrl, alert),
    ...(incident && { incident }),
  }
}

/** The payload of a test message. @param id no alert has it */
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
    links: { alert_url: `${baseUrl}/alerts`, asset_url: `${baseUrl}/tables` },
  }
}
