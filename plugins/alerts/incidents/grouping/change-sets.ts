import type { Flow } from './flow.ts'
import { explains, findRoots, type GroupItem } from './roots.ts'

/** What identifies the discovery that found a schema change; undefined for another alert. */
export function discoveryOf({ symptom, sourceId, createdAt }: GroupItem): string | undefined {
  // The changes of a discovery are stored in one transaction, so at one time.
  return symptom === 'drift' ? `${sourceId} ${createdAt.getTime()}` : undefined
}

/**
 * The changes of a discovery that lead to others: those of the only table that changed by itself in a way that can break
 * something, with what lies below it. None where several tables did: then no table may speak for the others.
 */
export function leadingChanges<Item extends GroupItem>(changes: readonly Item[], flow: Flow): Item[] {
  const roots = findRoots(changes, flow)
  const breaking = roots.filter(({ severity }) => severity !== 'info')
  const leads = breaking.length > 0 ? breaking : roots
  if (new Set(leads.map(({ assetId }) => assetId)).size !== 1) return []
  const [lead] = leads
  return changes.filter(each => lead && (each.assetId === lead.assetId || explains(lead, each, flow)))
}

/** Whether all that is wrong is what one discovery found, and several tables changed by themselves: then none is the cause. */
export function isChangeSet(items: readonly GroupItem[], flow: Flow): boolean {
  const discoveries = new Set(items.map(discoveryOf))
  return discoveries.size === 1 && !discoveries.has(undefined) && leadingChanges(items, flow).length === 0
}

/** Whether a schema change comes of one of its incident that another discovery found. */
function hasCauseElsewhere(change: GroupItem, items: readonly GroupItem[], flow: Flow): boolean {
  return items.some(
    each =>
      each.incidentId === change.incidentId &&
      each.symptom === 'drift' &&
      discoveryOf(each) !== discoveryOf(change) &&
      explains(each, change, flow),
  )
}

/**
 * The schema changes that belong to their incident by their discovery alone. Other alerts of their tables do not join that
 * incident: else one discovery would put independent problems of its tables together.
 */
export function findBystanders(items: readonly GroupItem[], flow: Flow): Set<string> {
  const sets = Map.groupBy(items, item => {
    const discovery = discoveryOf(item)
    return discovery === undefined ? undefined : `${item.incidentId} ${discovery}`
  })
  return new Set(
    [...sets].flatMap(([discovery, all]) => {
      if (discovery === undefined) return []
      const changes = all.filter(change => !hasCauseElsewhere(change, items, flow))
      if (changes.length < 2) return []
      const leading = new Set(leadingChanges(changes, flow))
      return changes.flatMap(change => (leading.has(change) ? [] : [change.id]))
    }),
  )
}
