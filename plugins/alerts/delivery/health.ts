/** Records since when all attempts to reach a destination have failed, and since when none was answered. */
import type { Transaction } from '../../../server/database/database.ts'
import type { DeliveryOutcome } from '../destinations/destination.ts'
import { Destination, type Delivery } from '../models.ts'
import { databaseNow } from '../../../server/database/now.ts'

/** Writes only what changes. */
export async function recordHealth(
  trx: Transaction,
  { delivery, destination }: { delivery: Pick<Delivery, 'trigger'>; destination: Destination },
  outcome: DeliveryOutcome,
): Promise<void> {
  // Losing our own process is no evidence about the receiver.
  if (outcome.errorClass === 'interrupted') return
  const { id, failingSince, silentSince } = destination
  const now = databaseNow()
  const isFailing = isFailingAfter(outcome, delivery, failingSince !== null)
  const isSilent = isSilentAfter(outcome, silentSince !== null)
  // Attempts end concurrently: the first one sets the time.
  if (isFailing && !failingSince)
    await Destination.query(trx).where({ id }).whereNull('failingSince').patch({ failingSince: now })
  if (isSilent && !silentSince)
    await Destination.query(trx).where({ id }).whereNull('silentSince').patch({ silentSince: now })
  const recovered = {
    ...(!isFailing && failingSince && { failingSince: null }),
    ...(!isSilent && silentSince && { silentSince: null }),
  }
  if (Object.keys(recovered).length > 0) await Destination.query(trx).where({ id }).patch(recovered)
}

function isFailingAfter(
  { isDelivered }: DeliveryOutcome,
  { trigger }: Pick<Delivery, 'trigger'>,
  was: boolean,
) {
  if (isDelivered) return false
  // A manual redelivery that fails does not start a period of failure.
  return was || trigger === 'automatic'
}

/** Any answer ends a silence; an immediate failure holds no slot and changes nothing. */
export function isSilentAfter(
  { statusCode, errorClass, isDelivered }: DeliveryOutcome,
  was: boolean,
): boolean {
  if (isDelivered || statusCode !== null) return false
  return was || errorClass === 'timeout'
}
