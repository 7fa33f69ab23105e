import type { Severity } from '../api.ts'
import type { IncidentPart, MessageType, Payload } from '../destinations/payload.ts'
import type { Alert, Destination } from '../models.ts'

/** An incident, as messages about it state it. */
export interface IncidentSummary {
  id: string
  status: 'open' | 'acknowledged' | 'snoozed' | 'resolved' | 'dismissed'
  severity: Severity
  /** One sentence that names the cause. */
  title: string
  /** What is named as the cause: a qualified name; null where several changes of one discovery have none. */
  causeAsset: string | null
  /** The alert of the cause; null if another finding is named. */
  causeAlertId: string | null
  alertCount: number
  createdAt: Date
}

/** What a message is about: an alert, or what happened to an incident, which is shown by one of its alerts. */
export type Subject =
  | { kind: 'alert'; id: string; alert: Alert }
  | {
      kind: 'incident'
      id: string
      alert: Alert
      incident: IncidentSummary
      event: IncidentPart['event']
    }

export function alertSubject(alert: Alert): Subject {
  return { kind: 'alert', id: alert.id, alert }
}

/** @param alert the alert that messages show */
export function incidentSubject(
  incident: IncidentSummary,
  event: IncidentPart['event'],
  alert: Alert,
): Subject {
  return { kind: 'incident', id: incident.id, alert, incident, event }
}

export interface MessageReason {
  /** One short sentence. */
  reason?: string | null
  /** The id of the alert that replaced it because it got worse. */
  supersededBy?: string
  /** When the subject was sent again, since its snooze had ended. */
  remindedAt?: Date
}

/** A message to one destination, before it is composed. */
export interface AddressedMessage {
  subject: Subject
  type: MessageType
  reason?: MessageReason
  destination: Destination
  ruleIds: string[]
  /** Whether an earlier message of the subject to the destination has to end first. */
  isWaiting?: boolean
  /** Until when a cooldown postpones it; absent or null if none does. */
  postponedUntil?: Date | null
}

/** The payload of a test message. @param id no alert has it */
export function testPayload(id: string, destinationName: string, baseUrl: string): Payload {
  const title = `Test of the destination ${destinationName}: nothing is wrong`
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
