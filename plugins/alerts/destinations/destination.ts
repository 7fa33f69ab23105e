import type Joi from 'joi'

export { describePayload, shorten, type PayloadDescription, type Fact } from './describe.ts'
export { httpsUrl } from './https-url.ts'

/** What a message says of its alert. */
export type MessageType = 'alert.triggered' | 'alert.resolved' | 'alert.test'

/** What is told of an alert: the JSON that a webhook gets, in the specification's payload shape. */
export interface Payload {
  event_type: MessageType
  alert: {
    id: string
    /** The name of the rule, metric or schedule that spoke. */
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
    /** Of one that is over because it got worse: the alert that tells of it from now on. */
    superseded_by?: string
    /** When `alert.triggered` was sent again, since a snooze had ended: ISO 8601. The id is the same as before. */
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

/** How an attempt ended. */
export interface DeliveryOutcome {
  /** The receiver took it: over HTTP, it answered with a 2xx status. */
  isDelivered: boolean
  statusCode: number | null
  /**
   * `egress_refused`, `dns`, `connect`, `tls`, `timeout`, `protocol`, `status`, `configuration` or `other`;
   * `interrupted` when the process that made the attempt was lost.
   */
  errorClass: string | null
  /** One sentence that a person can act on. */
  errorMessage: string | null
  /** The address that was dialled. */
  address: string | null
  tlsVersion: string | null
  /** Milliseconds to the status line, or to the failure. */
  latencyMs: number
  /** The first 16 KiB of the answer. */
  responseBody: string | null
  /** Who has got it by now, of several people; what a type says here, it finds in the next attempt's message. */
  served?: readonly string[]
}

/** What is to be delivered. The body never changes; the proofs are made anew for each attempt. */
export interface Message {
  /** The alert's id; of a test, an id of its own. */
  id: string
  deliveryId: string
  /** 1 for the first. */
  attempt: number
  /** One for each attempt, kept in its record. */
  requestId: string
  eventType: MessageType
  /** What `compose` made, else the payload as JSON. */
  body: string
  /** `X-Service-Signature` and the three headers of Standard Webhooks, over the body. */
  signatures: Record<string, string>
  /** Who got it at an earlier attempt. */
  served: readonly string[]
}

/** What a destination type gets to deliver with. */
export interface DeliveryContext<Config> {
  config: Config
  /** One POST over TLS, guarded: it dials only what the operator allows, ends within 30 seconds and never throws. */
  post(url: string, request: { headers: Record<string, string>; body: string }): Promise<DeliveryOutcome>
  /** Aborts when the process stops. */
  signal: AbortSignal
}

/** A kind of place that alerts can be sent to. */
export interface DestinationType<Config = never> {
  /** `destination_type` of the API. */
  name: string
  /** Its name for people. */
  label: string
  /** Secrets marked `.meta({ secret: true })`: sealed, shown as a placeholder. */
  config: Joi.ObjectSchema<Config>
  /** The field of the config that holds the address it will post to, so that a forbidden one is refused at once. */
  urlField?: string & keyof Config
  /** Why no destination of this type can be made here, as long as the operator has not set something up. */
  unavailable?(): string | null
  /**
   * The body for this kind of place. Made once, in the transaction that raises the alert, and stored: every attempt
   * sends the same bytes. So it is quick, and holds no secret.
   */
  compose?(payload: Payload): string
  /** One attempt. Never throws for what the receiver did: that is an outcome. */
  deliver(message: Message, context: DeliveryContext<Config>): Promise<DeliveryOutcome>
}

/** An attempt that came to nothing before anyone answered. */
export function failedOutcome(
  errorClass: string,
  errorMessage: string,
  more: Partial<DeliveryOutcome> = {},
): DeliveryOutcome {
  return {
    isDelivered: false,
    statusCode: null,
    errorClass,
    errorMessage,
    address: null,
    tlsVersion: null,
    latencyMs: 0,
    responseBody: null,
    ...more,
  }
}
