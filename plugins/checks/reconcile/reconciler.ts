import type { Transaction } from '../../../server/database/database.ts'
import type { Source, TableContext } from '../../catalog/api.ts'
import type {
  AskEngine,
  CheckFields,
  CheckKindName,
  DeclaredChecks,
  StopListener,
} from '../declared/declared-checks.ts'
import type { CheckDeps } from '../deps.ts'
import { carryOut, changedMeanwhile, type CarryingOut } from './carry-out.ts'
import { addMissing, type LackedCheck, type MissingRequest } from './missing.ts'
import { isChange, makePlan } from './plan.ts'
import type { Owner, Plan, PlanRequest, StoredCheck, StoredState, WantedCheck } from './wanted-check.ts'

/** What an owner wants of a source, and how it is brought about. */
export interface ReconcileRequest<Wanted extends WantedCheck>
  extends PlanRequest<Wanted>, CarryingOut<Wanted> {
  owner: Owner
  /** What the source has, where the caller has read it under the lock; defaults to reading it. */
  state?: StoredState
  /** A plan that was made before the lock was taken, where the engine was asked about what it changes and nothing else. */
  expected?: Plan<Wanted>
}

/** A plan that was carried out. */
export interface Reconciled<Wanted extends WantedCheck> extends Plan<Wanted> {
  /** The ids of the wanted checks, without those of refused ones. */
  ids: ReadonlyMap<Wanted, string>
}

interface Deps extends Pick<CheckDeps, 'catalog' | 'types'> {
  /** In the order in which their rows are locked. */
  kinds(): readonly DeclaredChecks[]
  notifyStopped: StopListener
}

/** The one way to create, change, adopt and remove checks in bulk. */
export type Reconciler = ReturnType<typeof makeReconciler>

export function makeReconciler({ kinds, notifyStopped, ...deps }: Deps) {
  const fixedFields = ({ kind, fields }: { kind: CheckKindName; fields: CheckFields }) =>
    kinds()
      .find(declared => declared.kind === kind)!
      .fixedFields(fields)

  /**
   * Finds the body of a check good for its table, and fills in what it leaves out. Opens transactions of its own.
   * @param asksEngine whether the engine is asked about what only it knows; in a session of its own, or in that of the caller
   * @throws 400 `VALIDATION_ERROR` naming the fields of the body
   */
  async function read(
    kind: CheckKindName,
    table: TableContext,
    body: object,
    asksEngine: boolean | AskEngine,
  ): Promise<CheckFields> {
    const declared = kinds().find(each => each.kind === kind)!
    // Without what is undefined inside of configurations, such as the bound that a RANGE lacks, as the database gives them.
    return JSON.parse(JSON.stringify(await declared.read(table, body, asksEngine))) as CheckFields
  }

  /** All that a source has, in the caller's transaction. @param only the kinds to list; defaults to all */
  async function readState(
    trx: Transaction,
    source: Source,
    { managed, nameUnmanaged }: Owner,
    only?: ReadonlySet<CheckKindName>,
  ): Promise<StoredState> {
    const checks: StoredCheck[] = []
    for (const { kind, list } of kinds())
      if (only?.has(kind) ?? true)
        checks.push(...(await list(trx, source)).map(check => ({ ...check, kind })))
    const byRef = new Map(checks.map(check => [refOf(check.kind, check.id), check]))
    const owned = managed.map(each => ({ managed: each, stored: byRef.get(refOf(each.kind, each.checkId)) }))
    const own = new Set(owned.map(({ stored }) => stored))
    const free = checks.filter(check => !own.has(check))
    const managedByOthers = nameUnmanaged ? free.filter(({ owner }) => owner !== null) : []
    const others = new Map(managedByOthers.map(check => [check, check.owner!]))
    return {
      checks: checks.filter(check => !others.has(check)),
      owned,
      others,
      adoptable: nameUnmanaged?.(free.filter(check => !others.has(check))) ?? null,
    }
  }

  /** Plans what makes the checks of an owner those that it wants. Writes nothing, and needs no transaction. */
  function plan<Wanted extends WantedCheck>(
    state: StoredState,
    request: PlanRequest<Wanted>,
  ): Promise<Plan<Wanted>> {
    return makePlan(state, request, fixedFields)
  }

  /**
   * Makes the checks of an owner those that it wants. The caller holds the lock of the source.
   * @throws 409 `CONFLICT` when checks were changed between planning and now
   */
  async function reconcile<Wanted extends WantedCheck>(
    trx: Transaction,
    source: Source,
    request: ReconcileRequest<Wanted>,
  ): Promise<Reconciled<Wanted>> {
    const { owner, wanted, expected } = request
    const only = owner.nameUnmanaged
      ? undefined
      : new Set([...owner.managed, ...wanted].map(({ kind }) => kind))
    const state = request.state ?? (await readState(trx, source, owner, only))
    const planned = await plan(state, request)
    if (expected && !isWithin(planned, expected)) throw changedMeanwhile()
    const ids = await carryOut({ kinds: kinds(), notifyStopped }, trx, source, planned, request)
    return { ...planned, ids }
  }

  return {
    read,
    readState,
    plan,
    reconcile,
    addMissing: <Wanted extends LackedCheck>(trx: Transaction, request: MissingRequest<Wanted>) =>
      addMissing(deps, kinds(), trx, request),
    isChange,
  }
}

/** Whether a plan changes nothing but what an earlier one would have. */
function isWithin<Wanted extends WantedCheck>({ steps }: Plan<Wanted>, expected: Plan<Wanted>): boolean {
  const changing = new Set(expected.steps.filter(isChange).map(({ wanted }) => wanted))
  return steps.every(step => step.action !== 'refuse' && (!isChange(step) || changing.has(step.wanted)))
}

const refOf = (kind: CheckKindName, checkId: string): string => `${kind} ${checkId}`
