import type { Flow } from './flow.ts'
import { explains, findRoots, MAX_COMPARED, type GroupItem } from './roots.ts'

/** Where new alerts belong, and which incidents turned out to be parts of others. */
export interface Assignment {
  /** The incident of each new alert, by its id. */
  incidentOf: Map<string, string>
  /** The incidents that are new. */
  created: Set<string>
  /** Incidents that turned out to be a part of another one, by their ids. */
  mergedInto: Map<string, string>
}

/**
 * Assigns new alerts to incidents. An alert joins the incident of its table, then that of what explains it upstream, then
 * those that it explains, which become one. Tables that one discovery found changed belong together.
 * @param joinable alerts in active incidents
 * @param makeId makes the id of a new incident
 */
export function assignAlerts(
  fresh: readonly GroupItem[],
  joinable: readonly GroupItem[],
  flow: Flow,
  makeId: () => string,
): Assignment {
  const board = new Board(joinable)
  const created = new Set<string>()
  const incidentOf = new Map<string, string>()
  for (const item of upstreamFirst(fresh, flow)) {
    const [own, ...others] = board.incidentsFor(item, flow)
    const incidentId = own ?? makeId()
    if (own === undefined) created.add(incidentId)
    for (const other of others) board.merge(other, incidentId)
    board.add({ ...item, incidentId })
    incidentOf.set(item.id, incidentId)
  }
  const mergedInto = board.merged()
  const into = (id: string): string => mergedInto.get(id) ?? id
  for (const [alert, incident] of incidentOf) incidentOf.set(alert, into(incident))
  // One that was new needs no end.
  for (const id of created) if (mergedInto.delete(id)) created.delete(id)
  return { incidentOf, created, mergedInto }
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

/** The alerts that are placed so far, by incident. */
class Board {
  readonly #items: GroupItem[]
  readonly #mergedInto = new Map<string, string>()

  constructor(placed: readonly GroupItem[]) {
    this.#items = [...placed]
  }

  add(item: GroupItem): void {
    this.#items.push(item)
  }

  merge(incidentId: string, into: string): void {
    this.#mergedInto.set(incidentId, into)
    for (const item of this.#items) if (item.incidentId === incidentId) item.incidentId = into
  }

  /** The merged incidents, each with the one that stands for it at last. */
  merged(): Map<string, string> {
    const last = (id: string): string => (this.#mergedInto.has(id) ? last(this.#mergedInto.get(id)!) : id)
    return new Map([...this.#mergedInto.keys()].map(id => [id, last(id)]))
  }

  /** The incidents that an alert belongs to, the one that stays first. */
  incidentsFor(item: GroupItem, flow: Flow): string[] {
    const same = this.#sameAsset(item)
    const above = same ? undefined : this.#nearestCause(item, flow)
    const below = this.#explained(item, flow)
    const ids = [same, above, ...below, this.#sameDiscovery(item)].flatMap(id => id ?? [])
    const [first, ...others] = new Set(ids)
    if (first === undefined) return []
    // The oldest stays: its message was sent first.
    return [first, ...others].toSorted((a, b) => this.#openedAt(a) - this.#openedAt(b))
  }

  #openedAt(incidentId: string): number {
    const times = this.#items
      .filter(item => item.incidentId === incidentId)
      .map(({ createdAt }) => createdAt.getTime())
    return Math.min(...times)
  }

  #sameAsset({ assetId, supersedes }: GroupItem): string | null | undefined {
    const replaced = this.#items.find(({ id }) => id === supersedes)
    if (replaced) return replaced.incidentId
    const items = this.#items.filter(item => item.assetId === assetId && !item.isCauseOnly)
    return items.toSorted(byNewest)[0]?.incidentId
  }

  /** The incident of the nearest alert upstream that can have caused this one. */
  #nearestCause(item: GroupItem, flow: Flow): string | null | undefined {
    const causes = this.#items.flatMap(each => {
      if (!explains(each, item, flow)) return []
      const distance = flow.distance(each.assetId, item.assetId)
      return distance === undefined ? [] : [{ each, distance }]
    })
    const [nearest] = causes.toSorted((a, b) => a.distance - b.distance || byNewest(a.each, b.each))
    return nearest?.each.incidentId
  }

  /**
   * The incidents whose root this alert explains, and those of which it explains another alert while it has something
   * upstream in common with their root: two ways from one cause, rather than two causes.
   */
  #explained(item: GroupItem, flow: Flow): string[] {
    const byIncident = Map.groupBy(this.#items, ({ incidentId }) => incidentId)
    return [...byIncident].flatMap(([incidentId, members]) => {
      if (incidentId === null) return []
      const isEffect = (each: GroupItem) => !each.isCauseOnly && explains(item, each, flow)
      if (!members.some(isEffect)) return []
      const roots = findRoots(members.slice(0, MAX_COMPARED), flow)
      const isRelated = roots.some(root => isEffect(root) || haveCommonUpstream(root, item, flow))
      return isRelated ? [incidentId] : []
    })
  }

  /** The incident of other tables that the same discovery found changed. */
  #sameDiscovery({ symptom, sourceId, createdAt }: GroupItem): string | null | undefined {
    if (symptom !== 'drift') return undefined
    return this.#items.find(
      item =>
        item.symptom === 'drift' &&
        item.sourceId === sourceId &&
        // The time of the transaction.
        item.createdAt.getTime() === createdAt.getTime(),
    )?.incidentId
  }
}

const byNewest = (a: GroupItem, b: GroupItem): number => b.createdAt.getTime() - a.createdAt.getTime()

function haveCommonUpstream(one: GroupItem, other: GroupItem, flow: Flow): boolean {
  const above = flow.above(one.assetId)
  return [...flow.above(other.assetId).keys()].some(id => above.has(id) && flow.table(id) !== undefined)
}
