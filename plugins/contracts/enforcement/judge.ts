import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { auditAll, auditAtEnd } from '../../../server/http/audit.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { databaseNow } from '../../../server/database/now.ts'
import type { Job } from '../../../server/jobs/jobs.ts'
import type { Source } from '../../catalog/api.ts'
import type { FreshnessFinding } from '../../freshness/api.ts'
import type { CheckSummary, StoppedCheck } from '../../scans/api.ts'
import { lockCheckedClauses, lockClauses } from '../locks.ts'
import { Contract, type ContractClause } from '../models.ts'
import { enforcePlan } from './apply.ts'
import { listClauses } from './clauses.ts'
import type { ClauseVerdict } from './clause.ts'
import { bindClauses, catalogStateOf, judgeClauses, planContract } from './plan.ts'
import { recordVerdicts, type JudgedClause } from './verdicts.ts'

const SYSTEM = 'system'

/**
 * Judges the contracts of a source whose tables a discovery found changed, by the catalog. A job then brings their checks
 * in line, which may ask the engine.
 */
export async function judgeDiscovered(server: Server, trx: Transaction, source: Source): Promise<void> {
  const contracts = await Contract.query(trx).where('sourceId', source.id).orderBy('id')
  for (const contract of contracts) {
    const clauses = listClauses(contract.document, contract.extraColumns, contract.domains)
    const bindings = await bindClauses(server, trx, source, clauses)
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
    await recordVerdicts(server, trx, { contract, source, actor: SYSTEM }, judged)
    await Contract.query(trx).findById(contract.id).patch({ catalogState, judgedAt: databaseNow() })
    const data = { company_id: contract.companyId, contract_id: contract.id }
    await server.jobs.send(enforceJob, data, { trx, group: contract.companyId })
  }
}

function keptVerdict({ checkId, status, reason }: ContractClause): ClauseVerdict {
  return checkId === null ? { status: 'pending', reason: 'its check is being made' } : { status, reason }
}

const id = Joi.string().guid().required()

/** Brings the checks of a contract in line with the catalog. */
export const enforceJob: Job<{ company_id: string; contract_id: string }> = {
  name: 'contracts.enforce',
  data: Joi.object({ company_id: id, contract_id: id }),
  queue: { retries: 3, expireSeconds: 900 },
  async work({ company_id: companyId, contract_id: contractId }, { server }) {
    return enforceAgain(server, companyId, contractId)
  },
}

/** Plans a stored contract again, and enforces the plan. */
export async function enforceAgain(server: Server, companyId: string, contractId: string) {
  const { catalog } = server.plugins
  const found = await server.db.company(companyId, async trx => {
    const contract = await Contract.query(trx).findById(contractId)
    return contract && { contract, source: (await catalog.findAsset(trx, contract.sourceId)).source }
  })
  if (!found) return { status: 'gone' }
  const plan = await planContract(server, found.source, found.contract)
  return server.db.company(companyId, async trx => {
    const source = await catalog.lockSource(trx, found.source.id, { alone: true })
    const contract = await Contract.query(trx).findById(contractId)
    // A later change has enforced it itself.
    if (!contract || contract.updatedAt.getTime() !== found.contract.updatedAt.getTime())
      return { status: 'replaced' }
    await auditAtEnd(
      events => auditAll(trx, { companyId, actor: SYSTEM }, events),
      record => enforcePlan(server, trx, { contract, source, actor: SYSTEM, record }, plan),
    )
    return { status: 'enforced', clauses: plan.clauses.length }
  })
}

/** What a check found, as its clause takes it. */
export type CheckFinding = Pick<CheckSummary, 'id' | 'status' | 'message'>

/** Judges the clauses whose checks have found something. */
export async function judgeChecked(
  server: Server,
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
    await recordVerdicts(server, trx, { contract, source, actor: SYSTEM }, judged)
  }
}

function verdictOf({ status, message }: CheckFinding, clause: ContractClause): ClauseVerdict {
  if (status === 'pass' || status === 'warning') return { status: 'passing', reason: null }
  if (status === 'fail') return { status: 'failing', reason: message }
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
  server: Server,
  trx: Transaction,
  source: Source,
  { id: checkId, how }: StoppedCheck,
): Promise<void> {
  return judgeChecked(server, trx, source, [{ id: checkId, status: 'error', message: STOP_REASONS[how] }])
}

/** Judges the clauses whose freshness schedules have found something. */
export async function judgeFreshness(
  server: Server,
  trx: Transaction,
  sourceId: string,
  findings: readonly FreshnessFinding[],
): Promise<void> {
  const { source } = await server.plugins.catalog.findAsset(trx, sourceId)
  const statuses = { fresh: 'pass', stale: 'fail', unknown: 'error' } as const
  const summaries = findings.map(({ scheduleId, status, reason }) => ({
    id: scheduleId,
    status: statuses[status],
    message: reason ?? 'its data is fresh',
  }))
  await judgeChecked(server, trx, source, summaries)
}
