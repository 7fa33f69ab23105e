import { ignoreRejection } from '../../../connectors/foreign-code.ts'
import { reportThrown } from '../../../server/extension-errors.ts'
import type { OutgoingMessage } from '../delivery/delivery.ts'
import { UNCOMPOSED } from '../delivery/send.ts'
import type { Deps } from '../deps.ts'
import { describePayload, type Fact } from '../destinations/describe.ts'
import type { DestinationType, DigestContent, Payload } from '../destinations/destination.ts'
import { factsOf } from '../destinations/facts.ts'
import { kindOf } from '../kinds.ts'
import type { Assignee } from '../people/assignee.ts'
import type { Destination } from '../models.ts'
import type { AddressedMessage, Subject } from './message.ts'
import { alertLinks } from '../present.ts'
import type { IncidentPart } from '../destinations/payload.ts'

type ComposeDeps = Pick<Deps, 'kinds' | 'types' | 'log'>

/** Receivers take less. */
const MAX_BODY_LENGTH = 1_048_576

/** Composes each body once for all destinations of a type that needs no config for it. @param assignees of the alerts, by their ids */
export function composeMessages(
  deps: ComposeDeps & Pick<Deps, 'config'>,
  messages: readonly AddressedMessage[],
  assignees: ReadonlyMap<string, Assignee>,
): OutgoingMessage[] {
  const bodies = new Map<string, string>()
  return messages.map(message => {
    const { subject, type, destination, ruleIds, isWaiting = false, postponedUntil = null } = message
    const { id: destinationId, destinationType, failingSince } = destination
    const event = subject.kind === 'incident' ? subject.event : type
    const isComposed =
      deps.types.has(destinationType) && deps.types.get(destinationType).compose !== undefined
    const reader = isComposed ? destinationId : destinationType
    const key = [type, subject.id, event, subject.alert.id, reader].join(' ')
    const body = bodies.get(key) ?? composeBody(deps, destination, payloadOf(deps, message, assignees))
    bodies.set(key, body)
    return {
      subject: { kind: subject.kind, id: subject.id },
      alertId: subject.alert.id,
      destinationId,
      ruleIds,
      eventType: type,
      body,
      isFailing: failingSince !== null,
      isWaiting,
      postponedUntil,
    }
  })
}

/** The payload of a message about a subject as it is now. */
function payloadOf(
  { kinds, config: { baseUrl } }: Pick<Deps, 'kinds' | 'config'>,
  { subject, type, reason: { reason, supersededBy, remindedAt } = {} }: AddressedMessage,
  assignees: ReadonlyMap<string, Assignee>,
): Payload {
  const { alert } = subject
  const assignee = alert.assigneeId === null ? undefined : assignees.get(alert.assigneeId)
  const { event } = alert
  return {
    event_type: type,
    alert: {
      id: alert.id,
      rule_name: alert.ruleName,
      alert_type: kindOf(kinds, alert.kind).label,
      status: alert.status,
      severity: alert.severity,
      title: alert.title,
      created_at: alert.createdAt.toISOString(),
      ...(reason && { reason }),
      ...(supersededBy && { superseded_by: supersededBy }),
      ...(remindedAt && { reminded_at: remindedAt.toISOString() }),
      ...(assignee && { assignee }),
    },
    event: {
      type: event.type,
      ...(event.change_type !== undefined && { change_type: event.change_type }),
      asset: { qualified_name: event.asset.qualified_name, asset_type: event.asset.asset_type },
      details: event.details,
    },
    links: alertLinks(baseUrl, alert),
    ...(subject.kind === 'incident' && { incident: incidentPart(baseUrl, subject) }),
  }
}

function incidentPart(baseUrl: string, { incident, event }: Subject & { kind: 'incident' }): IncidentPart {
  const { id, status, severity, title, causeAsset, alertCount, createdAt } = incident
  return {
    id,
    event,
    status,
    severity,
    title,
    cause: causeAsset,
    alert_count: alertCount,
    created_at: createdAt.toISOString(),
    updated_at: new Date().toISOString(),
    url: `${baseUrl}/incidents/${id}`,
  }
}

/** A type as it composes: of whatever config. */
type Composer = Pick<DestinationType<Record<string, unknown>>, 'compose' | 'composeDigest'>

/** What a body is composed for: secrets of the config are not in it. */
type Reader = Pick<Destination, 'destinationType' | 'config'>

/** The body for a destination, or `UNCOMPOSED`. One whose extension is no longer loaded gets the payload. */
export function composeBody(
  deps: ComposeDeps,
  { destinationType: typeName, config }: Reader,
  payload: Payload,
): string {
  const type = deps.types.has(typeName) ? deps.types.get(typeName) : undefined
  if (!type?.compose) return JSON.stringify(nameIncident(payload))
  const facts = readFacts(deps, payload)
  const description = describePayload(payload, facts)
  return callCompose(deps, type, 'compose', () => (type as Composer).compose?.(payload, description, config))
}

/** The body of a digest, or `UNCOMPOSED`, also for a type that takes none. */
export function composeDigestBody(
  deps: Pick<Deps, 'types' | 'log'>,
  { destinationType: typeName, config }: Reader,
  content: DigestContent,
): string {
  const type = deps.types.has(typeName) ? deps.types.get(typeName) : undefined
  if (!type?.composeDigest) return UNCOMPOSED
  return callCompose(deps, type, 'composeDigest', () => (type as Composer).composeDigest?.(content, config))
}

/** What a type composes; `UNCOMPOSED` if it throws, or returns something else than a text. */
function callCompose(
  { log }: Pick<Deps, 'log'>,
  { name }: DestinationType,
  call: 'compose' | 'composeDigest',
  compose: () => unknown,
): string {
  try {
    const body = compose()
    if (typeof body === 'string' && body !== '' && body.length <= MAX_BODY_LENGTH) return body
    ignoreRejection(body)
    throw new TypeError(`${call} of ${name} must return a string of 1 to ${MAX_BODY_LENGTH} characters`)
  } catch (thrown) {
    reportThrown(log, `destination type ${name}`, thrown, { fields: { call } })
    return UNCOMPOSED
  }
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
function nameIncident(payload: Payload) {
  const { incident } = payload
  return incident ? { ...payload, event_type: `incident.${incident.event}` } : payload
}
