import { v7 } from 'uuid'
import { companyOf, insertAll, rows, type Transaction } from '../../../server/database/database.ts'
import { storable } from '../../../server/database/storable.ts'
import type { BrokenClause } from '../../alerts/api.ts'
import type { Source } from '../../catalog/api.ts'
import type { RecordEvent } from '../../checks/api.ts'
import type { ContractsDeps } from '../deps.ts'
import { ContractClause, type Contract } from '../models.ts'
import { contractViolation } from './alert-kind.ts'
import type { ClauseVerdict } from './clause.ts'
import { carryOutChecks, clausesOfChecks, planChecks, type ClauseStep } from '../adoption/clause-checks.ts'
import type { ContractPlan, PlannedClause } from './plan.ts'
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

const SCHEDULED: ClauseVerdict = {
  status: 'not_enforced',
  reason:
    'the table has a freshness schedule with other terms: give it those of the contract, or remove it, and replace the contract',
}

/**
 * Brings the clauses and checks of a contract in line with a plan: creates, changes and removes checks, stores clauses,
 * and records what is known of them. The caller holds the lock of the source.
 */
export async function enforcePlan(
  deps: ContractsDeps,
  trx: Transaction,
  enforcement: Enforcement,
  plan: ContractPlan,
): Promise<void> {
  const { contract } = enforcement
  const stored = await ContractClause.query(trx).where('contractId', contract.id)
  const before = new Map(stored.map(clause => [clause.key, clause]))
  const keys = new Set(plan.clauses.map(({ clause }) => clause.key))
  const dropped = stored.filter(({ key }) => !keys.has(key))
  const planned = { source: enforcement.source, id: contract.id, stored, clauses: plan.clauses }
  const checksPlan = await planChecks(deps, trx, planned, contract.name)
  const checks = await carryOutChecks(deps, trx, planned, contract, checksPlan, enforcement.record)
  const adopted = [...checks.values()].flatMap(({ action, check }) =>
    action === 'adopt' && check ? check.id : [],
  )
  const known = await readKnown(trx, adopted)
  await renameInAlerts(deps, trx, contract, { stored, clauses: plan.clauses, checks })
  await resolveAlerts(deps, trx, dropped)
  await ContractClause.query(trx)
    .whereRaw('id = any(?)', [dropped.map(({ id }) => id)])
    .delete()
  const judged: JudgedClause[] = []
  const fresh: Partial<ContractClause>[] = []
  const changed: ContractClause[] = []
  const verdicts = new Map<string, ClauseVerdict>()
  for (const [position, item] of plan.clauses.entries()) {
    const { key } = item.clause
    const clause = before.get(key)
    const step = checks.get(key)
    const isAdopted = checksPlan.adopted.has(key)
    const verdict = isAdopted || !item.verdict ? verdictOf(step, clause, known) : item.verdict
    verdicts.set(key, verdict)
    const { kind: checkKind, id: checkId } = step?.check ?? { kind: null, id: null }
    const row = { ...clauseRow(contract, item, position), checkKind, checkId, isAdopted }
    if (!clause) {
      fresh.push({ ...row, id: v7(), ...UNCHECKED })
      continue
    }
    if (Object.entries(row).some(([name, value]) => clause[name as keyof ContractClause] !== value))
      changed.push(Object.assign(clause, row))
    judged.push({ clause, verdict })
  }
  await updateClauses(trx, changed)
  const created = await insertAll(fresh, chunk => ContractClause.query(trx).insert(chunk).returning('*'))
  for (const clause of created)
    judged.push({ clause, verdict: verdicts.get(clause.key) ?? UNCHECKED, isNew: true })
  await recordVerdicts(deps, trx, enforcement, judged)
}

/** Removes the checks of a contract, and resolves its alerts. The caller holds the lock of the source. */
export async function retireClauses(
  deps: ContractsDeps,
  trx: Transaction,
  enforcement: Omit<Enforcement, 'actor'>,
): Promise<void> {
  const { contract, source, record } = enforcement
  const stored = await ContractClause.query(trx).where('contractId', contract.id)
  const planned = { source, id: contract.id, stored, clauses: [] }
  const plan = await planChecks(deps, trx, planned, contract.name)
  const checks = await carryOutChecks(deps, trx, planned, contract, plan, record)
  await renameInAlerts(deps, trx, contract, { stored, clauses: [], checks })
  await resolveAlerts(deps, trx, stored)
}

async function resolveAlerts(
  { alerts }: ContractsDeps,
  trx: Transaction,
  clauses: readonly ContractClause[],
): Promise<void> {
  const causes = clauses.map(({ id }) => id)
  await alerts.resolveOrphaned(trx, { type: contractViolation.name, causes })
}

/** Makes the open alerts of checks name a contract that relies on them from now on, or no longer does. */
async function renameInAlerts(
  { alerts }: ContractsDeps,
  trx: Transaction,
  { id, name, owner }: Contract,
  {
    stored,
    clauses,
    checks,
  }: {
    stored: readonly ContractClause[]
    clauses: readonly PlannedClause[]
    checks: ReadonlyMap<string, ClauseStep>
  },
): Promise<void> {
  const now = clauses.flatMap(({ clause: { key, title } }) => {
    const checkId = checks.get(key)?.check?.id
    return checkId === undefined ? [] : [{ checkId, contract: name, clause: title, owner }]
  })
  const ids = new Set([
    ...stored.flatMap(({ checkId }) => checkId ?? []),
    ...now.map(({ checkId }) => checkId),
  ])
  const others = await clausesOfChecks(trx, [...ids], id)
  const own = Map.groupBy(now, ({ checkId }) => checkId)
  const broken = [...ids].map((checkId): [string, BrokenClause[]] => [
    checkId,
    [...(own.get(checkId) ?? []).map(({ checkId: _, ...clause }) => clause), ...(others.get(checkId) ?? [])],
  ])
  await alerts.renameContracts(trx, new Map(broken))
}

/** What is known of a clause that the catalog cannot judge. */
function verdictOf(
  step: ClauseStep | undefined,
  clause: ContractClause | undefined,
  known: ReadonlyMap<string, ClauseVerdict>,
): ClauseVerdict {
  if (step?.action === 'refuse') return SCHEDULED
  if (step?.action === 'adopt') return known.get(step.check?.id ?? '') ?? UNCHECKED
  const isSameCheck = step?.action === 'keep' || step?.action === 'change'
  return clause && isSameCheck
    ? { status: clause.status, reason: clause.reason, needsNoAlert: true }
    : UNCHECKED
}

/** What adopted checks found last, by their ids. */
async function readKnown(trx: Transaction, ids: readonly string[]): Promise<Map<string, ClauseVerdict>> {
  if (ids.length === 0) return new Map()
  const found = await rows<{ id: string; status: string | null; title: string | null }>(
    trx,
    `select r.id, c.status, a.title
       from unnest(cast(:ids as text[])) as r (id)
       join checks c on c.company_id = :companyId and c.uuid = cast(right(r.id, 36) as uuid)
       left join alerts a on a.company_id = :companyId and a.cause = r.id and a.status in ('triggered', 'acknowledged', 'snoozed')`,
    { companyId: companyOf(trx), ids: [...ids] },
  )
  return new Map(
    found.flatMap(({ id, status, title }): [string, ClauseVerdict][] => {
      if (status === 'fail' || status === 'stale')
        return [[id, { status: 'failing', reason: title ?? 'its check fails', needsNoAlert: true }]]
      const isPassing = status === 'pass' || status === 'warning' || status === 'fresh'
      return isPassing ? [[id, { status: 'passing', reason: null }]] : []
    }),
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

const UPDATE_CLAUSES = `
  update contract_clauses c
  set position = r.position, kind = r.kind, path = r.path, title = r.title, severity = r.severity,
    table_name = r.table_name, column_name = r.column_name, table_id = r.table_id, check_kind = r.check_kind,
    check_id = r.check_id, is_adopted = r.is_adopted
  from jsonb_to_recordset(cast(:records as jsonb)) as
    r(id uuid, position int, kind text, path text, title text, severity text, table_name text, column_name text,
      table_id uuid, check_kind text, check_id text, is_adopted boolean)
  where c.company_id = :companyId and c.id = r.id`

async function updateClauses(trx: Transaction, changed: readonly ContractClause[]): Promise<void> {
  if (changed.length === 0) return
  const records = changed
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(clause => ({
      id: clause.id,
      position: clause.position,
      kind: clause.kind,
      path: clause.path,
      title: clause.title,
      severity: clause.severity,
      table_name: clause.tableName,
      column_name: clause.columnName,
      table_id: clause.tableId,
      check_kind: clause.checkKind,
      check_id: clause.checkId,
      is_adopted: clause.isAdopted,
    }))
  await trx.raw(UPDATE_CLAUSES, { companyId: companyOf(trx), records: JSON.stringify(records) })
}
