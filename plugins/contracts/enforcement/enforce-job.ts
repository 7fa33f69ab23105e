import Joi from 'joi'
import { auditAll, auditAtEnd } from '../../../server/http/audit.ts'
import type { Job } from '../../../server/jobs/jobs.ts'
import { depsOf, type ContractsDeps } from '../deps.ts'
import { Contract } from '../models.ts'
import { enforcePlan } from './apply.ts'
import { planContract } from './plan.ts'

/** Who does what no caller asked for, as the audit log and histories name it. */
export const SYSTEM = 'system'

const id = Joi.string().guid().required()

/** Brings the checks of a contract in line with the catalog. */
export const enforceJob: Job<{ company_id: string; contract_id: string }> = {
  name: 'contracts.enforce',
  data: Joi.object({ company_id: id, contract_id: id }),
  queue: { retries: 3, expireSeconds: 900 },
  async work({ company_id: companyId, contract_id: contractId }, { server }) {
    return enforceAgain(depsOf(server), companyId, contractId)
  },
}

/** Plans a stored contract again, and enforces the plan. */
export async function enforceAgain(deps: ContractsDeps, companyId: string, contractId: string) {
  const { db, catalog } = deps
  const stored = await db.company(companyId, async trx => {
    const contract = await Contract.query(trx).findById(contractId)
    return contract && { contract, source: (await catalog.findAsset(trx, contract.sourceId)).source }
  })
  if (!stored) return { status: 'gone' }
  const plan = await planContract(deps, stored.source, stored.contract)
  return db.company(companyId, async trx => {
    const source = await catalog.lockSource(trx, stored.source.id, { alone: true })
    const contract = await Contract.query(trx).findById(contractId)
    // A later change has enforced it itself.
    if (!contract || contract.updatedAt.getTime() !== stored.contract.updatedAt.getTime())
      return { status: 'replaced' }
    await auditAtEnd(
      events => auditAll(trx, { companyId, actor: SYSTEM }, events),
      record => enforcePlan(deps, trx, { contract, source, actor: SYSTEM, record }, plan),
    )
    return { status: 'enforced', clauses: plan.clauses.length }
  })
}
