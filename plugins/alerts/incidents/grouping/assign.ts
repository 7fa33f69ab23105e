import { Board, type OuterCause } from './board.ts'
import { discoveryOf, leadingChanges } from './change-sets.ts'
import type { Flow } from './flow.ts'
import type { GroupItem } from './roots.ts'

/** Where alerts belong, and which incidents turned out to be parts of others. */
export interface Assignment {
  /** The incident of each new alert, by its id. */
  incidentOf: Map<string, string>
  /** The incidents that are new. */
  created: Set<string>
  /** Incidents that turned out to be a part of another one, by their ids. */
  mergedInto: Map<string, string>
  /** Incidents that were over and go on, as their alerts came back. */
  reopened: Set<string>
  /** Alerts that go from one incident to another, which may be new. */
  moved: Map<string, string>
}

/** What becomes of alerts and incidents. */
export interface Arrangement extends Assignment {
  /** Who arranges them; null for the program. */
  actor: string | null
}

/** What new alerts are compared with. */
export interface KnownAlerts {
  /** Alerts in active incidents. */
  joinable: readonly GroupItem[]
  /** Alerts in incidents that ended a short time ago. */
  dormant?: readonly GroupItem[]
  /** By new alert, the incident that is over and has an alert of the same check. */
  recurrences?: ReadonlyMap<string, string>
  failedRuns?: readonly OuterCause[]
  /** Incidents that people arranged. */
  arranged?: ReadonlySet<string>
}

/**
 * Assigns new alerts to incidents. An alert joins the incident of its table, then that of what explains it upstream, then
 * those that it explains, which become one; else the one that had the same failure and ended a short time ago. The schema
 * changes of one discovery are one incident.
 * @param makeId makes the id of a new incident
 */
export function assignAlerts(
  fresh: readonly GroupItem[],
  known: KnownAlerts,
  flow: Flow,
  makeId: () => string,
): Assignment {
  const { joinable, recurrences = new Map<string, string>() } = known
  const board = new Board(flow, joinable, known)
  const created = new Set<string>()
  const reopened = new Set<string>()
  const incidentOf = new Map<string, string>()
  const moved = new Map<string, string>()
  const open = () => {
    const id = makeId()
    created.add(id)
    return id
  }
  const reopen = (item: GroupItem) => {
    const id = recurrences.get(item.id)
    if (id === undefined) return undefined
    reopened.add(id)
    board.reopen(id)
    return id
  }
  const put = (item: GroupItem, incidentId: string, isBystander = false) => {
    board.add({ ...item, incidentId }, isBystander)
    incidentOf.set(item.id, incidentId)
  }
  const place = (item: GroupItem, otherwise?: string) => {
    const ids = board.incidentsFor(item)
    const all = otherwise === undefined ? ids : [otherwise, ...ids]
    const incidentId = board.merge([...new Set(all)]) ?? reopen(item) ?? open()
    put(item, incidentId)
    // They were with another cause, as their table has an alert of that; this one is the cause of theirs.
    for (const effect of board.misplacedEffects(item)) {
      board.move(effect, incidentId)
      if (incidentOf.has(effect.id)) incidentOf.set(effect.id, incidentId)
      else moved.set(effect.id, incidentId)
    }
  }
  const { changes = [], others = [] } = Object.groupBy(fresh, item =>
    discoveryOf(item) === undefined ? 'others' : 'changes',
  )
  for (const found of Map.groupBy(upstreamFirst(changes, flow), discoveryOf).values()) {
    // What comes of an alert that is there is an effect as others.
    const effects = found.filter(item => board.hasCause(item))
    for (const item of effects) place(item)
    const set = found.filter(item => !effects.includes(item))
    const leading = leadingChanges(set, flow)
    const [lead] = leading
    if (lead) place(lead, board.sameDiscovery(lead))
    for (const item of leading.slice(1)) place(item, incidentOf.get(lead!.id))
    const rest = set.filter(item => !leading.includes(item))
    const [first] = rest
    if (!first) continue
    const incidentId = lead ? incidentOf.get(lead.id)! : (board.sameDiscovery(first) ?? open())
    for (const item of rest) {
      // What each of them explains is one incident, though not this one.
      if (item.severity !== 'info') board.merge(board.explainedBy(item))
      put(item, incidentId, true)
    }
  }
  for (const item of upstreamFirst(others, flow)) place(item)
  const mergedInto = board.merged()
  const into = (id: string): string => mergedInto.get(id) ?? id
  for (const places of [incidentOf, moved])
    for (const [alert, incident] of places) places.set(alert, into(incident))
  // One that was new needs no end.
  for (const id of created) if (mergedInto.delete(id)) created.delete(id)
  return { incidentOf, created, mergedInto, reopened, moved }
}

/** Causes before their effects: what is found at the same time then joins one incident at once. */
function upstreamFirst(fresh: readonly GroupItem[], flow: Flow): GroupItem[] {
  const assets = new Set(fresh.map(({ assetId }) => assetId))
  const depths = new Map(
    [...assets].map(id => [id, [...flow.above(id).keys()].filter(each => assets.has(each)).length]),
  )
  const at = ({ createdAt }: GroupItem) => createdAt.getTime()
  return fresh.toSorted(
    (a, b) => depths.get(a.assetId)! - depths.get(b.assetId)! || at(a) - at(b) || (a.id < b.id ? -1 : 1),
  )
}
