import type { Transaction } from '../../../server/database/database.ts'
import { startDeliveries } from '../delivery/delivery.ts'
import type { Deps } from '../deps.ts'
import { loadAssignees } from '../people/assignee.ts'
import type { NotifiedDestination } from './notified.ts'
import { Destination } from '../models.ts'
import { composeMessages } from './compose.ts'
import type { AddressedMessage, MessageReason, Subject } from './message.ts'

/** Composes messages and hands them to delivery, in the transaction of what they are about. @returns the deliveries' ids */
export async function sendMessages(
  deps: Deps,
  trx: Transaction,
  messages: readonly AddressedMessage[],
): Promise<string[]> {
  if (messages.length === 0) return []
  const assignees = await loadAssignees(
    trx,
    messages.map(({ subject }) => subject.alert),
  )
  const composed = composeMessages(deps, messages, assignees)
  return startDeliveries(deps, trx, composed)
}

/** What a message to a destination that was notified before is about, and why it is sent. */
interface LaterNews {
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
