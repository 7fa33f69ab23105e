/** What follows from the ends of deliveries. */
import type { Transaction } from '../../../server/database/database.ts'
import type { Deps } from '../deps.ts'
import { lockWaiting } from '../locks.ts'
import type { Delivery } from '../models.ts'
import type { Member } from './batches.ts'
import { requeueDelivery } from './delivery.ts'
import { updateDeliveryFailed } from './outcomes.ts'

/** A delivery that has ended, and how to send what waited for it under its cause. */
interface EndedDelivery {
  delivery: Delivery
  inContext: Member<unknown>['inContext']
}

/**
 * After the ends of deliveries, under the locks of their alerts: updates `delivery_failed` and starts the messages that
 * waited.
 * @param flagged the deliveries whose alerts may change
 */
export async function settleDeliveries(
  jobs: Deps['jobs'],
  trx: Transaction,
  ended: readonly EndedDelivery[],
  flagged: readonly Delivery[],
): Promise<void> {
  const alertIds = flagged.flatMap(({ alertId }) => alertId ?? [])
  if (alertIds.length > 0) await updateDeliveryFailed(trx, [...new Set(alertIds)])
  const firsts = ended.filter(({ delivery }) => delivery.alertId && delivery.eventType !== 'alert.resolved')
  if (firsts.length === 0) return
  const waiting = await lockWaiting(
    trx,
    firsts.map(({ delivery }) => delivery),
  )
  for (const next of waiting) {
    const first = firsts.find(
      ({ delivery }) =>
        delivery.destinationId === next.destinationId && delivery.messageId === next.messageId,
    )
    await first?.inContext(() => requeueDelivery(jobs, trx, next))
  }
}

/** The same for one delivery, whose alert may change. */
export async function settleDelivery(
  jobs: Deps['jobs'],
  trx: Transaction,
  delivery: Delivery,
): Promise<void> {
  await settleDeliveries(jobs, trx, [{ delivery, inContext: work => work() }], [delivery])
}
