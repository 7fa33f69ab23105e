export type MessageType = 'alert.triggered' | 'alert.resolved' | 'alert.test'

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
  }
  event: {
    /** `schema_change`, `freshness_violation` … */
    type: string
    change_type?: string
    asset: { qualified_name: string; asset_type: string }
    details: object
  }
  links: { alert_url: string; asset_url: string }
}
