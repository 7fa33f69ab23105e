import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import type { Deps } from '../../deps.ts'
import { NO_NEWS, type IncidentNews } from '../../rules/notify-incidents.ts'
import { IS_ACTIVE } from '../models.ts'
import { applyArrangement } from './apply.ts'
import type { Member } from './cause.ts'
import { discoveryOf } from './change-sets.ts'
import { findFindings } from './findings.ts'
import { readFlow, type Flow } from './flow.ts'
import { loadMembers } from './load.ts'
import { explains, findRoots, MAX_COMPARED, type RootFields } from './roots.ts'
import { canCause } from './symptoms.ts'

/** After its last alert, what lineage shows of an incident changes nothing any more. */
const MAX_AGE_HOURS = 24
const HOUR_MS = 3_600_000
/** Incidents of a company that are reviewed at once, the newest first. */
const MAX_REVIEWED = 200

/** Where the cause is said to be, and what it shows. */
type NamedPlace = RootFields

interface ReviewedIncident {
  id: string
  cause: NamedPlace
  members: Member[]
}

/**
 * Compares the active incidents of a company with the lineage of now, which may have arrived after their alerts: merges
 * those of which one has the cause of the other, and splits one whose alerts have nothing to do with each other. What
 * people arranged stays. The caller holds the lock of incidents.
 * @returns what to notify of
 */
export async function reviewIncidents(deps: Deps, trx: Transaction): Promise<IncidentNews> {
  const active = await rows<{ id: string } & NamedPlace>(
    trx,
    `select id, cause ->> 'asset_id' as asset_id, cause ->> 'symptom' as symptom,
            cause ->> 'severity' as severity, cast(cause ->> 'at' as timestamptz) as created_at from incidents
      where company_id = :companyId and ${IS_ACTIVE} and arranged_by is null
        and last_alert_at >= now() - make_interval(hours => ${MAX_AGE_HOURS})
      order by last_alert_at desc limit ${MAX_REVIEWED}`,
    { companyId: companyOf(trx) },
  )
  if (active.length === 0) return NO_NEWS
  const all = await loadMembers(
    deps,
    trx,
    active.map(({ id }) => id),
  )
  const byIncident = Map.groupBy(all, ({ incidentId }) => incidentId)
  const incidents = active.flatMap(({ id, ...cause }): ReviewedIncident[] => {
    const members = byIncident.get(id) ?? []
    return members.length > 0 ? [{ id, cause, members: members.slice(0, MAX_COMPARED) }] : []
  })
  const flow = await readFlow(
    deps.lookUps,
    trx,
    all.map(({ assetId }) => assetId),
  )
  const windowMs = deps.config.incidentWindowMinutes * 60_000
  const mergedInto = findMerges(incidents, flow, windowMs)
  const merged = new Set([...mergedInto.keys(), ...mergedInto.values()])
  const moved = findSplits(
    incidents.filter(({ id }) => !merged.has(id)),
    flow,
  )
  if (mergedInto.size === 0 && moved.size === 0) return NO_NEWS
  return applyArrangement(deps, trx, {
    members: all.filter(({ id }) => moved.has(id)),
    arrangement: {
      ...{ incidentOf: new Map<string, string>(), created: new Set(moved.values()) },
      ...{ mergedInto, reopened: new Set<string>(), moved, actor: null },
    },
    flow,
    findAround: members => findFindings(deps, trx, members, flow),
  })
}

/** The incidents whose roots an alert of another one explains, each with the one that has its alerts then. */
function findMerges(
  incidents: readonly ReviewedIncident[],
  flow: Flow,
  windowMs: number,
): Map<string, string> {
  const mergedInto = new Map<string, string>()
  const last = (id: string): string => (mergedInto.has(id) ? last(mergedInto.get(id)!) : id)
  const openedAt = ({ members }: ReviewedIncident) => members[0]!.createdAt.getTime()
  for (const incident of incidents) {
    if (incident.members.some(isSchemaChange(incident.members))) continue
    const roots: RootFields[] = findRoots(incident.members, flow)
    if (isOuterCause(incident)) roots.push(incident.cause)
    const cause = incidents.find(
      other =>
        other !== incident &&
        !other.members.some(isSchemaChange(other.members)) &&
        roots.every(root => canExplainAny(other, root, flow, windowMs)),
    )
    if (!cause || last(cause.id) === last(incident.id)) continue
    // The oldest stays: its message was sent first.
    const [first, second] = openedAt(cause) <= openedAt(incident) ? [cause, incident] : [incident, cause]
    mergedInto.set(last(second.id), last(first.id))
  }
  return new Map([...mergedInto.keys()].map(id => [id, last(id)]))
}

/** Whether an alert is one of several changes of a discovery, which belong to their incident by that alone. */
const isSchemaChange = (members: readonly Member[]) => (member: Member) => {
  const discovery = discoveryOf(member)
  return (
    discovery !== undefined && members.some(other => other !== member && discoveryOf(other) === discovery)
  )
}

/** Whether the named cause is none of the alerts: a run that failed, or a change that its discovery put with others. */
function isOuterCause({ cause, members }: ReviewedIncident): boolean {
  return !members.some(({ assetId, symptom }) => assetId === cause.assetId && symptom === cause.symptom)
}

/** Whether something of an incident can have caused an alert: one of its alerts, or a cause that is none of them. */
function canExplainAny(
  incident: ReviewedIncident,
  effect: RootFields,
  flow: Flow,
  windowMs: number,
): boolean {
  const { cause, members } = incident
  if (members.some(each => canExplain(each, effect, flow, windowMs))) return true
  if (!isOuterCause(incident)) return false
  const isSame = cause.assetId === effect.assetId && cause.symptom === effect.symptom
  return isSame || canExplain({ ...cause, isOpen: true }, effect, flow, windowMs)
}

/** As when alerts are grouped: within the window, or for a day while the cause is open. */
function canExplain(
  cause: RootFields & Pick<Member, 'isOpen'>,
  effect: RootFields,
  flow: Flow,
  windowMs: number,
): boolean {
  const gapMs = effect.createdAt.getTime() - cause.createdAt.getTime()
  const isInTime = gapMs <= windowMs || (cause.isOpen && gapMs <= MAX_AGE_HOURS * HOUR_MS)
  return isInTime && explains(cause, effect, flow)
}

/** The alerts that have nothing to do with the cause of their incident, each with the new incident that it goes to. */
function findSplits(incidents: readonly ReviewedIncident[], flow: Flow): Map<string, string> {
  return new Map(
    incidents.flatMap(({ cause, members }) => {
      const parts = findParts(members, cause, flow)
      // What has the cause stays, or else what came first.
      const stays = parts.find(part => part.some(({ assetId }) => assetId === cause.assetId)) ?? parts[0]
      return parts.flatMap(part => {
        if (part === stays) return []
        const id = v7()
        return part.map((member): [string, string] => [member.id, id])
      })
    }),
  )
}

/** Alerts that belong together: of one table or discovery, of one cause, or each with the nearest alert that it came of. */
function findParts(members: readonly Member[], cause: NamedPlace, flow: Flow): Member[][] {
  const partOf = new Map(members.map(({ id }) => [id, id]))
  const find = (id: string): string => (partOf.get(id) === id ? id : find(partOf.get(id)!))
  const join = (a: Member, b: Member) => partOf.set(find(a.id), find(b.id))
  const ofCause = members.filter(
    ({ assetId, symptom }) =>
      assetId === cause.assetId ||
      (flow.distance(cause.assetId, assetId) !== undefined && canCause(cause.symptom, symptom)),
  )
  for (const each of ofCause) join(each, ofCause[0]!)
  for (const member of members) {
    const others = members.filter(other => other !== member)
    for (const other of others)
      if (
        other.assetId === member.assetId ||
        (discoveryOf(member) !== undefined && discoveryOf(other) === discoveryOf(member))
      )
        join(member, other)
    const [nearest] = others
      .flatMap(other => {
        const steps = flow.distance(other.assetId, member.assetId)
        return steps !== undefined && canCause(other.symptom, member.symptom) ? [{ steps, other }] : []
      })
      .toSorted((a, b) => a.steps - b.steps)
    if (nearest) join(member, nearest.other)
  }
  return [...Map.groupBy(members, ({ id }) => find(id)).values()]
}
