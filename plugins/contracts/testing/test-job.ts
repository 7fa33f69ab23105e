import Joi from 'joi'
import { type Transaction } from '../../../server/database/database.ts'
import { SESSION_WAIT_MS } from '../../../server/jobs/jobs.ts'
import { runJob } from '../../../server/jobs/run-job.ts'
import type { Source } from '../../catalog/api.ts'
import { ContractTestRequest } from '../models.ts'
import { testContract, type ContractTest } from './test-contract.ts'
import { depsOf, type ContractsDeps } from '../deps.ts'

/** Tests a contract because a client asked for it. */
export const testJob = runJob<{ company_id: string; run_id: string }>({
  name: 'contracts.test',
  data: { run_id: Joi.string().guid().required() },
  expireSeconds: 3_600,
  async work({ company_id: companyId, run_id: runId }, { server, signal }) {
    const deps = depsOf(server)
    const test = await deps.db.company(companyId, trx => readTest(deps, trx, runId))
    if (!test) return { status: 'gone' }
    const result = await testContract(deps, test, { signal, slotWaitMs: SESSION_WAIT_MS })
    await deps.db.company(companyId, trx => finishTest(deps, trx, runId, { result }))
    return { status: result.status, ...result.counts }
  },
  fail: (trx, { run_id: runId }, error, { server }) => finishTest(depsOf(server), trx, runId, { error }),
})

async function finishTest(
  { catalog }: ContractsDeps,
  trx: Transaction,
  runId: string,
  end: { result: object } | { error: Error },
): Promise<void> {
  await catalog.finishRun(trx, runId, end)
  await ContractTestRequest.query(trx).deleteById(runId)
}

async function readTest(
  deps: ContractsDeps,
  trx: Transaction,
  runId: string,
): Promise<ContractTest | undefined> {
  const asked = await ContractTestRequest.query(trx).findById(runId)
  if (!asked) return undefined
  const { source } = await deps.catalog.findAsset(trx, asked.sourceId)
  return { source, document: asked.document, extraColumns: asked.extraColumns }
}

/** Asks for a test. @returns its run, as `GET /sdk/jobs/{job_id}` shows it */
export async function requestTest(
  deps: ContractsDeps,
  trx: Transaction,
  { source, document, extraColumns }: ContractTest & { source: Source },
) {
  const run = await deps.catalog.startRun(trx, {
    workflowName: 'contract_test',
    sourceId: source.id,
    assetId: source.id,
  })
  await ContractTestRequest.query(trx).insert({ runId: run.id, sourceId: source.id, document, extraColumns })
  const data = { company_id: source.companyId, run_id: run.id }
  await deps.jobs.send(testJob, data, { trx, group: source.id })
  return run
}
