import { v7 } from 'uuid'
import { companyOf, insertAll, type Transaction } from '../../../server/database/database.ts'
import { storable } from '../../../server/database/storable.ts'
import type { Source } from '../../catalog/api.ts'
import type { CheckKindName, RecordEvent, Step, WantedCheck } from '../../checks/api.ts'
import type { ContractsDeps } from '../deps.ts'
import { ContractClause, type Contract } from '../models.ts'
import { contractViolation } from './alert-kind.ts'
import type { ClauseVerdict } from './clause.ts'
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
    'the table has a freshness schedule that does not belong to this contract: remove it, and replace the contract',
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
  const wanted = plan.clauses.flatMap(({ check }) => check ?? [])
  const checks = await reconcileChecks(deps, trx, enforcement, { stored, wanted })
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
    const verdict = item.verdict ?? verdictOf(step, clause)
    verdicts.set(key, verdict)
    const { kind: checkKind, id: checkId } = step?.check ?? { kind: null, id: null }
    const row = { ...clauseRow(contract, item, position), checkKind, checkId }
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
  const stored = await ContractClause.query(trx).where('contractId', enforcement.contract.id)
  await reconcileChecks(deps, trx, enforcement, { stored, wanted: [] })
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

/** What became of the check of a clause. */
interface ClauseStep {
  action: Step<WantedCheck>['action']
  /** Null where there is none. */
  check: { kind: CheckKindName; id: string } | null
}

/** Makes the checks of a contract those that its clauses want. @returns what became of them, by the keys of the clauses */
async function reconcileChecks(
  { checks }: ContractsDeps,
  trx: Transaction,
  { contract, source, record }: Omit<Enforcement, 'actor'>,
  { stored, wanted }: { stored: readonly ContractClause[]; wanted: readonly WantedCheck[] },
): Promise<Map<string, ClauseStep>> {
  // What a contract is called as the owner of checks.
  const file = `the contract ${contract.name}`
  const managed = stored.flatMap(({ key, checkKind: kind, checkId }) =>
    kind === null || checkId === null ? [] : [{ file, key, kind, checkId }],
  )
  // What a person made stays the person's: a contract takes no check over, so that its removal removes its own only.
  const { steps, ids } = await checks.reconciler.reconcile(trx, source, {
    owner: { kind: 'contract', managed },
    fileOf: () => file,
    wanted,
    prune: true,
    // With another limit, what the check found last says nothing of the clause: a new one is due at once.
    identity: ['min', 'max', 'alert_threshold_percent'],
    record,
  })
  return new Map(
    steps.map(({ action, wanted: check }) => {
      const id = ids.get(check)
      return [check.key, { action, check: id === undefined ? null : { kind: check.kind, id } }]
    }),
  )
}

/** What is known of a clause that the catalog cannot judge. */
function verdictOf(step: ClauseStep | undefined, clause: ContractClause | undefined): ClauseVerdict {
  if (step?.action === 'refuse') return SCHEDULED
  const isSameCheck = step?.action === 'keep' || step?.action === 'change'
  return clause && isSameCheck ? { status: clause.status, reason: clause.reason } : UNCHECKED
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
    check_id = r.check_id
  from jsonb_to_recordset(cast(:records as jsonb)) as
    r(id uuid, position int, kind text, path text, title text, severity text, table_name text, column_name text,
      table_id uuid, check_kind text, check_id text)
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
    }))
  await trx.raw(UPDATE_CLAUSES, { companyId: companyOf(trx), records: JSON.stringify(records) })
}
