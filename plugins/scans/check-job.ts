import type { Request, Server, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, caller, inCompany, routesOf } from '../../server/http/access.ts'
import type { Transaction } from '../../server/database/database.ts'
import { held } from '../../server/http/envelopes.ts'
import { hasErrorData } from '../../server/http/errors.ts'
import { bodyOf, param } from '../../server/http/input.ts'
import { GiveUp, putOffIfBusy, SESSION_WAIT_MS, type Job } from '../../server/jobs/jobs.ts'
import { startedReplies, startedRun, waitHeaders } from '../../server/http/run-accepted.ts'

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
export const checkJob: Job<CheckJobData> = {
  name: 'scans.check',
  data: Joi.object({ company_id: id, source_id: id, run_id: id, table_id: id.optional() }),
  queue: { expireSeconds: EXPIRE_SECONDS, retries: MAX_ATTEMPTS - 1 },
  // One of a source at once leaves its other sessions to what is due.
  concurrency: { isShared: true, local: 4, perGroup: 1 },
  async work(data, { server, attempt, signal }) {
    const { company_id: companyId, run_id: runId, source_id: sourceId, table_id: tableId } = data
    const onProgress = (percent: number) =>
      server.db.company(companyId, trx => server.plugins.catalog.recordProgress(trx, runId, percent))
    try {
      const found = await server.plugins.scans.checkAsset(
        { companyId, sourceId, tableId },
        { signal, onProgress, slotWaitMs: SESSION_WAIT_MS },
      )
      if (!found) return { status: 'cancelled' }
      await finishRun(server, companyId, runId, { result: found })
      return { checks: found.checks, failed: found.failed, errors: found.errors }
    } catch (error) {
      putOffIfBusy(error)
      const isFinal = hasErrorData(error)
      if (isFinal || attempt >= MAX_ATTEMPTS)
        await finishRun(server, companyId, runId, { error: error as Error })
      throw isFinal ? new GiveUp(error.message) : error
    }
  },
}

function finishRun(
  server: Server,
  companyId: string,
  runId: string,
  end: { result: object } | { error: Error },
) {
  return server.db.company(companyId, trx => server.plugins.catalog.finishRun(trx, runId, end))
}

async function requestCheck(request: Request, trx: Transaction) {
  const { companyId } = caller(request)
  const { scans, catalog } = request.server.plugins
  const { table_path: tablePath } = bodyOf<{ table_path?: string } | null>(request) ?? {}
  const target = await scans.resolveTarget(trx, companyId, param(request, 'asset_id'), tablePath)
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
  await request.server.jobs.send(checkJob, data, { trx, group: sourceId })
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
export const checkRoute: ServerRoute = route('POST', '/api/v1/sdk/assets/{asset_id}/check', access.write, {
  description: 'Run all active checks of an asset now',
  notes:
    'Rules, metrics and referential checks of a table, or of all tables of a source, in one job. Replies 202 with the job at once; with `Prefer: wait=N` 200 with the finished job. Pipelines use it as a gate.',
  validate: {
    params: Joi.object({ asset_id: Joi.string().max(1_000).required() }),
    headers: waitHeaders,
    payload: Joi.object({
      table_path: Joi.string()
        .max(1_000)
        .description('Only this table of the source, `catalog.schema.table`.'),
    }).allow(null),
  },
  response: startedReplies(started),
  app: { errors: ['ASSET_NOT_FOUND', 'CONFLICT'] },
  handler: async (request, h) => {
    const run = await inCompany(request, trx => requestCheck(request, trx))
    const { catalog } = request.server.plugins
    return catalog.answerStarted(request, h, 'Check', run, { asset_id: run.assetId })
  },
})
