/** Compares what an owner wants of a source with what is stored. */
import { makePauses } from '../../../server/pauses.ts'
import { Adoption } from './adoption.ts'
import { compare, differences, type FixedFields } from './same-check.ts'
import type {
  Drift,
  Plan,
  PlanRequest,
  Step,
  StoredState,
  UnwantedCheck,
  WantedCheck,
} from './wanted-check.ts'

/** Plans what makes the checks of an owner those that it wants; others get their turn meanwhile. */
export async function makePlan<Wanted extends WantedCheck>(
  state: StoredState,
  { wanted, prune, identity = [] }: PlanRequest<Wanted>,
  fixedOfKind: FixedFields,
): Promise<Plan<Wanted>> {
  const fixedFields: FixedFields = check => [...fixedOfKind(check), ...identity]
  const byKey = new Map(state.owned.map(owned => [owned.managed.key, owned]))
  const keys = new Set(wanted.map(({ key }) => key))
  const abandoned = state.owned.filter(({ managed }) => !keys.has(managed.key))
  const adoption = new Adoption(state, new Set(abandoned.flatMap(({ stored }) => stored ?? [])))

  const pause = makePauses()
  const stepOf = (check: Wanted): Step<Wanted> => {
    const owned = byKey.get(check.key)
    if (owned?.stored) return { ...compare(check, owned.stored, fixedFields), managed: owned.managed }
    const adopted = adoption.take(check)
    if (!adopted)
      return { action: 'create', wanted: check, changes: [], ...(owned && { managed: owned.managed }) }
    const step = compare<Wanted>(check, adopted, fixedFields)
    return { ...step, action: step.action === 'keep' ? 'adopt' : step.action }
  }
  const steps: Step<Wanted>[] = []
  for (const check of wanted) {
    steps.push(stepOf(check))
    await pause()
  }
  const drift: Drift[] = []
  for (const { managed, stored } of state.owned) {
    const changes = stored && managed.applied ? differences(managed.applied, stored.fields) : []
    if (changes.length > 0) drift.push({ managed, stored: stored!, changes })
    else if (!stored && keys.has(managed.key)) drift.push({ managed, changes })
    await pause()
  }
  const used = new Set(steps.map(({ stored }) => stored))
  const unwanted = abandoned.flatMap(({ managed, stored }) =>
    stored && !used.has(stored) ? [{ managed, stored }] : [],
  )
  const removed = prune ? unwanted : []
  return {
    steps: refuseSecondSchedules(state, steps, removed),
    removed,
    left: prune ? [] : unwanted,
    stale: abandoned.filter(({ stored }) => !stored).map(({ managed }) => managed.key),
    drift,
  }
}

/** A table has one freshness schedule, and it may belong to another. */
function refuseSecondSchedules<Wanted extends WantedCheck>(
  { checks, others }: StoredState,
  steps: Step<Wanted>[],
  removed: readonly UnwantedCheck[],
): Step<Wanted>[] {
  const replaced = steps.filter(({ action }) => action === 'replace')
  const ending = new Set([...removed, ...replaced].map(({ stored }) => stored))
  const staying = [...checks, ...others.keys()].filter(check => !ending.has(check))
  const scheduleOf = new Map(
    staying.flatMap(check => (check.kind === 'freshness' ? [[check.tableId, check]] : [])),
  )
  return steps.map(step => {
    const { kind, table } = step.wanted
    const isNew = step.action === 'create' || step.action === 'replace'
    const schedule = kind === 'freshness' && isNew ? scheduleOf.get(table.table.id) : undefined
    if (!schedule) return step
    const refusedBy = others.get(schedule)
    return { ...step, action: 'refuse', ...(refusedBy && { refusedBy }) }
  })
}

/** Whether a step changes a check, or makes one. */
export function isChange({ action }: Pick<Step<WantedCheck>, 'action'>): boolean {
  return action === 'create' || action === 'change' || action === 'replace'
}
