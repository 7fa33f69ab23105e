import type { Duplex } from 'node:stream'
import Joi from 'joi'
import type { PayloadDescription } from './describe.ts'
import type { DigestContent } from './digest.ts'
import type { EventType, Payload } from './payload.ts'

export { shorten } from '../../../server/one-line.ts'
export type { PayloadDescription, Fact } from './describe.ts'
export type { DigestContent, DigestLine, DigestSection } from './digest.ts'
export type { EventType, MessageType, Payload } from './payload.ts'

export interface DeliveryOutcome {
  /** Whether the receiver accepted the message: over HTTP, a 2xx status. */
  isDelivered: boolean
  statusCode: number | null
  /**
   * `egress_refused`, `dns`, `connect`, `tls`, `timeout`, `protocol`, `status`, `configuration` or `other`;
   * `interrupted` if the process that made the attempt was lost.
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
  /** The recipients served so far, of several; the next attempt gets them in its message. */
  served?: readonly string[]
}

/** What is to be delivered. The body never changes; the signatures are made anew for each attempt. */
export interface Message {
  /** The alert's id; a test and a digest have ids of their own. */
  id: string
  deliveryId: string
  /** 1 for the first. */
  attempt: number
  /** One for each attempt, kept in its record. */
  requestId: string
  eventType: EventType
  /** The result of `compose`, else the payload as JSON. */
  body: string
  /** How bad the alert is now; null of a digest. */
  severity: Payload['alert']['severity'] | null
  /** What the alert is about; null of a digest. */
  event: Omit<Payload['event'], 'details'> | null
  /** `X-Service-Signature` and the three headers of Standard Webhooks, over the body. Empty unless the type `signs`. */
  signatures: Record<string, string>
  /** The recipients that earlier attempts served. */
  served: readonly string[]
}

export interface EgressRequest {
  /** Defaults to GET. */
  method?: string
  headers?: Record<string, string>
  /** GET and HEAD have none. */
  body?: string
}

export interface EgressPlace {
  host: string
  port: number
  /** Whether the connection speaks TLS from its first byte, with the certificate verified; defaults to true. */
  tls?: boolean
}

/** The way out of an attempt: it leads only where the operator allows. */
export interface DeliveryEgress {
  /** One request over TLS, without redirects. It ends within 30 seconds and never throws. */
  request(url: string, request?: EgressRequest): Promise<DeliveryOutcome>
  /**
   * A connection for a protocol other than HTTP, such as SMTP, AMQP or NATS, ready to be written to. It is closed when
   * the attempt ends. A public address needs its port in WEBHOOK_PORTS.
   * @throws EgressFailure, which `deliver` may let through: it becomes the outcome
   */
  connect(place: EgressPlace): Promise<Duplex>
}

/** No connection could be made, or it broke. As an outcome it says why, in a sentence for people. */
export class EgressFailure extends Error {
  override readonly name = 'EgressFailure'
  /** As in `DeliveryOutcome`. */
  readonly errorClass: string

  constructor(errorClass: string, message: string) {
    super(message)
    this.errorClass = errorClass
  }
}

/** What `deliver` gets beside the message. */
export interface DeliveryContext<Config> {
  config: Config
  /** `egress.request` with the method POST, which most receivers take. */
  post(url: string, request: { headers: Record<string, string>; body: string }): Promise<DeliveryOutcome>
  egress: DeliveryEgress
  /** Aborts when the process stops. */
  signal: AbortSignal
}

/** A kind of receiver that alerts can be sent to. */
export interface DestinationType<Config = never> {
  /** `destination_type` of the API. */
  name: string
  /** Its name for people. */
  label: string
  /** Secrets marked `.meta({ secret: true })`: sealed, shown as a placeholder. */
  config: Joi.ObjectSchema<Config>
  /** The field of the config with the address that it posts to, so that a forbidden one is refused at once. */
  urlField?: string & keyof Config
  /** Its messages carry `signatures`: each destination then has a signing secret, which its creation returns. */
  signs?: true
  /** What new destinations get unless their `messages` says otherwise; defaults to a message about each alert. */
  messages?: 'alerts' | 'incidents'
  /** Why no destination of this type can be created until the operator has configured something; null if one can. */
  unavailable?(): string | null
  /**
   * The body of a message; defaults to the payload as JSON. Called once, in the transaction that raises the alert, and
   * stored: every attempt sends the same bytes. So it must be quick and contain no secret.
   * @param config with `********` in place of its secrets
   */
  compose?(payload: Payload, description: PayloadDescription, config: Config): string
  /** The body of a digest; without it, the type takes none. As `compose`, it must be quick and contain no secret. */
  composeDigest?(content: DigestContent, config: Config): string
  /** One attempt. Never throws for what the receiver did: that is an outcome. */
  deliver(message: Message, context: DeliveryContext<Config>): Promise<DeliveryOutcome>
}

/** The part of the server that an extension adds destination types to: `register(server: ExtensibleDestinationType)`. */
export interface ExtensibleDestinationType {
  destinations: { add<Config>(type: DestinationType<Config>): void }
}

/** The outcome of an attempt that the receiver answered: delivered with a 2xx status. */
export function answeredOutcome(statusCode: number, more: Partial<DeliveryOutcome> = {}): DeliveryOutcome {
  const message = `The receiver answered ${statusCode}; only 2xx counts as delivered`
  const failed = failedOutcome('status', message, { statusCode, ...more })
  const isDelivered = statusCode >= 200 && statusCode < 300
  return isDelivered ? { ...failed, isDelivered, errorClass: null, errorMessage: null } : failed
}

/** The outcome of an attempt that failed before the receiver answered. */
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

/** An `https://` address in a config, without user and password. */
export const httpsUrl = Joi.string()
  .max(2048)
  .meta({ openapi: { format: 'uri' } })
  .custom((value: string, helpers) => {
    const url = URL.canParse(value) ? new URL(value) : null
    const refuse = (problem: string) => helpers.message({ custom: `{{#label}} ${problem}` })
    if (!url) return refuse('must be a URL such as https://example.com/hooks/tidemark')
    if (url.protocol !== 'https:')
      return refuse('must start with https://: alerts are sent over verified TLS only')
    if (url.username || url.password)
      return refuse('must not contain a user or password: a credential has a field of its own')
    return value
  })
