import { randomUUID } from 'node:crypto'
import { v7 } from 'uuid'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { lockName } from '../../../server/database/locks.ts'
import { databaseNow } from '../../../server/database/now.ts'
import { storable } from '../../../server/database/storable.ts'
import { auditAtEnd, type AuditEvent } from '../../../server/http/audit.ts'
import { apiError, invalidField } from '../../../server/http/errors.ts'
import { newestFirst, pageOf, type Page } from '../../../server/http/page.ts'
import type { Source } from '../../catalog/api.ts'
import type { RecordEvent } from '../../checks/api.ts'
import { Contract, ContractClause, ContractEvent } from '../models.ts'
import type { ContractNode } from '../elements.ts'
import { enforcePlan, retireClauses } from './apply.ts'
import { listClauses, MAX_CLAUSES } from './clauses.ts'
import type { ClauseStatus, Domain } from './clause.ts'
import { summaryOf } from './document.ts'
import { bindClauses, catalogStateOf, planContract, type ContractPlan, type ContractTerms } from './plan.ts'
import type { ContractsDeps } from '../deps.ts'

/** A contract that is to be stored. */
export interface ContractInput {
  name: string
  text: string
  document: ContractNode
  /** The id or name of a source; absent keeps that of the stored contract. */
  source?: string | undefined
  extraColumns?: 'allow' | 'fail' | undefined
  /** The parts to enforce; defaults to all. */
  domains?: Domain[] | null
}

/** Who stores it, and what receives the entries of the audit log. */
export interface ContractActor {
  actor: string
  /** Stores the entries about the checks. */
  recordAll(trx: Transaction, events: readonly AuditEvent[]): Promise<unknown>
  /** Records the change of the contract itself, in the same transaction. */
  audit(trx: Transaction, contract: Contract, isNew: boolean): Promise<unknown>
}

/** How often a plan is made again when the catalog changed meanwhile. */
const MAX_PLANS = 3

/**
 * Stores a contract, or replaces the one of its name, and enforces it. No transaction is open while its checks are found
 * good.
 * @throws 400 for a contract that cannot be bound, 404 `ASSET_NOT_FOUND` for an unknown source
 */
export async function putContract(
  deps: ContractsDeps,
  companyId: string,
  input: ContractInput,
  by: ContractActor,
): Promise<{ contract: Contract; isNew: boolean }> {
  const { source, terms } = await findBinding(deps, companyId, input)
  const { extraColumns } = terms
  for (let plans = 1; ; plans++) {
    const plan = await planContract(deps, source, terms)
    const stored = await deps.db.company(companyId, async trx => {
      await lockContract(trx, input.name)
      const before = await Contract.query(trx).findOne('name', input.name)
      const locked = await lockSources(deps, trx, source, before)
      if (plans < MAX_PLANS && !(await isCurrent(deps, trx, locked, plan))) return null
      return storeContract(deps, trx, { input, before, extraColumns, source: locked, plan, by })
    })
    if (stored) return stored
  }
}

/** What a contract is to be enforced on, and with which terms. @throws as `putContract` */
export async function findBinding(
  deps: ContractsDeps,
  companyId: string,
  input: ContractInput,
): Promise<{ source: Source; terms: ContractTerms; current: Contract | undefined }> {
  const { current, source } = await deps.db.company(companyId, async trx => {
    const stored = await Contract.query(trx).findOne('name', input.name)
    return { current: stored, source: await sourceOf(deps, trx, input, stored) }
  })
  const extraColumns = input.extraColumns ?? current?.extraColumns ?? 'allow'
  const { name, document, domains = null } = input
  assertSize(listClauses(document, extraColumns).length)
  return { source, terms: { name, document, extraColumns, domains }, current }
}

function assertSize(count: number): void {
  if (count > MAX_CLAUSES)
    throw invalidField('body', `has ${count} clauses, but at most ${MAX_CLAUSES} are allowed: split it`)
}

async function sourceOf(
  deps: ContractsDeps,
  trx: Transaction,
  { source: given }: ContractInput,
  current: Contract | undefined,
): Promise<Source> {
  const named = given ?? current?.sourceId
  if (named === undefined)
    throw invalidField('source', 'is required for a new contract: the id or name of a source')
  const { source, table } = await deps.catalog.findAsset(trx, named)
  if (!table) return source
  throw invalidField('source', `is a table, but must be a source: ${source.name}`)
}

/** A contract of this name is stored, moved to another source or removed by one transaction at a time. */
function lockContract(trx: Transaction, name: string): Promise<void> {
  return lockName(trx, `contract ${companyOf(trx)} ${name}`)
}

/**
 * Locks the source of a contract, and the one that it had before, in the order of their ids. What scans record waits
 * meanwhile: the checks are locked in another order here.
 */
async function lockSources(
  deps: ContractsDeps,
  trx: Transaction,
  source: Source,
  current: Contract | undefined,
): Promise<Source> {
  const ids = [...new Set([source.id, current?.sourceId ?? source.id])].sort()
  const locked = []
  for (const id of ids) locked.push(await deps.catalog.lockSource(trx, id, { alone: true }))
  return locked.find(({ id }) => id === source.id)!
}

async function isCurrent(deps: ContractsDeps, trx: Transaction, source: Source, plan: ContractPlan) {
  const clauses = plan.clauses.map(({ clause }) => clause)
  return catalogStateOf(source, await bindClauses(deps, trx, source, clauses)) === plan.catalogState
}

interface ContractToStore {
  input: ContractInput
  before: Contract | undefined
  extraColumns: 'allow' | 'fail'
  source: Source
  plan: ContractPlan
  by: ContractActor
}

async function storeContract(deps: ContractsDeps, trx: Transaction, stored: ContractToStore) {
  const { before, by } = stored
  const contract = await auditAtEnd(
    events => by.recordAll(trx, events),
    record => storeClauses(deps, trx, stored, record),
  )
  await by.audit(trx, contract, before === undefined)
  return { contract, isNew: before === undefined }
}

/** Stores a contract with its clauses, and makes their checks. */
async function storeClauses(
  deps: ContractsDeps,
  trx: Transaction,
  { input, before, extraColumns, source, plan, by }: ContractToStore,
  record: RecordEvent,
): Promise<Contract> {
  if (before && before.sourceId !== source.id) {
    const former = await deps.catalog.lockSource(trx, before.sourceId, { alone: true })
    await retireClauses(deps, trx, { contract: before, source: former, record })
    await ContractClause.query(trx).where('contractId', before.id).delete()
  }
  const fields = {
    ...summaryOf(input.document),
    sourceId: source.id,
    text: storable(input.text),
    document: input.document,
    extraColumns,
    domains: input.domains ?? null,
    catalogState: plan.catalogState,
  }
  const [contract] = before
    ? await Contract.query(trx)
        .where('id', before.id)
        .patch({ ...fields, updatedAt: databaseNow(), judgedAt: databaseNow() })
        .returning('*')
    : [
        await Contract.query(trx)
          .insert({ id: v7(), name: input.name, publicId: randomUUID(), ...fields })
          .returning('*'),
      ]
  if (!contract) throw new Error(`Contract ${input.name} vanished under its lock`)
  await ContractEvent.query(trx).insert({
    id: v7(),
    contractId: contract.id,
    event: before ? 'replaced' : 'created',
    version: contract.version,
    actor: by.actor,
  })
  await enforcePlan(deps, trx, { contract, source, actor: by.actor, record }, plan)
  return contract
}

/** @throws 404 `CONTRACT_NOT_FOUND`, also for a contract of another company */
export async function findContract(trx: Transaction, name: string): Promise<Contract> {
  const contract = await Contract.query(trx).findOne('name', name)
  if (contract) return contract
  const message = 'There is no such contract: GET /api/v1/sdk/contracts lists them'
  throw apiError('CONTRACT_NOT_FOUND', message, { name })
}

/** Removes a contract with its checks, and resolves its alerts. @throws 404 `CONTRACT_NOT_FOUND` */
export async function removeContract(
  deps: ContractsDeps,
  trx: Transaction,
  name: string,
  record: RecordEvent,
): Promise<Contract> {
  await lockContract(trx, name)
  const contract = await findContract(trx, name)
  const source = await deps.catalog.lockSource(trx, contract.sourceId, { alone: true })
  await retireClauses(deps, trx, { contract, source, record })
  await Contract.query(trx).deleteById(contract.id)
  return contract
}

/** Which contracts are listed. */
export interface ContractListQuery extends Page {
  /** The id or name of a source, or of a table that a contract names. */
  asset_id?: string
}

/** One page of the contracts of the company, by name, with the clauses of the contracts of all pages. */
export async function listContracts(
  deps: ContractsDeps,
  trx: Transaction,
  { asset_id: assetId, ...page }: ContractListQuery,
): Promise<{ results: Contract[]; total: number; counts: Map<string, ClauseCounts> }> {
  const query = Contract.query(trx).orderBy('name')
  if (assetId !== undefined) {
    const { source, table } = await deps.catalog.findAsset(trx, assetId)
    void query.where('sourceId', source.id)
    if (table)
      void query.whereIn('id', ContractClause.query(trx).where('tableId', table.id).select('contractId'))
  }
  const all = await query.clone().clearOrder().select('id')
  const counts = await countClauses(
    trx,
    all.map(({ id }) => id),
  )
  return { ...(await pageOf(query, page)), counts }
}

/** Contracts by status, and the clauses that fail of all of them. */
export function summarizeContracts(counts: ReadonlyMap<string, ClauseCounts>) {
  const summary = { passing: 0, failing: 0, pending: 0, failing_clauses: 0 }
  for (const clauses of counts.values()) {
    summary[statusOfContract(clauses)] += 1
    summary.failing_clauses += clauses.failing
  }
  return summary
}

/** Clauses by status. */
export type ClauseCounts = Record<ClauseStatus, number>

/** Counts the clauses of contracts by status. */
export async function countClauses(
  trx: Transaction,
  contractIds: readonly string[],
): Promise<Map<string, ClauseCounts>> {
  const counted = await rows<{ contractId: string; status: ClauseStatus; count: number }>(
    trx,
    `select contract_id, status, cast(count(*) as int) as count from contract_clauses
     where company_id = ? and contract_id = any(cast(? as uuid[])) group by 1, 2`,
    [companyOf(trx), [...contractIds]],
  )
  const counts = new Map(contractIds.map(id => [id, noClauses()]))
  for (const { contractId, status, count } of counted) counts.get(contractId)![status] = count
  return counts
}

export function noClauses(): ClauseCounts {
  return { passing: 0, failing: 0, pending: 0, not_enforced: 0 }
}

/** The status of a whole contract: failing if any clause is; passing if those that are enforced are. */
export function statusOfContract({ passing, failing, pending }: ClauseCounts): ContractStatus {
  if (failing > 0) return 'failing'
  return pending > 0 || passing === 0 ? 'pending' : 'passing'
}

export const CONTRACT_STATUSES = ['passing', 'failing', 'pending'] as const
export type ContractStatus = (typeof CONTRACT_STATUSES)[number]

/** The clauses of a contract, in its order. */
export function clausesOf(trx: Transaction, { id }: Contract): Promise<ContractClause[]> {
  return ContractClause.query(trx).where('contractId', id).orderBy('position').orderBy('id').execute()
}

/** A clause of a contract that is enforced on a table. */
export interface TableClause {
  contract: string
  title: string
  tableId: string
  columnName: string | null
}

/** The clauses of all contracts about some tables, by contract and position. */
export function clausesOfTables(trx: Transaction, tableIds: readonly string[]): Promise<TableClause[]> {
  return rows<TableClause>(
    trx,
    `select d.name as contract, c.title, c.table_id, c.column_name
       from contract_clauses c join data_contracts d on d.company_id = :companyId and d.id = c.contract_id
      where c.company_id = :companyId and c.table_id = any(cast(:tableIds as uuid[])) and c.status <> 'not_enforced'
      order by d.name, c.position`,
    { companyId: companyOf(trx), tableIds: [...tableIds] },
  )
}

/** One page of what happened to a contract, newest first. */
export function historyOf(trx: Transaction, { id }: Contract, page: Page) {
  return pageOf(ContractEvent.query(trx).where('contractId', id).orderBy(newestFirst('at', 'id')), page)
}
