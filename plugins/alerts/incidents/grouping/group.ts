import { v7 } from 'uuid'
import type { Transaction } from '../../../../server/database/database.ts'
import type { Deps } from '../../deps.ts'
import { NO_NEWS, type IncidentNews } from '../../rules/notify-incidents.ts'
import { applyArrangement } from './apply.ts'
import { assignAlerts } from './assign.ts'
import type { Member } from './cause.ts'
import { findFindings } from './findings.ts'
import { readFlow } from './flow.ts'
import { loadArranged, loadJoinable, loadMembers, loadRecurrences, loadUngrouped } from './load.ts'
import { findRoots } from './roots.ts'

/**
 * Puts alerts that have no incident into one, and names the causes anew. The caller holds the lock of incidents. The
 * number of statements grows by a few per thousand alerts.
 * @returns what to notify of
 */
export async function groupAlerts(
  deps: Deps,
  trx: Transaction,
  alertIds: readonly string[],
): Promise<IncidentNews> {
  const fresh = await loadUngrouped(deps, trx, alertIds)
  if (fresh.length === 0) return NO_NEWS
  const windowMinutes = deps.config.incidentWindowMinutes
  const supersededIds = fresh.flatMap(({ supersedes }) => supersedes ?? [])
  const joinable = await loadJoinable(deps, trx, { windowMinutes, supersededIds })
  const recurrences = await loadRecurrences(
    trx,
    fresh.map(({ id }) => id),
    windowMinutes,
  )
  const dormant = await loadMembers(deps, trx, [...new Set(recurrences.values())])
  const all = [...fresh, ...joinable, ...dormant]
  const flow = await readFlow(
    deps.lookUps,
    trx,
    all.map(({ assetId }) => assetId),
  )
  const findAround = (members: readonly Member[]) => findFindings(deps, trx, members, flow)
  const findings = await findAround(all)
  const assigned = assignAlerts(
    fresh,
    {
      ...{ joinable, dormant, recurrences },
      failedRuns: findRoots(
        findings.filter(({ symptom }) => symptom === 'failed_run'),
        flow,
      ),
      arranged: await loadArranged(trx),
    },
    flow,
    v7,
  )
  const members = [...fresh, ...joinable.filter(({ id }) => assigned.moved.has(id))]
  const arrangement = { ...assigned, actor: null }
  return applyArrangement(deps, trx, { members, arrangement, flow, findAround })
}
