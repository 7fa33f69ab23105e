/** What the reconciler works on: wanted and stored checks, and who manages them. */
import type { CheckOwner } from '../../../server/http/check-owner.ts'
import type { TableContext } from '../../catalog/api.ts'
import type { OwnerKind } from '../models.ts'
import type { CheckFields, CheckKindName, DeclaredCheck } from '../declared/declared-checks.ts'

/** A check that an owner wants on a table. */
export interface WantedCheck {
  /** Its name with the owner, who has no two of one key. */
  key: string
  kind: CheckKindName
  table: TableContext
  /** As the owner names the table. */
  tablePath: string
  /** As `Reconciler.read` gave them. */
  fields: CheckFields
}

/** A stored check of one kind. */
export interface StoredCheck extends DeclaredCheck {
  kind: CheckKindName
}

/** What an owner noted of a check that it manages. */
export interface ManagedCheck extends CheckOwner {
  kind: CheckKindName
  checkId: string
  /** The fields when they were applied last; what differs from them was changed by others since. */
  applied?: CheckFields
}

/** A managed check with what there is of it; nothing of one that was removed. */
export interface OwnedCheck {
  managed: ManagedCheck
  stored: StoredCheck | undefined
}

/** Whose checks are reconciled. */
export interface Owner {
  kind: OwnerKind
  managed: readonly ManagedCheck[]
  /**
   * Present of an owner that takes over checks without one, instead of making equal ones beside them.
   * @returns the keys that it would give to such checks, which wanted ones may have
   */
  nameUnmanaged?(checks: readonly StoredCheck[]): ReadonlyMap<StoredCheck, string>
}

/** What a source has, as one owner sees it. */
export interface StoredState {
  /** The checks of the owner, and those without one. */
  checks: readonly StoredCheck[]
  owned: readonly OwnedCheck[]
  /** Checks that others manage. */
  others: ReadonlyMap<StoredCheck, CheckOwner>
  /** The checks without an owner, with the keys that the owner would give them; null of an owner that takes none over. */
  adoptable: ReadonlyMap<StoredCheck, string> | null
}

/** A field whose value differs. */
export interface FieldChange {
  field: string
  old: unknown
  new: unknown
}

/** What becomes of a wanted check. */
export interface Step<Wanted extends WantedCheck> {
  /**
   * `adopt` takes over an equal check without an owner. `refuse` creates none, since the table has the freshness schedule of
   * another owner.
   */
  action: 'create' | 'change' | 'replace' | 'adopt' | 'keep' | 'refuse'
  wanted: Wanted
  /** What there is; undefined of one to create. */
  stored?: StoredCheck
  /** What there was when the owner applied it last. */
  managed?: ManagedCheck
  changes: FieldChange[]
  /** Who has the schedule that stands in the way, if it has an owner. */
  refusedBy?: CheckOwner
}

/** What was changed since an owner applied a check: fields, or all of it, when the check was removed. */
export interface Drift {
  managed: ManagedCheck
  stored?: StoredCheck
  changes: FieldChange[]
}

/** A managed check that is not wanted any more. */
export interface UnwantedCheck {
  managed: ManagedCheck
  stored: StoredCheck
}

/** What makes the checks of an owner those that it wants. */
export interface Plan<Wanted extends WantedCheck> {
  /** In the order of the wanted checks. */
  steps: Step<Wanted>[]
  removed: UnwantedCheck[]
  /** Unwanted checks that stay, because the request does not remove them. */
  left: UnwantedCheck[]
  /** Keys of checks that are gone and unwanted. */
  stale: string[]
  drift: Drift[]
}

/** What to make of a source. */
export interface PlanRequest<Wanted extends WantedCheck> {
  wanted: readonly Wanted[]
  /** Whether managed checks that are not wanted are removed. */
  prune: boolean
  /** Fields that make another check, beside those that no change can set; defaults to none. */
  identity?: readonly string[]
}
