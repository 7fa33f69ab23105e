/** Changes of destinations that end alerts about them. */
import { raw } from 'objection'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { stopDeliveries } from '../delivery/stop.ts'
import type { Deps } from '../deps.ts'
import { Digest } from '../digests/models.ts'
import { findDestination, storeChanges, type DestinationChanges } from '../destinations/destinations.ts'
import { destinationDisabled } from '../kinds.ts'
import { LOCK_RULES } from '../locks.ts'
import { Destination } from '../models.ts'
import { resolveCauses } from './resolve.ts'

/** Changes the given fields. The config is merged, and secrets left out are kept. */
export async function changeDestination(
  deps: Deps,
  trx: Transaction,
  id: string,
  changes: DestinationChanges,
): Promise<Destination> {
  const changed = await storeChanges(deps, trx, id, changes)
  if (changes.is_active)
    await resolveCauses(deps, trx, destinationDisabled.name, [id], 'The destination was switched on again')
  return changed
}

/**
 * Deletes a destination: erases its secrets, stops its pending deliveries, removes it from rules and
 * pauses its digests. The record of its
 * deliveries stays. Deliveries are locked before their destination, as when an attempt is recorded.
 * @returns the deleted destination, and the rules that had no other one and were switched off
 */
export async function deleteDestination(deps: Deps, trx: Transaction, id: string) {
  await findDestination(trx, id)
  await stopDeliveries(trx, id, 'The destination was deleted')
  const destination = await findDestination(trx, id, true)
  await Destination.query(trx)
    .where({ id })
    .patch({ deletedAt: raw('now()'), isActive: false, secrets: null, signingSecrets: '' })
  await Digest.query(trx)
    .where({ destinationId: id })
    .patch({ isActive: false, updatedAt: raw('now()') })
  await resolveCauses(deps, trx, destinationDisabled.name, [id], 'The destination was deleted')
  return { destination, rulesOff: await removeFromRules(trx, id) }
}

/** Removes a destination from the rules that name it. @returns the rules that had no other one and were switched off */
async function removeFromRules(trx: Transaction, destinationId: string) {
  const changed = await rows<{ id: string; name: string; isOff: boolean }>(
    trx,
    `with naming as (
       select id, is_active, array_remove(destination_ids, cast(:destinationId as uuid)) as others from alert_rules
        where company_id = :companyId and cast(:destinationId as uuid) = any(destination_ids)
        ${LOCK_RULES})
     update alert_rules r
        set destination_ids = others, is_active = r.is_active and cardinality(others) > 0, updated_at = now()
       from naming n where r.company_id = :companyId and r.id = n.id
     returning r.id, r.name, n.is_active and not r.is_active as is_off`,
    { companyId: companyOf(trx), destinationId },
  )
  return changed.filter(({ isOff }) => isOff).map(({ id, name }) => ({ id, name }))
}
