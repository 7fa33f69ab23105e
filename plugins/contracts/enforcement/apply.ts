import { isDeepStrictEqual } from 'node:util'
import type { Server } from '@hapi/hapi'
import { v7 } from 'uuid'
import { companyOf, insertAll, type Transaction } from '../../../server/database/database.ts'
import { storable } from '../../../server/database/storable.ts'
import type { Source } from '../../catalog/api.ts'
import type { CheckKind, DeclaredCheck, DeclaredChecks, RecordEvent } from '../../scans/api.ts'
import { contractViolation } from './alert-kind.ts'
import type { ClauseVerdict } from './clause.ts'
import { ContractClause, type Contract } from '../models.ts'
import type { ContractPlan, PlannedCheck, PlannedClause } from './plan.ts'
import { recordVerdicts, type JudgedClause } from './verdicts.ts'

/** Where and for whom a plan is carried out. */
interface Enforcement {
  contract: Contract
  source: Source
  actor: string
  /** Receives what belongs into the audit log. */
  record: RecordEvent
}

const UNCHECKED: ClauseVerdict = { status: 'pending', reason: 'its check has not run yet' }

/**
 * Brings the clauses and checks of a contract in line with a plan: creates, changes and removes checks, stores clauses,
 * and records what is known of them. The caller holds the lock of the source.
 */
export async function enforcePlan(
  server: Server,
  trx: Transaction,
  enforcement: Enforcement,
  plan: ContractPlan,
): Promise<void> {
  const { contract, source } = enforcement
  const stored = await ContractClause.query(trx).where('contractId', contract.id)
  const before = new Map(stored.map(clause => [clause.key, clause]))
  const keys = new Set(plan.clauses.map(({ clause }) => clause.key))
  const gone = stored.filter(({ key }) => !keys.has(key))
  const checks = await openChecks(server, trx, source, [...stored, ...plan.clauses.map(toCheckKind)])
  await removeChecks(trx, enforcement, checks, gone)
  await server.plugins.alerts.resolveOrphaned(trx, {
    type: contractViolation.name,
    causes: gone.map(({ id }) => id),
  })
  await ContractClause.query(trx)
    .whereRaw('id = any(?)', [gone.map(({ id }) => id)])
    .delete()
  const enforced: EnforcedCheck[] = []
  for (const item of plan.clauses)
    enforced.push(await enforceCheck(trx, enforcement, checks, { item, known: before.get(item.clause.key) }))
  await createChecks(trx, enforcement, checks, enforced)
  const judged: JudgedClause[] = []
  const fresh: Partial<ContractClause>[] = []
  const changed: ContractClause[] = []
  const verdicts = new Map<string, ClauseVerdict>()
  for (const [position, item] of plan.clauses.entries()) {
    const known = before.get(item.clause.key)
    const check = enforced[position]!
    const verdict = item.verdict ?? check.verdict
    verdicts.set(item.clause.key, verdict)
    const row = { ...clauseRow(contract, item, position), checkKind: check.kind, checkId: check.id }
    if (!known) {
      fresh.push({ ...row, id: v7(), ...UNCHECKED })
      continue
    }
    if (Object.entries(row).some(([name, value]) => known[name as keyof ContractClause] !== value))
      changed.push(Object.assign(known, row))
    judged.push({ clause: known, verdict })
  }
  await updateClauses(trx, changed)
  const created = await insertAll(fresh, chunk => ContractClause.query(trx).insert(chunk).returning('*'))
  for (const clause of created)
    judged.push({ clause, verdict: verdicts.get(clause.key) ?? UNCHECKED, isNew: true })
  await recordVerdicts(server, trx, enforcement, judged)
}

/** Removes the checks of a contract, and resolves its alerts. The caller holds the lock of the source. */
export async function retireClauses(
  server: Server,
  trx: Transaction,
  enforcement: Omit<Enforcement, 'actor'>,
): Promise<void> {
  const stored = await ContractClause.query(trx).where('contractId', enforcement.contract.id)
  const checks = await openChecks(server, trx, enforcement.source, stored)
  await removeChecks(trx, enforcement, checks, stored)
  const causes = stored.map(({ id }) => id)
  await server.plugins.alerts.resolveOrphaned(trx, { type: contractViolation.name, causes })
}

/** A kind of check, with what there is of it. */
interface OpenChecks {
  kind: DeclaredChecks
  byId: Map<string, DeclaredCheck>
  byTable: Map<string, DeclaredCheck>
}

type AllChecks = ReadonlyMap<CheckKind, OpenChecks>

function toCheckKind({ check }: PlannedClause): { checkKind: CheckKind | null } {
  return { checkKind: check?.kind ?? null }
}

/** Lists the checks of the kinds that are needed. */
async function openChecks(
  server: Server,
  trx: Transaction,
  source: Source,
  needing: readonly { checkKind: CheckKind | null }[],
): Promise<AllChecks> {
  const needed = new Set(needing.map(({ checkKind }) => checkKind))
  const opened = new Map<CheckKind, OpenChecks>()
  for (const kind of server.plugins.scans.declaredKinds()) {
    if (!needed.has(kind.kind)) continue
    const all = await kind.list(trx, source)
    opened.set(kind.kind, {
      kind,
      byId: new Map(all.map(check => [check.id, check])),
      byTable: new Map(all.map(check => [check.tableId, check])),
    })
  }
  return opened
}

async function removeChecks(
  trx: Transaction,
  { source, record }: Pick<Enforcement, 'source' | 'record'>,
  checks: AllChecks,
  clauses: readonly Pick<ContractClause, 'checkKind' | 'checkId'>[],
): Promise<void> {
  for (const { checkKind, checkId } of clauses) {
    if (checkKind === null || checkId === null) continue
    const open = checks.get(checkKind)
    const known = open?.byId.get(checkId)
    if (!open || !known) continue
    await open.kind.remove(trx, { source, id: checkId }, record)
    open.byId.delete(checkId)
    open.byTable.delete(known.tableId)
  }
}

interface EnforcedCheck {
  kind: CheckKind | null
  id: string | null
  verdict: ClauseVerdict
  /** What is to be created, together with those of other clauses. */
  toCreate?: PlannedCheck
}

/** Creates the checks that clauses lack, and notes their ids. */
async function createChecks(
  trx: Transaction,
  { source, record }: Enforcement,
  checks: AllChecks,
  enforced: readonly EnforcedCheck[],
): Promise<void> {
  for (const [kind, open] of checks) {
    const lacking = enforced.filter(({ toCreate }) => toCreate?.kind === kind)
    if (lacking.length === 0) continue
    const wanted = lacking.map(({ toCreate }) => ({
      table: { source, table: toCreate!.table },
      fields: toCreate!.fields,
    }))
    const ids = await open.kind.createAll(trx, wanted, record)
    for (const [place, check] of lacking.entries()) check.id = ids[place]!
  }
}

/** Changes or removes the check of one clause, or finds that it is to be created. */
async function enforceCheck(
  trx: Transaction,
  enforcement: Enforcement,
  checks: AllChecks,
  { item, known }: { item: PlannedClause; known: ContractClause | undefined },
): Promise<EnforcedCheck> {
  const { source, record } = enforcement
  const { check } = item
  const old = known?.checkKind === check?.kind ? known?.checkId : undefined
  const open = check ? checks.get(check.kind) : undefined
  const existing = open?.byId.get(old ?? '')
  if (known && !(check && existing && isSameCheck(open!.kind, existing, check)))
    await removeChecks(trx, enforcement, checks, [known])
  else if (known && check && existing) {
    const changes = changedFields(existing, check)
    if (Object.keys(changes).length > 0)
      await open!.kind.update(trx, { source, id: existing.id }, changes, record)
    const verdict = { status: known.status, reason: known.reason }
    // A clause that the catalog judged before has no outcome of a check yet.
    return { kind: check.kind, id: existing.id, verdict: known.checkId === existing.id ? verdict : UNCHECKED }
  }
  if (!check || !open) return { kind: null, id: null, verdict: UNCHECKED }
  if (check.kind === 'freshness' && open.byTable.has(check.table.id))
    return { kind: null, id: null, verdict: { status: 'not_enforced', reason: SCHEDULED } }
  return { kind: check.kind, id: null, verdict: UNCHECKED, toCreate: check }
}

const SCHEDULED =
  'the table has a freshness schedule that does not belong to this contract: remove it, and replace the contract'

function isSameCheck(kind: DeclaredChecks, existing: DeclaredCheck, check: PlannedCheck): boolean {
  if (existing.tableId !== check.table.id) return false
  return kind
    .fixedFields(check.fields)
    .every(field => isDeepStrictEqual(existing.fields[field] ?? null, check.fields[field] ?? null))
}

function changedFields(existing: DeclaredCheck, { fields }: PlannedCheck): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => !isDeepStrictEqual(existing.fields[name] ?? null, value ?? null),
    ),
  )
}

function clauseRow({ id: contractId }: Contract, { clause, tableId }: PlannedClause, position: number) {
  return {
    contractId,
    key: storable(clause.key),
    position,
    kind: clause.kind,
    path: storable(clause.path),
    title: storable(clause.title),
    severity: clause.severity,
    tableName: clause.table,
    columnName: clause.column,
    tableId,
  }
}

async function updateClauses(trx: Transaction, changed: readonly ContractClause[]): Promise<void> {
  if (changed.length === 0) return
  const records = changed
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(clause => ({
      ...{ id: clause.id, position: clause.position, kind: clause.kind, path: clause.path },
      ...{ title: clause.title, severity: clause.severity, table_name: clause.tableName },
      ...{ column_name: clause.columnName, table_id: clause.tableId },
      ...{ check_kind: clause.checkKind, check_id: clause.checkId },
    }))
  await trx.raw(
    `update contract_clauses c
     set position = r.position, kind = r.kind, path = r.path, title = r.title, severity = r.severity,
       table_name = r.table_name, column_name = r.column_name, table_id = r.table_id, check_kind = r.check_kind,
       check_id = r.check_id
     from jsonb_to_recordset(cast(:records as jsonb)) as
       r(id uuid, position int, kind text, path text, title text, severity text, table_name text, column_name text,
         table_id uuid, check_kind text, check_id text)
     where c.company_id = :companyId and c.id = r.id`,
    { companyId: companyOf(trx), records: JSON.stringify(records) },
  )
}
