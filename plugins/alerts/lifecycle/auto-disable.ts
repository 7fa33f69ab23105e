import { raw } from 'objection'
import { audit } from '../../../server/http/audit.ts'
import { companyOf, type Transaction } from '../../../server/database/database.ts'
import { lockPendingDeliveries, stopLocked } from '../delivery/stop.ts'
import type { Deps } from '../deps.ts'
import { Destination } from '../models.ts'
import { destinationDisabled } from '../kinds.ts'
import { sweepCompanies } from '../delivery/sweep-companies.ts'
import { lockDestination } from '../locks.ts'
import { raiseAll } from './raise.ts'

/** A destination that every attempt has failed to reach for so long is switched off. */
const FAILING_DAYS = 5

/** A condition in SQL on destinations: no success for `FAILING_DAYS`, and since then a delivery that has failed for good. */
const IS_TO_DISABLE = `is_active and deleted_at is null and failing_since <= now() - interval '${FAILING_DAYS} days'
  and exists (
    select 1 from deliveries d
     where d.company_id = destinations.company_id and d.destination_id = destinations.id
       and d.created_at >= destinations.failing_since and d.status = 'failed'
       and d.completed_at >= destinations.failing_since + interval '${FAILING_DAYS} days')`

/** Switches off destinations of all companies that have failed for `FAILING_DAYS`. @returns how many */
export async function disableFailingDestinations(
  deps: Deps,
  log: Pick<Deps['log'], 'error'>,
): Promise<number> {
  const failing = await deps.db.statement<{ id: string; companyId: string }>(
    `select id, company_id from destinations where ${IS_TO_DISABLE}`,
  )
  return sweepCompanies(log, 'disable failing destinations', failing, async (companyId, destinations) => {
    let count = 0
    for (const { id } of destinations)
      if (await deps.db.company(companyId, trx => disableDestination(deps, trx, id))) count += 1
    return count
  })
}

/**
 * Switches a destination off unless it recovered meanwhile, stops its pending deliveries and notifies the other
 * destinations. Locks its alert after it, against the lock order: no transaction holds the row of an alert that does not
 * exist, or that is open only while its destination is off.
 */
async function disableDestination(deps: Deps, trx: Transaction, id: string): Promise<boolean> {
  const locked = await lockPendingDeliveries(trx, id)
  const before = await lockDestination(trx, id).whereRaw(IS_TO_DISABLE)
  if (!before) return false
  const reason = `Every attempt has failed since ${before.failingSince?.toISOString()}: switched off after ${FAILING_DAYS} days. Correct it, then switch it on again`
  await stopLocked(trx, locked, 'The destination was switched off: every attempt had failed for days')
  await Destination.query(trx)
    .where({ id })
    .patch({ isActive: false, disabledReason: reason, updatedAt: raw('now()') })
  const details = { destination_type: before.destinationType, failing_since: before.failingSince }
  await raiseAll(deps, trx, [
    {
      type: destinationDisabled.name,
      cause: id,
      severity: 'warning',
      sourceId: null,
      asset: { id, qualifiedName: before.name, assetType: 'destination' },
      ruleName: before.name,
      title: `${before.name}: switched off, since every attempt to reach it has failed for ${FAILING_DAYS} days`,
      details,
    },
  ])
  const origin = { companyId: companyOf(trx), actor: 'system' }
  await audit(trx, origin, { action: 'destination.disabled', target: { type: 'destination', id }, details })
  return true
}
