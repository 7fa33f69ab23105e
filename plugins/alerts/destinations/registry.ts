import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { unknownName } from '../../../server/http/errors.ts'
import { Registry } from '../../../server/registry.ts'
import { kindOf } from '../lifecycle/kinds.ts'
import { describePayload } from './describe.ts'
import type { DestinationType, Payload } from './destination.ts'
import { factsOf } from './facts.ts'

declare module '@hapi/hapi' {
  interface Server {
    destinations: Registry<DestinationType>
  }
}

const shape = Joi.object({
  name: Joi.string()
    .pattern(/^[a-z][a-z0-9_]*$/)
    .required(),
  label: Joi.string().required(),
  config: Joi.object().schema().required(),
  urlField: Joi.string(),
  messages: Joi.valid('alerts', 'incidents'),
  unavailable: Joi.function(),
  compose: Joi.function(),
  deliver: Joi.function().required(),
})

export function createDestinationRegistry(): Registry<DestinationType> {
  return new Registry<DestinationType>('destination type', shape)
}

/** @throws 400 for a name that no type has */
export function getDestinationType(server: Server, name: string): DestinationType {
  if (server.destinations.has(name)) return server.destinations.get(name)
  throw unknownName('destination_type', name, server.destinations.names())
}

/** The body for a destination type. A type whose extension is no longer loaded gets the payload. */
export function composeBody(server: Server, typeName: string, payload: Payload): string {
  const type = server.destinations.has(typeName) ? server.destinations.get(typeName) : undefined
  if (!type?.compose) return JSON.stringify(nameIncident(payload))
  const { type: kind, details } = payload.event
  return type.compose(payload, describePayload(payload, factsOf(kindOf(server, kind), details)))
}

/** A program that takes incidents gets them under event types of their own: `incident.opened`. */
function nameIncident(payload: Payload): object {
  const { incident } = payload
  return incident ? { ...payload, event_type: `incident.${incident.event}` } : payload
}
