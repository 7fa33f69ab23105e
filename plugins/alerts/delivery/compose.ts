import type { Server } from '@hapi/hapi'
import { describePayload } from '../destinations/describe.ts'
import type { Payload } from '../destinations/destination.ts'
import { factsOf } from '../destinations/facts.ts'
import { kindOf } from '../lifecycle/kinds.ts'

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
