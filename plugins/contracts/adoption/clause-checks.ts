/** The checks that judge the clauses of a contract: those it adopts, and those of its own. */
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { BrokenClause } from '../../alerts/api.ts'
import type { Source } from '../../catalog/api.ts'
import type {
  CheckKindName,
  ManagedCheck,
  Plan,
  RecordEvent,
  StoredCheck,
  StoredState,
  WantedCheck,
} from '../../checks/api.ts'
import type { ContractsDeps } from '../deps.ts'
import type { Contract, ContractClause } from '../models.ts'
import { findTheSame } from '../../checks/kit.ts'
import { findAdoptable } from './adoptable.ts'
import type { PlannedClause } from '../enforcement/plan.ts'

/** What is to become of the checks of a contract. */
export interface ChecksPlan {
  /** By the keys of clauses: checks that are there and stay whose they are. */
  adopted: ReadonlyMap<string, StoredCheck>
  /** What becomes of the checks of its own. */
  own: Plan<WantedCheck>
  /** Checks that it adopted before and needs no longer. */
  released: StoredCheck[]
  /** Checks of its own that it needs no longer, and another contract does. */
  handedOver: StoredCheck[]
  state: StoredState
  managed: ManagedCheck[]
  wanted: WantedCheck[]
}

/** A contract whose checks are planned. */
export interface PlannedContract {
  source: Source
  /** Absent of one that is not stored yet. */
  id?: string
  /** What is stored of its clauses. */
  stored: readonly ContractClause[]
  /** What it promises from now on. */
  clauses: readonly PlannedClause[]
}

/** With another limit, what a check found last says nothing of its clause: a new one is due at once. */
const IDENTITY = ['min', 'max', 'alert_threshold_percent']

/** Kinds whose checks drafts write down. */
const DRAFTED_KINDS = ['validity', 'metric', 'freshness']

/** What a contract is called as the owner of checks. */
const fileOf = (name: string) => `the contract ${name}`

/** Plans the checks of a contract, in the caller's transaction. Writes nothing. */
export async function planChecks(
  { checks: { reconciler } }: Pick<ContractsDeps, 'checks'>,
  trx: Transaction,
  { source, id, stored, clauses }: PlannedContract,
  name: string,
): Promise<ChecksPlan> {
  const file = fileOf(name)
  const managed = stored.flatMap(({ key, checkKind: kind, checkId, isAdopted }) =>
    kind === null || checkId === null || isAdopted ? [] : [{ file, key, kind, checkId }],
  )
  const kinds = new Set([
    ...stored.flatMap(({ checkKind }) => checkKind ?? []),
    ...clauses.flatMap(({ check }) => check?.kind ?? []),
    ...(clauses.length > 0 ? DRAFTED_KINDS : []),
  ])
  const state = await reconciler.readState(trx, source, { kind: 'contract', managed }, kinds)
  const own = new Map(state.owned.flatMap(each => (each.stored ? [[each.managed.key, each.stored]] : [])))
  const ownChecks = new Set(own.values())
  const others = state.checks.filter(check => !ownChecks.has(check))
  const adopted = findAdoptable(clauses, others)
  // A clause keeps the check that it has.
  for (const key of own.keys()) adopted.delete(key)
  const wanted = clauses.flatMap(({ clause, check }) => (check && !adopted.has(clause.key) ? [check] : []))

  const byKey = new Map(wanted.map(check => [check.key, check]))
  const isNeeded = (key: string, check: StoredCheck) => {
    const wantedCheck = byKey.get(key)
    return wantedCheck !== undefined && findTheSame(check.fields, wantedCheck.fields)
  }
  const ending = [...own].filter(([key, check]) => !isNeeded(key, check)).map(([, check]) => check)
  const shared = new Set((await findUsers(trx, ending, id)).map(({ checkId }) => checkId))
  const handedOver = ending.filter(check => shared.has(check.id))
  const isKept = ({ checkId }: ManagedCheck) => !shared.has(checkId)
  const ownState = { ...state, owned: state.owned.filter(({ managed: each }) => isKept(each)) }
  const inUse = new Set(adopted.values())
  const before = new Set(stored.flatMap(({ isAdopted, checkId }) => (isAdopted ? (checkId ?? []) : [])))
  return {
    adopted,
    own: await reconciler.plan(ownState, { wanted, prune: true, identity: IDENTITY }),
    released: others.filter(check => before.has(check.id) && !inUse.has(check)),
    handedOver,
    state: ownState,
    managed: managed.filter(isKept),
    wanted,
  }
}

/** What became of the check of a clause. */
export interface ClauseStep {
  action: 'keep' | 'adopt' | 'create' | 'change' | 'replace' | 'refuse'
  /** Null where there is none. */
  check: { kind: CheckKindName; id: string } | null
}

/** The step of each clause that a check judges, by its key. @param ids those of the checks of its own */
export function stepsOf(
  { adopted, own }: ChecksPlan,
  stored: readonly ContractClause[],
  ids: ReadonlyMap<WantedCheck, string>,
): Map<string, ClauseStep> {
  const before = new Map(stored.map(({ key, checkId }) => [key, checkId]))
  return new Map([
    ...own.steps.map(({ action, wanted, stored: there }): [string, ClauseStep] => {
      const id = ids.get(wanted) ?? there?.id
      const check = id === undefined || action === 'refuse' ? null : { kind: wanted.kind, id }
      return [wanted.key, { action, check }]
    }),
    ...[...adopted].map(([key, { kind, id }]): [string, ClauseStep] => [
      key,
      { action: before.get(key) === id ? 'keep' : 'adopt', check: { kind, id } },
    ]),
  ])
}

/**
 * Makes the checks of a contract those of a plan. A check that it adopts says which contract relies on it, unless a file or
 * another contract manages it; one that it releases is by hand again. The caller holds the lock of the source.
 */
export async function carryOutChecks(
  deps: ContractsDeps,
  trx: Transaction,
  { source, id, stored }: Pick<PlannedContract, 'source' | 'id' | 'stored'>,
  { name }: Pick<Contract, 'name'>,
  plan: ChecksPlan,
  record: RecordEvent,
): Promise<Map<string, ClauseStep>> {
  const file = fileOf(name)
  const { adopted, released, handedOver, state, managed, wanted } = plan
  const ofContract = (check: StoredCheck) => check.owner?.file === file
  const leaving = [...released.filter(ofContract), ...handedOver]
  const users = new Map((await findUsers(trx, leaving, id)).map(user => [user.checkId, user]))
  const taken = new Map<StoredCheck, CheckUser | null>(
    leaving.map(check => [check, users.get(check.id) ?? null]),
  )
  for (const [key, check] of [...adopted].toReversed())
    if (check.owner === null || ofContract(check))
      taken.set(check, { checkId: check.id, contract: name, key })
  await giveChecks(deps, trx, taken)
  await markMade(trx, handedOver, users)
  const { ids } = await deps.checks.reconciler.reconcile(trx, source, {
    owner: { kind: 'contract', managed },
    state,
    fileOf: () => file,
    wanted,
    prune: true,
    identity: IDENTITY,
    record,
  })
  return stepsOf(plan, stored, ids)
}

/** A clause of a contract that relies on a check. */
interface CheckUser {
  checkId: string
  contract: string
  key: string
}

/** The clauses of other contracts that checks judge; the first of each contract by name is enough. */
async function findUsers(
  trx: Transaction,
  checks: readonly StoredCheck[],
  contractId: string | undefined,
): Promise<CheckUser[]> {
  if (checks.length === 0) return []
  return rows<CheckUser>(
    trx,
    `select distinct on (c.check_id) c.check_id, d.name as contract, c.key
       from contract_clauses c join data_contracts d on d.company_id = :companyId and d.id = c.contract_id
      where c.company_id = :companyId and c.check_id = any(cast(:ids as text[]))
        and c.contract_id is distinct from cast(:contractId as uuid)
      order by c.check_id, d.name, c.position`,
    { companyId: companyOf(trx), ids: checks.map(({ id }) => id), contractId: contractId ?? null },
  )
}

/** Says which contract manages checks from now on; null for none. */
async function giveChecks(
  { checks }: ContractsDeps,
  trx: Transaction,
  taken: ReadonlyMap<StoredCheck, CheckUser | null>,
): Promise<void> {
  for (const { kind, setOwners } of checks.declaredKinds()) {
    const some = [...taken].filter(([check]) => check.kind === kind)
    if (some.length === 0) continue
    await setOwners(
      trx,
      some.map(([{ id }, user]) => ({
        id,
        owner: user && { kind: 'contract', file: fileOf(user.contract), key: user.key },
      })),
    )
  }
}

/** A check that a contract made is another's own once it is handed over: it goes with that. */
async function markMade(
  trx: Transaction,
  checks: readonly StoredCheck[],
  users: ReadonlyMap<string, CheckUser>,
): Promise<void> {
  for (const { id } of checks) {
    const user = users.get(id)
    if (user)
      await trx.raw(
        `update contract_clauses c set is_adopted = false from data_contracts d
          where c.company_id = :companyId and c.check_id = :id and d.company_id = :companyId and d.id = c.contract_id
            and d.name = :contract`,
        { companyId: companyOf(trx), id, contract: user.contract },
      )
  }
}

/** The clauses that checks judge, by the ids of the checks, for alerts. @param except a contract whose clauses are left out */
export async function clausesOfChecks(
  trx: Transaction,
  checkIds: readonly string[],
  except?: string,
): Promise<Map<string, BrokenClause[]>> {
  const found = await rows<BrokenClause & { checkId: string }>(
    trx,
    `select c.check_id, d.name as contract, c.title as clause, d.owner
       from contract_clauses c join data_contracts d on d.company_id = :companyId and d.id = c.contract_id
      where c.company_id = :companyId and c.check_id = any(cast(:checkIds as text[]))
        and c.contract_id is distinct from cast(:except as uuid)
      order by d.name, c.position`,
    { companyId: companyOf(trx), checkIds: [...checkIds], except: except ?? null },
  )
  const grouped = Map.groupBy(found, ({ checkId }) => checkId)
  return new Map([...grouped].map(([id, some]) => [id, some.map(({ checkId: _, ...clause }) => clause)]))
}
