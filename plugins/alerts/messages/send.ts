import type { Transaction } from '../../../server/database/database.ts'
import { startDeliveries, type OutgoingMessage } from '../delivery/delivery.ts'
import type { Deps } from '../deps.ts'
import type { NotifiedDestination } from './notified.ts'
import { Destination } from '../models.ts'
import { composeBody } from './compose.ts'
import { payloadOf, type AddressedMessage, type MessageReason, type Subject } from './message.ts'

/** Composes messages and hands them to delivery, in the transaction of what they are about. */
export async function sendMessages(
  deps: Deps,
  trx: Transaction,
  messages: readonly AddressedMessage[],
): Promise<void> {
  if (messages.length > 0) await startDeliveries(deps, trx, composeMessages(deps, messages))
}

/** Composes each body once for all destinations of a type. */
function composeMessages(deps: Deps, messages: readonly AddressedMessage[]): OutgoingMessage[] {
  const bodies = new Map<string, string>()
  return messages.map(message => {
    const { subject, type, destination, ruleIds, isWaiting = false, postponedUntil = null } = message
    const { id: destinationId, destinationType, failingSince } = destination
    const event = subject.kind === 'incident' ? subject.event : type
    const key = [type, subject.id, event, subject.alert.id, destinationType].join(' ')
    const body = bodies.get(key) ?? composeBody(deps, destinationType, payloadOf(deps, message))
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

/** What a message to a destination that was notified before is about, and why it is sent. */
export interface LaterNews {
  subject: Subject
  reason: MessageReason
}

/**
 * Messages to destinations that were notified of subjects: that these changed, or that they are over. The end is recorded
 * for a destination that is switched off, too: its attempt ends as `stopped`, and it can be sent again later. A deleted one
 * gets none.
 * @param newsOf what there is to say to a destination
 */
export async function laterMessages(
  trx: Transaction,
  type: 'alert.triggered' | 'alert.resolved',
  notified: readonly NotifiedDestination[],
  newsOf: (item: NotifiedDestination) => LaterNews | undefined,
): Promise<AddressedMessage[]> {
  if (notified.length === 0) return []
  const destinations = await Destination.query(trx)
    .findByIds([...new Set(notified.map(({ destinationId }) => destinationId))])
    .whereNull('deletedAt')
  const byId = new Map(destinations.map(destination => [destination.id, destination]))
  const isEnd = type === 'alert.resolved'
  return notified.flatMap(item => {
    const destination = byId.get(item.destinationId)
    const news = newsOf(item)
    if (!destination || !news || (!isEnd && !destination.isActive)) return []
    return [{ ...news, type, destination, ruleIds: item.ruleIds, isWaiting: isEnd && item.isPending }]
  })
}
