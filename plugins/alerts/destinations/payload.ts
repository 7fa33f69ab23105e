const MESSAGE_TYPES = ['alert.triggered', 'alert.resolved', 'alert.test'] as const
/** What a message about an alert says of it. */
export type MessageType = (typeof MESSAGE_TYPES)[number]

/** What deliveries are about: alerts, and digests of what happened. */
export const EVENT_TYPES = [...MESSAGE_TYPES, 'digest'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** What a message about an incident says of it, beside the alert that it shows. */
export interface IncidentPart {
  id: string
  /** What happened: it was opened, it got worse or its snooze ended, or it is over. */
  event: 'opened' | 'updated' | 'resolved'
  status: string
  severity: 'info' | 'warning' | 'critical'
  /** One sentence that names the cause. */
  title: string
  /** The qualified name of what is named as the cause; null where several changes of one discovery have none. */
  cause: string | null
  /** How many alerts it has. */
  alert_count: number
  /** ISO 8601, UTC. */
  created_at: string
  /** When this was composed, so that no two messages of an incident are the same: ISO 8601. */
  updated_at: string
  url: string
}

/** The JSON that a webhook gets about an alert, in the specification's payload shape. */
export interface Payload {
  event_type: MessageType
  alert: {
    id: string
    /** The name of the rule, metric or schedule that raised it. */
    rule_name: string
    /** `schema`, `freshness`, `validity` … */
    alert_type: string
    status: string
    severity: 'info' | 'warning' | 'critical'
    /** One sentence for people. */
    title: string
    /** ISO 8601, UTC. */
    created_at: string
    /** One short sentence: why it is over, or why `alert.triggered` is sent again. */
    reason?: string
    /** The id of the alert that replaced this one because it got worse. */
    superseded_by?: string
    /** When `alert.triggered` was sent again, with the same id, since a snooze had ended: ISO 8601. */
    reminded_at?: string
    /** The user who takes care of it, if it is assigned. */
    assignee?: { id: string; email: string; full_name: string | null }
  }
  event: {
    /** `schema_change`, `freshness_violation` … */
    type: string
    change_type?: string
    asset: { qualified_name: string; asset_type: string }
    details: object
  }
  links: { alert_url: string; asset_url: string }
  /** Present in a message about an incident: receivers know it by this id, not by the one of the alert. */
  incident?: IncidentPart
}
