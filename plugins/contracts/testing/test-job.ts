import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { type Transaction } from '../../../server/database/database.ts'
import { SESSION_WAIT_MS } from '../../../server/jobs/jobs.ts'
import { runJob } from '../../../server/jobs/run-job.ts'
import type { Source } from '../../catalog/api.ts'
import { ContractTestRequest } from '../models.ts'
import { testContract, type ContractTest } from './test-contract.ts'

/** Tests a contract because a client asked for it. */
export const testJob = runJob<{ company_id: string; run_id: string }>({
  name: 'contracts.test',
  data: { run_id: Joi.string().guid().required() },
  expireSeconds: 3_600,
  async work({ company_id: companyId, run_id: runId }, { server, signal }) {
    const test = await server.db.company(companyId, trx => readTest(server, trx, runId))
    if (!test) return { status: 'gone' }
    const result = await testContract(server, test, { signal, slotWaitMs: SESSION_WAIT_MS })
    await server.db.company(companyId, trx => finishTest(server, trx, runId, { result }))
    return { status: result.status, ...result.counts }
  },
  fail: (trx, { run_id: runId }, error, { server }) => finishTest(server, trx, runId, { error }),
})

async function finishTest(
  server: Server,
  trx: Transaction,
  runId: string,
  end: { result: object } | { error: Error },
): Promise<void> {
  await server.plugins.catalog.finishRun(trx, runId, end)
  await ContractTestRequest.query(trx).deleteById(runId)
}

async function readTest(server: Server, trx: Transaction, runId: string): Promise<ContractTest | undefined> {
  const asked = await ContractTestRequest.query(trx).findById(runId)
  if (!asked) return undefined
  const { source } = await server.plugins.catalog.findAsset(trx, asked.sourceId)
  return { source, document: asked.document, extraColumns: asked.extraColumns }
}

/** Asks for a test. @returns its run, as `GET /sdk/jobs/{job_id}` shows it */
export async function requestTest(
  server: Server,
  trx: Transaction,
  { source, document, extraColumns }: ContractTest & { source: Source },
) {
  const run = await server.plugins.catalog.startRun(trx, {
    workflowName: 'contract_test',
    sourceId: source.id,
    assetId: source.id,
  })
  await ContractTestRequest.query(trx).insert({ runId: run.id, sourceId: source.id, document, extraColumns })
  const data = { company_id: source.companyId, run_id: run.id }
  await server.jobs.send(testJob, data, { trx, group: source.id })
  return run
}
