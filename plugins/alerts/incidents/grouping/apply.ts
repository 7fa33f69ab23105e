import type { Transaction } from '../../../../server/database/database.ts'
import { SEVERITIES, type Severity } from '../../api.ts'
import type { Deps } from '../../deps.ts'
import type { IncidentNews } from '../../rules/notify-incidents.ts'
import { Incident } from '../models.ts'
import { describeActivities, type AppliedArrangement } from './activities.ts'
import type { Arrangement } from './assign.ts'
import { beginOf, nameCause, type Finding, type Member } from './cause.ts'
import type { Flow } from './flow.ts'
import { loadMembers } from './load.ts'
import { explainMemberships } from './membership.ts'
import {
  addActivities,
  insertIncidents,
  insertMembers,
  markArranged,
  mergeIncidents,
  moveMembers,
  reopenIncidents,
  storeMemberships,
  summaryOf,
  updateIncidents,
  type IncidentFields,
} from './store.ts'

/** An arrangement with what it was made of. */
interface ArrangementInput {
  /** Alerts without an incident, and those that move. */
  members: readonly Member[]
  arrangement: Arrangement
  flow: Flow
  /** Reads what is known beside alerts. */
  findAround: (members: readonly Member[]) => Promise<Finding[]>
}

/**
 * Stores an arrangement, and names the causes of all incidents anew that have other alerts now.
 * @returns what to notify of
 */
export async function applyArrangement(
  deps: Deps,
  trx: Transaction,
  { members: placed, arrangement, flow, findAround }: ArrangementInput,
): Promise<IncidentNews> {
  const { incidentOf, created, mergedInto, reopened, moved, actor } = arrangement
  const left = placed.flatMap(({ id, incidentId }) =>
    moved.has(id) && incidentId !== null ? [incidentId] : [],
  )
  const touched = [...new Set([...incidentOf.values(), ...mergedInto.values(), ...moved.values(), ...left])]
  const before = await Incident.query(trx).findByIds([...touched, ...mergedInto.keys()])
  const former = new Map(before.map(incident => [incident.id, incident]))
  // They have alerts alone until their causes are named.
  const placeOf = (id: string) => moved.get(id) ?? incidentOf.get(id)!
  const firsts = Map.groupBy(
    placed.filter(({ id }) => created.has(placeOf(id))),
    ({ id }) => placeOf(id),
  )
  await insertIncidents(
    trx,
    [...firsts].map(([id, members]) => fieldsOf(id, members, flow, [], undefined)),
  )
  await insertMembers(trx, incidentOf)
  await moveMembers(trx, moved, actor)
  await mergeIncidents(trx, mergedInto, actor)
  await reopenIncidents(trx, [...reopened])
  if (actor !== null) await markArranged(trx, touched, actor)
  const members = Map.groupBy(await loadMembers(deps, trx, touched), ({ incidentId }) => incidentId!)
  const findings = await findAround([...members.values()].flat())
  const fields = [...members].map(([id, all]) =>
    // What was bad may have gone with the alerts that moved.
    fieldsOf(id, all, flow, findings, left.includes(id) ? undefined : former.get(id)),
  )
  await updateIncidents(trx, fields)
  const reasons = fields.flatMap(({ id, cause }) => [...explainMemberships(members.get(id)!, cause, flow)])
  await storeMemberships(trx, new Map(reasons))
  const after = await Incident.query(trx).findByIds(touched)
  const applied: AppliedArrangement = { arrangement, placed, former, after }
  const { activities, worse } = describeActivities(applied)
  await addActivities(trx, activities)
  return newsOf(applied, members, worse)
}

/** What to notify of. */
function newsOf(
  { arrangement: { incidentOf, mergedInto, moved }, former, after }: AppliedArrangement,
  members: ReadonlyMap<string, readonly Member[]>,
  worse: IncidentNews['changed'],
): IncidentNews {
  const summaries = new Map(after.map(incident => [incident.id, summaryOf(incident)]))
  const targets = new Set(mergedInto.values())
  // Those that a destination was notified of under the merged incident are new in the other one.
  const merged = [...members].flatMap(([id, all]) =>
    targets.has(id) ? all.map(({ id: alertId }) => [alertId, id] as const) : [],
  )
  return {
    joined: [...new Map([...merged, ...incidentOf, ...moved])].flatMap(([alertId, id]) => {
      const incident = summaries.get(id)
      return incident ? [{ alertId, incident }] : []
    }),
    changed: worse,
    ended: [...mergedInto].flatMap(([id, into]) => {
      const incident = former.get(id)
      if (!incident) return []
      const reason = `It belongs to another incident: ${summaries.get(into)?.title}`
      return [{ incident: { ...summaryOf(incident), status: 'resolved' as const }, reason }]
    }),
  }
}

function fieldsOf(
  id: string,
  members: readonly Member[],
  flow: Flow,
  findings: readonly Finding[],
  before: Incident | undefined,
): IncidentFields {
  const cause = nameCause(members, findings, flow)
  const own = members.find(member => member.id === cause.alert_id)
  const severities = members.map(({ severity }) => severity)
  return {
    id,
    cause,
    title: cause.is_named === false ? nameChanges(members) : cause.summary,
    severity: worstOf(before ? [...severities, before.severity] : severities),
    startedAt: own ? beginOf(own) : new Date(cause.at),
  }
}

/** The title of an incident of several changes of one discovery, of which none leads to the others. */
function nameChanges(members: readonly Member[]): string {
  const count = members.reduce((sum, { details }) => sum + changesOf(details), 0)
  return `${count} schema changes found by one discovery`
}

function changesOf({ change_count: count }: Record<string, unknown>): number {
  return typeof count === 'number' ? count : 1
}

/** The worst of some severities. */
function worstOf(severities: readonly Severity[]): Severity {
  return SEVERITIES[Math.max(...severities.map(severity => SEVERITIES.indexOf(severity)))] ?? 'info'
}
