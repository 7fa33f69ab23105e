import Joi from 'joi'
import { CHECK_ERROR_KINDS, ConnectorError } from '../../connectors/errors.ts'
import { hasErrorData } from '../../server/http/errors.ts'
import { profileAsset } from './profile.ts'
import { runJob } from '../../server/jobs/run-job.ts'
import { SESSION_WAIT_MS } from '../../server/jobs/jobs.ts'

const id = Joi.string().guid().required()
const patterns = Joi.array().items(Joi.string())

/** Seconds of one job: of a source, table after table. */
const EXPIRE_SECONDS = 14_400

interface ProfileJobData {
  company_id: string
  source_id: string
  run_id: string
  table_id?: string
  include_patterns?: string[]
  exclude_patterns?: string[]
}

/** Profiles a table, or tables of a source, because a client asked for it. */
export const profileJob = runJob<ProfileJobData>({
  name: 'profiles.profile',
  data: {
    source_id: id,
    run_id: id,
    table_id: id.optional(),
    include_patterns: patterns,
    exclude_patterns: patterns,
  },
  expireSeconds: EXPIRE_SECONDS,
  async work(data, { server, signal }) {
    const { company_id: companyId, source_id: sourceId, run_id: runId, table_id: tableId, ...chosen } = data
    const { db, config } = server
    const { catalog } = server.plugins
    const onProgress = (percent: number) =>
      db.company(companyId, trx => catalog.recordProgress(trx, runId, percent))
    const target = { companyId, sourceId, tableId, ...chosen }
    const options = { signal, onProgress, slotWaitMs: SESSION_WAIT_MS }
    const result = await profileAsset({ db, config, catalog }, target, options)
    if (!result) return { status: 'cancelled' }
    await db.company(companyId, trx => catalog.finishRun(trx, runId, { result }))
    return { profiled: result.profiled, failed: result.failed }
  },
  fail: (trx, { run_id: runId }, error, { server }) =>
    server.plugins.catalog.finishRun(trx, runId, { error }),
  isFinal: willFailAgain,
})

/** Whether it is the request or the table that is to blame, and not a source that is away for a moment. */
function willFailAgain(error: unknown): boolean {
  if (error instanceof ConnectorError) return CHECK_ERROR_KINDS.has(error.kind)
  return hasErrorData(error)
}
