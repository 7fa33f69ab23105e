import { v7 } from 'uuid'
import type { Transaction } from '../../../../server/database/database.ts'
import { SEVERITIES, type Severity } from '../../api.ts'
import type { Deps } from '../../deps.ts'
import type { IncidentNews } from '../../rules/notify-incidents.ts'
import { Incident } from '../models.ts'
import { assignAlerts, type Assignment } from './assign.ts'
import { beginOf, nameCause, type Member } from './cause.ts'
import { findFindings } from './findings.ts'
import { readFlow, type Flow } from './flow.ts'
import {
  addActivities,
  insertIncidents,
  insertMembers,
  loadJoinable,
  loadMembers,
  loadUngrouped,
  mergeIncidents,
  summaryOf,
  updateIncidents,
  type IncidentFields,
  type NewActivity,
} from './store.ts'

const NOTHING: IncidentNews = { joined: [], changed: [], ended: [] }

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
  if (fresh.length === 0) return NOTHING
  const windowMinutes = deps.config.incidentWindowMinutes
  const supersededIds = fresh.flatMap(({ supersedes }) => supersedes ?? [])
  const joinable = await loadJoinable(deps, trx, { windowMinutes, supersededIds })
  const flow = await readFlow(
    deps.lookUps,
    trx,
    [...fresh, ...joinable].map(({ assetId }) => assetId),
  )
  const assigned = assignAlerts(fresh, joinable, flow, v7)
  return storeAssignment(deps, trx, { fresh, assigned, flow })
}

/** An assignment with what it was made of. */
interface Assigned {
  fresh: readonly Member[]
  assigned: Assignment
  flow: Flow
}

async function storeAssignment(
  deps: Deps,
  trx: Transaction,
  { fresh, assigned, flow }: Assigned,
): Promise<IncidentNews> {
  const { incidentOf, created, mergedInto } = assigned
  const touched = [...new Set([...incidentOf.values(), ...mergedInto.values()])]
  const before = await Incident.query(trx).findByIds([...touched, ...mergedInto.keys()])
  const former = new Map(before.map(incident => [incident.id, incident]))
  // They have alerts alone until their causes are named.
  const firsts = fresh.filter(({ id }) => created.has(incidentOf.get(id)!))
  const byIncident = Map.groupBy(firsts, ({ id }) => incidentOf.get(id)!)
  await insertIncidents(
    trx,
    [...byIncident].map(([id, members]) => fieldsOf(id, members, flow, [], undefined)),
  )
  await insertMembers(trx, incidentOf)
  await mergeIncidents(trx, mergedInto)
  const members = Map.groupBy(await loadMembers(deps, trx, touched), ({ incidentId }) => incidentId!)
  const findings = await findFindings(deps.lookUps, trx, [...members.values()].flat(), flow)
  const changed = [...members].map(([id, all]) => fieldsOf(id, all, flow, findings, former.get(id)))
  await updateIncidents(trx, changed)
  const after = await Incident.query(trx).findByIds(touched)
  const summaries = new Map(after.map(incident => [incident.id, summaryOf(incident)]))
  const changes = after.flatMap(incident => changesOf(incident, former.get(incident.id)) ?? [])
  await addActivities(trx, [
    ...after.flatMap(incident => joinActivities(incident, fresh, assigned)),
    ...changes.flatMap(({ activities }) => activities),
    ...mergeActivities(mergedInto),
  ])
  // Those that a destination was notified of under the merged incident are new in the other one.
  const moved = [...members].flatMap(([id, all]) =>
    [...mergedInto.values()].includes(id) ? all.map(({ id: alertId }) => ({ alertId, id })) : [],
  )
  const joined = new Map([...moved.map(({ alertId, id }) => [alertId, id] as const), ...incidentOf])
  return {
    joined: [...joined].flatMap(([alertId, id]) => {
      const incident = summaries.get(id)
      return incident ? [{ alertId, incident }] : []
    }),
    changed: changes.flatMap(({ incident, reason }) =>
      reason === null ? [] : [{ incident: summaryOf(incident), reason }],
    ),
    ended: [...mergedInto].flatMap(([id, into]) => {
      const incident = former.get(id)
      const title = summaries.get(into)?.title
      if (!incident) return []
      const reason = `It belongs to another incident: ${title}`
      return [{ incident: { ...summaryOf(incident), status: 'resolved' as const }, reason }]
    }),
  }
}

function fieldsOf(
  id: string,
  members: readonly Member[],
  flow: Flow,
  findings: Awaited<ReturnType<typeof findFindings>>,
  before: Incident | undefined,
): IncidentFields {
  const cause = nameCause(members, findings, flow)
  const own = members.find(member => member.id === cause.alert_id)
  const severities = members.map(({ severity }) => severity)
  return {
    id,
    cause,
    severity: worstOf(before ? [...severities, before.severity] : severities),
    startedAt: own ? beginOf(own) : new Date(cause.at),
  }
}

/** The worst of some severities. */
function worstOf(severities: readonly Severity[]): Severity {
  return SEVERITIES[Math.max(...severities.map(severity => SEVERITIES.indexOf(severity)))] ?? 'info'
}

/**
 * What got worse with an incident that was there before, or is known better. A better known cause alone is no reason for
 * another message: the page that the first one leads to shows it, and a pipeline that breaks step by step would send one for
 * each step that its checks find.
 */
function changesOf(incident: Incident, before: Incident | undefined) {
  if (!before) return undefined
  const isWorse = incident.severity !== before.severity
  const isOther = incident.cause.asset_id !== before.cause.asset_id
  if (!isWorse && !isOther) return undefined
  const { id: incidentId, severity, cause } = incident
  const activities: NewActivity[] = [
    ...(isOther
      ? [
          {
            incidentId,
            activityType: 'cause_changed' as const,
            metadata: { from: before.cause.qualified_name, to: cause.qualified_name, title: cause.summary },
          },
        ]
      : []),
    ...(isWorse
      ? [
          {
            incidentId,
            activityType: 'severity_raised' as const,
            metadata: { from: before.severity, to: severity },
          },
        ]
      : []),
  ]
  const reason = isOther
    ? `It got worse: ${severity}. The cause is ${cause.qualified_name}`
    : `It got worse: ${severity}`
  return { incident, reason: isWorse ? reason : null, activities }
}

/** Alerts that an entry of a timeline names. */
const MAX_NAMED = 20

function joinActivities(
  { id: incidentId, cause }: Incident,
  fresh: readonly Member[],
  { incidentOf, created }: Assignment,
): NewActivity[] {
  const joined = fresh.filter(({ id }) => incidentOf.get(id) === incidentId)
  if (joined.length === 0) return []
  const alerts = joined.slice(0, MAX_NAMED).map(({ id, title }) => ({ id, title }))
  const isNew = created.has(incidentId)
  return [
    {
      incidentId,
      activityType: isNew ? 'opened' : 'alerts_joined',
      metadata: { alert_count: joined.length, alerts, ...(isNew && { cause: cause.qualified_name }) },
    },
  ]
}

function mergeActivities(mergedInto: ReadonlyMap<string, string>): NewActivity[] {
  return [...mergedInto].flatMap(([id, into]) => [
    { incidentId: id, activityType: 'merged' as const, metadata: { into } },
    { incidentId: into, activityType: 'merged' as const, metadata: { from: id } },
  ])
}
