/** Records what attempts say of their destinations: since when each failed, and since when none was answered. */
import { raw } from 'objection'
import type { Transaction } from '../../../server/database/database.ts'
import type { DeliveryOutcome } from '../destinations/destination.ts'
import { Destination, type Delivery } from '../models.ts'

/** Records the outcome of an attempt at its destination. Writes only what changes. */
export async function recordHealth(
  trx: Transaction,
  { delivery, destination }: { delivery: Pick<Delivery, 'trigger'>; destination: Destination },
  outcome: DeliveryOutcome,
): Promise<void> {
  // The loss of a process says nothing about the receiver.
  if (outcome.errorClass === 'interrupted') return
  const { id, failingSince, silentSince } = destination
  const now = raw('now()') as unknown as Date
  const isFailing = isFailingAfter(outcome, delivery, failingSince !== null)
  const isSilent = isSilentAfter(outcome, silentSince !== null)
  // Attempts end side by side: the first to find a change writes its time.
  if (isFailing && !failingSince)
    await Destination.query(trx).where({ id }).whereNull('failingSince').patch({ failingSince: now })
  if (isSilent && !silentSince)
    await Destination.query(trx).where({ id }).whereNull('silentSince').patch({ silentSince: now })
  const healed = {
    ...(!isFailing && failingSince && { failingSince: null }),
    ...(!isSilent && silentSince && { silentSince: null }),
  }
  if (Object.keys(healed).length > 0) await Destination.query(trx).where({ id }).patch(healed)
}

function isFailingAfter(
  { isDelivered }: DeliveryOutcome,
  { trigger }: Pick<Delivery, 'trigger'>,
  was: boolean,
) {
  if (isDelivered) return false
  // A person who tries again does not prove that a destination fails.
  return was || trigger === 'automatic'
}

/** An answer of any status ends a silence; a failure that comes at once holds no slot and leaves it as it was. */
export function isSilentAfter(
  { statusCode, errorClass, isDelivered }: DeliveryOutcome,
  was: boolean,
): boolean {
  if (isDelivered || statusCode !== null) return false
  return was || errorClass === 'timeout'
}
