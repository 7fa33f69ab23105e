import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, caller, inCompany, routesOf, type ValidRequest } from '../../server/http/access.ts'
import type { Transaction } from '../../server/database/database.ts'
import { held } from '../../server/http/envelopes.ts'
import { hasErrorData } from '../../server/http/errors.ts'
import { orNull, param } from '../../server/http/input.ts'
import { GiveUp, putOffIfBusy, SESSION_WAIT_MS, type Job, type JobKind } from '../../server/jobs/jobs.ts'
import { startedReplies, startedRun, waitHeaders } from '../../server/http/run-accepted.ts'
import type { CheckDeps } from './deps.ts'
import { checkAsset, resolveTarget } from './run/asset.ts'

const route = routesOf('assets')

const id = Joi.string().guid().required()

/** Tries of a check before it is said to have failed. */
const MAX_ATTEMPTS = 3
/** Seconds of one check: of a source, table after table. */
const EXPIRE_SECONDS = 7_500

interface CheckJobData {
  company_id: string
  source_id: string
  run_id: string
  table_id?: string
}

/** Runs all active checks of a source, or of a table, because a client asked for it. */
export const checkJob: JobKind<CheckJobData> = {
  name: 'scans.check',
  data: Joi.object({ company_id: id, source_id: id, run_id: id, table_id: id.optional() }),
  queue: { expireSeconds: EXPIRE_SECONDS, retries: MAX_ATTEMPTS - 1 },
  // One of a source at once leaves its other sessions to what is due.
  concurrency: { isShared: true, local: 4, perGroup: 1 },
}

export const makeCheckJob = (deps: CheckDeps): Job<CheckJobData> => ({
  ...checkJob,
  async work(data, { attempt, signal }) {
    const { catalog, db } = deps
    const { company_id: companyId, run_id: runId, source_id: sourceId, table_id: tableId } = data
    const onProgress = (percent: number) =>
      db.company(companyId, trx => catalog.recordProgress(trx, runId, percent))
    const finishRun = (end: { result: object } | { error: Error }) =>
      db.company(companyId, trx => catalog.finishRun(trx, runId, end))
    try {
      const found = await checkAsset(
        deps,
        { companyId, sourceId, tableId },
        { signal, onProgress, slotWaitMs: SESSION_WAIT_MS },
      )
      if (!found) return { status: 'cancelled' }
      await finishRun({ result: found })
      return { checks: found.checks, failed: found.failed, errors: found.errors }
    } catch (error) {
      putOffIfBusy(error)
      const isFinal = hasErrorData(error)
      if (isFinal || attempt >= MAX_ATTEMPTS) await finishRun({ error: error as Error })
      throw isFinal ? new GiveUp(error.message) : error
    }
  },
})

interface CheckRequest {
  table_path?: string
}

async function requestCheck(
  { catalog, jobs, kinds }: CheckDeps,
  request: ValidRequest<CheckRequest | null, unknown>,
  trx: Transaction,
) {
  const { companyId } = caller(request)
  const { table_path: tablePath } = request.payload ?? {}
  const assetId = param(request, 'asset_id')
  const target = await resolveTarget({ catalog, kinds }, trx, { companyId, assetId, tablePath })
  const { sourceId, tableId } = target
  const run = await catalog.startRun(trx, {
    workflowName: 'asset_check',
    sourceId,
    assetId: tableId ?? sourceId,
  })
  const data = {
    company_id: companyId,
    source_id: sourceId,
    run_id: run.id,
    ...(tableId && { table_id: tableId }),
  }
  await jobs.send(checkJob, data, { trx, group: sourceId })
  return run
}

const JOB_ID = '0196f2f4-1111-7222-8333-444455556666'

const started = startedRun(
  'Check',
  { id: JOB_ID, jobPath: '/api/v1/sdk/jobs' },
  { asset_id: held.id.description('What is checked: the source, or the table.') },
  { asset_id: '0196f2e1-0a1b-7c2d-8e3f-405162738495' },
)

/** Asks for all active checks of an asset. */
export const makeCheckRoute = (deps: CheckDeps): ServerRoute =>
  route('POST', '/api/v1/sdk/assets/{asset_id}/check', access.write, {
    description: 'Run all active checks of an asset now',
    notes:
      'Rules, metrics, referential checks and comparisons of a table, or of all tables of a source, in one job. Replies 202 with the job at once; with `Prefer: wait=N` 200 with the finished job. Pipelines use it as a gate.',
    validate: {
      params: Joi.object({ asset_id: Joi.string().max(1_000).required() }),
      headers: waitHeaders,
      payload: orNull(
        Joi.object<CheckRequest>({
          table_path: Joi.string()
            .max(1_000)
            .description('Only this table of the source, `catalog.schema.table`.'),
        }),
      ),
    },
    response: startedReplies(started),
    app: { errors: ['ASSET_NOT_FOUND', 'CONFLICT'] },
    handler: async (request, h) => {
      const run = await inCompany(request, trx => requestCheck(deps, request, trx))
      return deps.catalog.answerStarted(request, h, 'Check', run, { asset_id: run.assetId })
    },
  })
