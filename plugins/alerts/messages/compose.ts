import { ignoreRejection } from '../../../connectors/foreign-code.ts'
import { reportThrown } from '../../../server/extension-errors.ts'
import { UNCOMPOSED } from '../delivery/send.ts'
import type { Deps } from '../deps.ts'
import { describePayload, type Fact } from '../destinations/describe.ts'
import type { DestinationType, Payload } from '../destinations/destination.ts'
import { factsOf } from '../destinations/facts.ts'
import { kindOf } from '../kinds.ts'

type ComposeDeps = Pick<Deps, 'kinds' | 'types' | 'log'>

/** Receivers take less. */
const MAX_BODY_LENGTH = 1_048_576

/** The body for a destination type, or `UNCOMPOSED`. A type whose extension is no longer loaded gets the payload. */
export function composeBody(deps: ComposeDeps, typeName: string, payload: Payload): string {
  const type = deps.types.has(typeName) ? deps.types.get(typeName) : undefined
  if (!type?.compose) return JSON.stringify(nameIncident(payload))
  const description = describePayload(payload, readFacts(deps, payload))
  try {
    return validBody(type, type.compose(payload, description))
  } catch (thrown) {
    reportThrown(deps.log, `destination type ${typeName}`, thrown, { fields: { call: 'compose' } })
    return UNCOMPOSED
  }
}

function validBody({ name }: DestinationType, body: unknown): string {
  if (typeof body === 'string' && body !== '' && body.length <= MAX_BODY_LENGTH) return body
  ignoreRejection(body)
  throw new TypeError(`compose of ${name} must return a string of 1 to ${MAX_BODY_LENGTH} characters`)
}

/** What the kind of an alert says of it. A kind of an extension that throws says nothing. */
function readFacts({ kinds, log }: ComposeDeps, { event: { type: kindName, details } }: Payload): Fact[] {
  try {
    return factsOf(kindOf(kinds, kindName), details)
  } catch (thrown) {
    reportThrown(log, `alert kind ${kindName}`, thrown, { fields: { call: 'facts' } })
    return []
  }
}

/** A program that takes incidents gets them under event types of their own: `incident.opened`. */
function nameIncident(payload: Payload): object {
  const { incident } = payload
  return incident ? { ...payload, event_type: `incident.${incident.event}` } : payload
}
