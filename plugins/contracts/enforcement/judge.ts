import type { Transaction } from '../../../server/database/database.ts'
import { databaseNow } from '../../../server/database/now.ts'
import type { Source } from '../../catalog/api.ts'
import type { FreshnessFinding } from '../../freshness/api.ts'
import type { CheckSummary, StoppedCheck } from '../../checks/api.ts'
import { lockCheckedClauses, lockClauses } from '../locks.ts'
import { Contract, type ContractClause } from '../models.ts'
import { listClauses } from './clauses.ts'
import type { ClauseVerdict } from './clause.ts'
import { enforceJob, SYSTEM } from './enforce-job.ts'
import { bindClauses, catalogStateOf, judgeClauses } from './plan.ts'
import { recordVerdicts, type JudgedClause } from './verdicts.ts'
import type { ContractsDeps } from '../deps.ts'

/**
 * Judges the contracts of a source whose tables a discovery found changed, by the catalog. A job then brings their checks
 * in line, which may ask the engine.
 */
export async function judgeDiscovered(deps: ContractsDeps, trx: Transaction, source: Source): Promise<void> {
  const contracts = await Contract.query(trx).where('sourceId', source.id).orderBy('id')
  for (const contract of contracts) {
    const clauses = listClauses(contract.document, contract.extraColumns, contract.domains)
    const bindings = await bindClauses(deps, trx, source, clauses)
    const catalogState = catalogStateOf(source, bindings)
    if (catalogState === contract.catalogState) continue
    const verdicts = judgeClauses(source, clauses, bindings)
    const locked = await lockClauses(trx, contract.id)
    const stored = new Map(locked.map(clause => [clause.key, clause]))
    const judged = clauses.flatMap((item, index): JudgedClause[] => {
      const clause = stored.get(item.key)
      if (!clause) return []
      const binding = bindings.get(item.table ?? '')
      if (binding && 'table' in binding) clause.tableId = binding.table.id
      const verdict = verdicts[index]
      // What the data tells stays until the check says otherwise; what waited for a table or column waits for its check.
      if (verdict) return [{ clause, verdict }]
      return clause.checkId === null && clause.status === 'not_enforced'
        ? []
        : [{ clause, verdict: keptVerdict(clause) }]
    })
    await recordVerdicts(deps, trx, { contract, source, actor: SYSTEM }, judged)
    await Contract.query(trx).findById(contract.id).patch({ catalogState, judgedAt: databaseNow() })
    const data = { company_id: contract.companyId, contract_id: contract.id }
    await deps.jobs.send(enforceJob, data, { trx, group: contract.companyId })
  }
}

function keptVerdict({ checkId, status, reason }: ContractClause): ClauseVerdict {
  return checkId === null
    ? { status: 'pending', reason: 'its check is being made' }
    : { status, reason, needsNoAlert: true }
}

/** What a check found, as its clause takes it. */
export type CheckFinding = Pick<CheckSummary, 'id' | 'status' | 'message'>

/** Judges the clauses whose checks have found something. */
export async function judgeChecked(
  deps: ContractsDeps,
  trx: Transaction,
  source: Source,
  findings: readonly CheckFinding[],
): Promise<void> {
  if (findings.length === 0) return
  const byCheck = new Map(findings.map(finding => [finding.id, finding]))
  const clauses = await lockCheckedClauses(trx, [...byCheck.keys()])
  if (clauses.length === 0) return
  const byContract = Map.groupBy(clauses, ({ contractId }) => contractId)
  const contracts = await Contract.query(trx)
    .findByIds([...byContract.keys()])
    .orderBy('id')
  for (const contract of contracts) {
    const judged = (byContract.get(contract.id) ?? []).map(clause => ({
      clause,
      verdict: verdictOf(byCheck.get(clause.checkId ?? '')!, clause),
    }))
    await recordVerdicts(deps, trx, { contract, source, actor: SYSTEM }, judged)
  }
}

function verdictOf({ status, message }: CheckFinding, clause: ContractClause): ClauseVerdict {
  if (status === 'pass' || status === 'warning') return { status: 'passing', reason: null }
  // Its check has an alert, which names the contract.
  if (status === 'fail') return { status: 'failing', reason: message, needsNoAlert: true }
  const reason = `its check could not run: ${message}`
  // A check that could not run is no proof that the clause holds again.
  return clause.status === 'failing'
    ? { status: 'failing', reason, needsNoAlert: true }
    : { status: 'pending', reason }
}

const STOP_REASONS = {
  removed: 'it was removed, and replacing the contract makes it again',
  paused: 'it is paused',
} as const

/** Judges the clause whose check a caller removed or paused: nothing shows any more that it holds. */
export function judgeStopped(
  deps: ContractsDeps,
  trx: Transaction,
  source: Source,
  { id: checkId, how }: StoppedCheck,
): Promise<void> {
  return judgeChecked(deps, trx, source, [{ id: checkId, status: 'error', message: STOP_REASONS[how] }])
}

/** Judges the clauses whose freshness schedules have found something. */
export async function judgeFreshness(
  deps: ContractsDeps,
  trx: Transaction,
  sourceId: string,
  findings: readonly FreshnessFinding[],
): Promise<void> {
  const { source } = await deps.catalog.findAsset(trx, sourceId)
  const statuses = { fresh: 'pass', stale: 'fail', unknown: 'error' } as const
  const summaries = findings.map(({ scheduleId, status, reason }) => ({
    id: scheduleId,
    status: statuses[status],
    message: reason ?? 'its data is fresh',
  }))
  await judgeChecked(deps, trx, source, summaries)
}
