import type { Server } from '@hapi/hapi'
import { ignoreRejection } from '../../../connectors/foreign-code.ts'
import { reportThrown } from '../../../server/extension-errors.ts'
import { describePayload, type Fact } from '../destinations/describe.ts'
import type { DestinationType, Payload } from '../destinations/destination.ts'
import { factsOf } from '../destinations/facts.ts'
import { kindOf } from '../kinds.ts'

/**
 * The body of a message that its type could not compose: each attempt to send it fails. Composing throws nothing, since it
 * is done in the transaction that stores what was found, for all destinations.
 */
export const UNCOMPOSED = ''

/** Receivers take less. */
const MAX_BODY_LENGTH = 1_048_576

/** The body for a destination type, or `UNCOMPOSED`. A type whose extension is no longer loaded gets the payload. */
export function composeBody(server: Server, typeName: string, payload: Payload): string {
  const type = server.destinations.has(typeName) ? server.destinations.get(typeName) : undefined
  if (!type?.compose) return JSON.stringify(nameIncident(payload))
  const description = describePayload(payload, readFacts(server, payload))
  try {
    return validBody(type, type.compose(payload, description))
  } catch (thrown) {
    reportThrown(server.pino, `destination type ${typeName}`, thrown, { fields: { call: 'compose' } })
    return UNCOMPOSED
  }
}

function validBody({ name }: DestinationType, body: unknown): string {
  if (typeof body === 'string' && body !== '' && body.length <= MAX_BODY_LENGTH) return body
  ignoreRejection(body)
  throw new TypeError(`compose of ${name} must return a string of 1 to ${MAX_BODY_LENGTH} characters`)
}

/** What the kind of an alert says of it. A kind of an extension that throws says nothing. */
function readFacts(server: Server, { event: { type: kindName, details } }: Payload): Fact[] {
  try {
    return factsOf(kindOf(server, kindName), details)
  } catch (thrown) {
    reportThrown(server.pino, `alert kind ${kindName}`, thrown, { fields: { call: 'facts' } })
    return []
  }
}

/** A program that takes incidents gets them under event types of their own: `incident.opened`. */
function nameIncident(payload: Payload): object {
  const { incident } = payload
  return incident ? { ...payload, event_type: `incident.${incident.event}` } : payload
}
