import Joi from 'joi'
import { Registry } from '../../server/registry.ts'
import type { MessageType } from './models.ts'

/** How an attempt ended. */
export interface Outcome {
  /** The receiver answered with a 2xx status. */
  isDelivered: boolean
  statusCode: number | null
  /** `egress_refused`, `dns`, `connect`, `tls`, `timeout`, `protocol`, `status`, `configuration` or `other`. */
  errorClass: string | null
  errorMessage: string | null
  /** The address that was dialled. */
  address: string | null
  tlsVersion: string | null
  /** Milliseconds to the status line, or to the failure. */
  latencyMs: number
  /** The first 16 KiB of the answer. */
  responseBody: string | null
}

/** What is to be delivered: a body that never changes, and headers that are signed anew for each attempt. */
export interface Message {
  id: string
  eventType: MessageType
  /** JSON in the specification's payload shape. */
  body: string
  /** `X-Service-Signature` and the three of Standard Webhooks. */
  signatures: Record<string, string>
}

/** What a destination type gets to deliver with. */
export interface DeliverContext<Config> {
  config: Config
  /** One POST over TLS, guarded: it dials only what the operator allows and never throws. */
  post(url: string, request: { headers: Record<string, string>; body: string }): Promise<Outcome>
}

/** A kind of place that alerts can be sent to. */
export interface DestinationType<Config = never> {
  /** `destination_type` of the API. */
  name: string
  /** Secrets marked `.meta({ secret: true })`: sealed, shown as a placeholder. */
  config: Joi.ObjectSchema<Config>
  /** The field of the config that holds the address it will post to, so that a forbidden one is refused at once. */
  urlField?: string & keyof Config
  /** Never throws for what the receiver did: that is an outcome. */
  deliver(message: Message, context: DeliverContext<Config>): Promise<Outcome>
}

declare module '@hapi/hapi' {
  interface Server {
    destinations: Registry<DestinationType>
  }
}

const shape = Joi.object({
  name: Joi.string()
    .pattern(/^[a-z][a-z0-9_]*$/)
    .required(),
  config: Joi.object().schema().required(),
  urlField: Joi.string(),
  deliver: Joi.function().required(),
})

/** An empty registry of destination types. */
export function destinationTypes(): Registry<DestinationType> {
  return new Registry<DestinationType>('destination type', shape)
}

/** An attempt that came to nothing before anyone answered. */
export function failure(errorClass: string, errorMessage: string, more: Partial<Outcome> = {}): Outcome {
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
