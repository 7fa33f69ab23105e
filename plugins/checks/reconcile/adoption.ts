/** Equal in what it measures means adopted, not doubled. */
import { isDeepStrictEqual } from 'node:util'
import { fieldsKey } from './same-check.ts'
import type { StoredCheck, StoredState, WantedCheck } from './wanted-check.ts'

/**
 * Checks that wanted ones without any may take over: those that no wanted key manages. One with the same fields is taken first,
 * then the one that would be given the key, then the freshness schedule of the table, which has no other.
 */
export class Adoption {
  readonly #free: Set<StoredCheck>
  readonly #byPlace: Map<string, StoredCheck[]>
  readonly #byName: Map<string, StoredCheck>
  /** By place, those with the same fields. A table may have thousands of checks. */
  readonly #alike = new Map<string, Map<string, StoredCheck[]>>()

  /** @param abandoned the managed checks that are not wanted */
  constructor({ checks, adoptable }: StoredState, abandoned: ReadonlySet<StoredCheck>) {
    const free = checks.filter(check => adoptable && (adoptable.has(check) || abandoned.has(check)))
    this.#free = new Set(free)
    this.#byPlace = Map.groupBy(free, ({ kind, tableId }) => placeOf(kind, tableId))
    this.#byName = new Map([...(adoptable ?? [])].map(([check, key]) => [key, check]))
  }

  /** The check to adopt, which is taken then. */
  take(wanted: WantedCheck): StoredCheck | undefined {
    const place = placeOf(wanted.kind, wanted.table.table.id)
    const sameName = this.#byName.get(wanted.key)
    const named = sameName && this.#isFree(sameName) && placeOf(sameName.kind, sameName.tableId) === place
    const chosen =
      (named && isDeepStrictEqual(sameName.fields, wanted.fields) ? sameName : undefined) ??
      this.#equalAt(place, wanted) ??
      (named ? sameName : undefined) ??
      (wanted.kind === 'freshness' ? this.#byPlace.get(place)?.find(check => this.#isFree(check)) : undefined)
    if (chosen) this.#free.delete(chosen)
    return chosen
  }

  #isFree(check: StoredCheck): boolean {
    return this.#free.has(check)
  }

  #equalAt(place: string, { fields }: WantedCheck): StoredCheck | undefined {
    const index =
      this.#alike.get(place) ?? Map.groupBy(this.#byPlace.get(place) ?? [], check => fieldsKey(check.fields))
    this.#alike.set(place, index)
    const alike = index.get(fieldsKey(fields)) ?? []
    while (alike[0] && !this.#isFree(alike[0])) alike.shift()
    return alike.find(check => this.#isFree(check) && isDeepStrictEqual(check.fields, fields))
  }
}

const placeOf = (kind: string, tableId: string) => `${kind} ${tableId}`
