import type { Severity, Symptom } from '../../api.ts'
import type { Flow } from './flow.ts'
import { canCause } from './symptoms.ts'

/** An alert as grouping sees it. */
export interface GroupItem {
  id: string
  kind: string
  symptom: Symptom
  severity: Severity
  /** The table, or the source. */
  assetId: string
  sourceId: string
  createdAt: Date
  supersedes: string | null
  /** Its incident; null while it has none. */
  incidentId: string | null
  isOpen: boolean
  /** Whether it is so old that it can only be a cause: late data upstream, a schema that changed before. */
  isCauseOnly: boolean
}

export type RootFields = Pick<GroupItem, 'assetId' | 'symptom' | 'severity' | 'createdAt'>

/** Alerts of an incident that are compared with each other. */
export const MAX_COMPARED = 300
/** A cause may be found later than its effects, as its check looks less often; after this long it is another problem. */
export const MAX_LATENESS_MS = 3_600_000

/** Whether one alert can have caused another one downstream of it. */
export function explains(cause: RootFields, effect: RootFields, flow: Flow): boolean {
  return (
    cause.assetId !== effect.assetId &&
    canCause(cause.symptom, effect.symptom) &&
    // What was only added to a schema shows below as an addition, and breaks nothing.
    (cause.severity !== 'info' || cause.symptom !== 'drift' || effect.symptom === 'drift') &&
    cause.createdAt.getTime() - effect.createdAt.getTime() <= MAX_LATENESS_MS &&
    flow.distance(cause.assetId, effect.assetId) !== undefined
  )
}

/** Alerts of an incident that none of the others explains. In a circle none is left, and each may be the root. */
export function findRoots<Item extends RootFields>(items: readonly Item[], flow: Flow): Item[] {
  const roots = items.filter(item => !items.some(other => explains(other, item, flow)))
  return roots.length > 0 ? roots : [...items]
}
