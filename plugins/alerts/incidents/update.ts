import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { Deps } from '../deps.ts'
import { lockIncidents } from '../locks.ts'
import { notifyIncidents } from '../rules/notify-incidents.ts'
import { followAlerts } from './grouping/follow.ts'
import { groupAlerts } from './grouping/group.ts'
import { reviewIncidents } from './grouping/review.ts'

/**
 * Groups alerts that have no incident, follows those that have one, and sends what is to be sent. The caller holds no lock
 * but that of incidents.
 */
export async function updateIncidents(
  deps: Deps,
  trx: Transaction,
  alertIds: readonly string[],
): Promise<{ grouped: number; changed: number; ended: number }> {
  await lockIncidents(trx)
  const grouped = await groupAlerts(deps, trx, alertIds)
  const followed = await followAlerts(
    trx,
    await incidentIdsOf(trx, alertIds),
    deps.config.incidentWindowMinutes,
  )
  const changed = [...grouped.changed, ...followed.changed]
  const ended = [...grouped.ended, ...followed.ended]
  await notifyIncidents(deps, trx, { joined: grouped.joined, changed, ended })
  return { grouped: grouped.joined.length, changed: changed.length, ended: ended.length }
}

/** Compares the active incidents of a company with the lineage of now, and sends what is to be sent. */
export async function reviewByLineage(deps: Deps, trx: Transaction): Promise<void> {
  await lockIncidents(trx)
  await notifyIncidents(deps, trx, await reviewIncidents(deps, trx))
}

async function incidentIdsOf(trx: Transaction, alertIds: readonly string[]): Promise<string[]> {
  const members = await rows<{ incidentId: string }>(
    trx,
    `select distinct incident_id from incident_alerts
      where company_id = :companyId and alert_id = any(cast(:ids as uuid[]))`,
    { companyId: companyOf(trx), ids: [...alertIds] },
  )
  return members.map(({ incidentId }) => incidentId)
}
