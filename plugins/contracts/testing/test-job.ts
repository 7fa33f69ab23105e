import Joi from 'joi'
import { type Transaction } from '../../../server/database/database.ts'
import { hasErrorData } from '../../../server/http/errors.ts'
import { GiveUp, putOffIfBusy, SESSION_WAIT_MS, type Job } from '../../../server/jobs/jobs.ts'
import type { Source } from '../../catalog/api.ts'
import { ContractTestRequest } from '../models.ts'
import { testContract, type ContractTest } from './test-contract.ts'
import { depsOf, type ContractsDeps } from '../deps.ts'

const id = Joi.string().guid().required()
const MAX_ATTEMPTS = 3

/** Tests a contract because a client asked for it. */
export const testJob: Job<{ company_id: string; run_id: string }> = {
  name: 'contracts.test',
  data: Joi.object({ company_id: id, run_id: id }),
  queue: { expireSeconds: 3_600, retries: MAX_ATTEMPTS - 1 },
  concurrency: { isShared: true, local: 4, perGroup: 1 },
  async work({ company_id: companyId, run_id: runId }, { server, attempt, signal }) {
    const deps = depsOf(server)
    const finish = (end: { result: object } | { error: Error }) =>
      deps.db.company(companyId, async trx => {
        await deps.catalog.finishRun(trx, runId, end)
        await ContractTestRequest.query(trx).deleteById(runId)
      })
    try {
      const test = await deps.db.company(companyId, trx => readTest(deps, trx, runId))
      if (!test) return { status: 'gone' }
      const result = await testContract(deps, test, { signal, slotWaitMs: SESSION_WAIT_MS })
      await finish({ result })
      return { status: result.status, ...result.counts }
    } catch (error) {
      putOffIfBusy(error)
      const isFinal = hasErrorData(error)
      if (isFinal || attempt >= MAX_ATTEMPTS) await finish({ error: error as Error })
      throw isFinal ? new GiveUp(error.message) : error
    }
  },
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
