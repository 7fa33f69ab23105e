/** Compares what files want of a source with what is stored. */
import { isDeepStrictEqual } from 'node:util'
import type { CheckOwner } from '../../server/http/check-owner.ts'
import { makePauses } from '../../server/pauses.ts'
import type { CheckFields, CheckKind } from '../scans/api.ts'
import { refOf, type StoredCheck } from './keys.ts'
import type { ManagedCheck } from './store.ts'
import type { ReadCheck } from './wanted.ts'

/** A field whose value differs. */
export interface FieldChange {
  field: string
  old: unknown
  new: unknown
}

/** What becomes of a check of a file. */
export interface Step {
  /** `adopt` records the key of an equal check that no file manages yet. */
  action: 'create' | 'change' | 'replace' | 'adopt' | 'keep'
  wanted: ReadCheck
  /** What there is; undefined of one to create. */
  stored?: StoredCheck
  /** What there was when its file was applied last. */
  managed?: ManagedCheck
  changes: FieldChange[]
}

/** What was changed on the server since a file was applied: fields, or all of it, when the check was removed. */
export interface Drift {
  managed: ManagedCheck
  stored?: StoredCheck
  changes: FieldChange[]
}

export interface Plan {
  steps: Step[]
  /** Managed checks that no file has; removed only when asked to. */
  left: { managed: ManagedCheck; stored: StoredCheck }[]
  /** Keys of managed checks that are gone and in no file. */
  stale: string[]
  drift: Drift[]
}

/** What a source has. */
export interface StoredState {
  checks: readonly StoredCheck[]
  managed: readonly ManagedCheck[]
  /** Checks that are managed by others, and not among `checks`. */
  owners: ReadonlyMap<StoredCheck, CheckOwner>
  /** The keys that an export gives to checks without one, by `refOf`. */
  exportKeys: ReadonlyMap<string, string>
  fixedFields(kind: CheckKind, fields: CheckFields): readonly string[]
}

/** Plans what makes the stored checks of a source those of the files; others get their turn meanwhile. */
export async function makePlan(state: StoredState, wanted: readonly ReadCheck[]): Promise<Plan> {
  const checks = new Map(state.checks.map(check => [refOf(check.kind, check.id), check]))
  const storedOf = ({ kind, checkId }: ManagedCheck) => checks.get(refOf(kind, checkId))
  const byKey = new Map(state.managed.map(managed => [managed.key, managed]))
  const keys = new Set(wanted.map(({ key }) => key))
  const abandoned = state.managed.filter(({ key }) => !keys.has(key))
  const adoptable = findAdoptable(state, abandoned, checks)

  const pause = makePauses()
  const stepOf = (check: ReadCheck): Step => {
    const managed = byKey.get(check.key)
    const known = managed && storedOf(managed)
    if (known) return { ...compare(state, check, known), managed: managed! }
    const adopted = adoptable.take(check)
    if (!adopted) return { action: 'create', wanted: check, changes: [], ...(managed && { managed }) }
    const step = compare(state, check, adopted)
    return { ...step, action: step.action === 'keep' ? 'adopt' : step.action }
  }
  const steps: Step[] = []
  for (const check of wanted) {
    steps.push(stepOf(check))
    await pause()
  }
  const drift: Drift[] = []
  for (const managed of state.managed) {
    const stored = storedOf(managed)
    const changes = stored ? differences(managed.applied, stored.fields) : []
    if (changes.length > 0) drift.push({ managed, stored, changes })
    else if (!stored && keys.has(managed.key)) drift.push({ managed, changes })
    await pause()
  }
  const used = new Set(steps.flatMap(({ stored }) => (stored ? [refOf(stored.kind, stored.id)] : [])))
  return {
    steps,
    left: abandoned.flatMap(managed => {
      const stored = storedOf(managed)
      return stored && !used.has(refOf(stored.kind, stored.id)) ? [{ managed, stored }] : []
    }),
    stale: abandoned.filter(managed => !storedOf(managed)).map(({ key }) => key),
    drift,
  }
}

/** A check of another kind or table, or one that measures something else, has to be another check. */
function compare({ fixedFields }: StoredState, wanted: ReadCheck, stored: StoredCheck): Step {
  if (stored.kind !== wanted.kind || stored.tableId !== wanted.table.table.id)
    return {
      action: 'replace',
      wanted,
      stored,
      changes: [{ field: 'table_path', old: stored.tablePath, new: wanted.tablePath }],
    }
  const changes = differences(stored.fields, wanted.fields)
  const fixed = new Set([
    ...fixedFields(stored.kind, stored.fields),
    ...fixedFields(wanted.kind, wanted.fields),
  ])
  const action =
    changes.length === 0 ? 'keep' : changes.some(({ field }) => fixed.has(field)) ? 'replace' : 'change'
  return { action, wanted, stored, changes }
}

function differences(old: CheckFields, wanted: CheckFields): FieldChange[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(wanted)])]
  return names.flatMap(field => {
    const change = { field, old: old[field] ?? null, new: wanted[field] ?? null }
    return isDeepStrictEqual(change.old, change.new) ? [] : [change]
  })
}

/**
 * Checks that a file may adopt: those that no key of the files manages. One with the same fields is taken first, then the one whose
 * export has the key, then the freshness schedule of the table, which has no other.
 */
function findAdoptable(
  state: StoredState,
  abandoned: readonly ManagedCheck[],
  checks: ReadonlyMap<string, StoredCheck>,
): { take(wanted: ReadCheck): StoredCheck | undefined } {
  const abandonedRefs = new Set(abandoned.map(({ kind, checkId }) => refOf(kind, checkId)))
  const managed = new Set(state.managed.map(({ kind, checkId }) => refOf(kind, checkId)))
  const free = new Map([...checks].filter(([ref]) => !managed.has(ref) || abandonedRefs.has(ref)))
  const placeOf = (kind: string, tableId: string) => `${kind} ${tableId}`
  const byPlace = Map.groupBy(free.values(), ({ kind, tableId }) => placeOf(kind, tableId))
  const byExportKey = new Map(
    [...state.exportKeys].flatMap(([ref, key]) => (free.has(ref) ? [[key, free.get(ref)!] as const] : [])),
  )
  const isFree = ({ kind, id }: StoredCheck) => free.has(refOf(kind, id))
  /** By place, those with the same fields. A table may have thousands of checks. */
  const indexes = new Map<string, Map<string, StoredCheck[]>>()
  const equalOf = (place: string, { fields }: ReadCheck): StoredCheck | undefined => {
    const here = byPlace.get(place) ?? []
    const index = indexes.get(place) ?? Map.groupBy(here, check => fieldsKey(check.fields))
    indexes.set(place, index)
    const alike = index.get(fieldsKey(fields)) ?? []
    while (alike[0] && !isFree(alike[0])) alike.shift()
    return alike.find(check => isFree(check) && isDeepStrictEqual(check.fields, fields))
  }
  return {
    take(wanted) {
      const place = placeOf(wanted.kind, wanted.table.table.id)
      const known = byExportKey.get(wanted.key)
      const named = known && isFree(known) && placeOf(known.kind, known.tableId) === place ? known : undefined
      const found =
        (named && isDeepStrictEqual(named.fields, wanted.fields) ? named : undefined) ??
        equalOf(place, wanted) ??
        named ??
        (wanted.kind === 'freshness' ? byPlace.get(place)?.find(isFree) : undefined)
      if (found) free.delete(refOf(found.kind, found.id))
      return found
    },
  }
}

/** The same of equal fields, whatever their order. */
function fieldsKey(fields: CheckFields): string {
  return JSON.stringify(fields, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )
}

/** The steps that change a check, or make one. */
export function changingSteps({ steps }: Plan): Step[] {
  return steps.filter(({ action }) => action === 'create' || action === 'change' || action === 'replace')
}
