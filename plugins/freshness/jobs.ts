import Joi from 'joi'
import type { Transaction } from '../../server/database/database.ts'
import { SESSION_WAIT_MS, type Job } from '../../server/jobs/jobs.ts'
import { runKind, workRun } from '../../server/jobs/run-job.ts'
import { SOURCE_JOB_SECONDS, SOURCE_JOBS_PER_COMPANY } from '../checks/kit.ts'
import type { FreshnessApi, SourceCheckResult } from './api.ts'
import type { FreshnessDeps } from './deps.ts'
import { Schedule } from './models.ts'

const id = Joi.string().guid().required()

interface RefreshJobData {
  company_id: string
  source_id: string
  run_id: string
  table_id?: string
}

/** Checks a table, or all tables of a source, on request. */
export const refreshJob = runKind<RefreshJobData>({
  name: 'freshness.refresh',
  data: { source_id: id, run_id: id, table_id: id.optional() },
  expireSeconds: SOURCE_JOB_SECONDS,
  perGroup: SOURCE_JOBS_PER_COMPANY,
})

/** The check that a caller asks for. */
export function makeRefreshJob(
  { catalog, db }: Pick<FreshnessDeps, 'catalog' | 'db'>,
  { checkSource }: Pick<FreshnessApi, 'checkSource'>,
): Job {
  const refresh = workRun(refreshJob, {
    async work({ company_id: companyId, source_id: sourceId, run_id: runId, table_id: tableId }, { signal }) {
      if (!(await db.company(companyId, trx => catalog.recordProgress(trx, runId, 0))))
        return { status: 'cancelled' }
      const scheduleIds = await db.company(companyId, trx => findScheduleIds(trx, sourceId, tableId))
      const request = { companyId, sourceId, scheduleIds, signal, slotWaitMs: SESSION_WAIT_MS }
      const checked = await checkSource(request)
      const counts = countsOf(checked)
      const { failed, measured } = checked
      const tables = failed.map(({ asset, error }) => ({
        asset,
        status: 'error',
        error_message: error.message,
      }))
      const [first] = failed
      const end = measured === 0 && first ? { error: first.error } : { result: { ...counts, tables } }
      await db.company(companyId, trx => catalog.finishRun(trx, runId, end))
      return counts
    },
    fail: (trx, { run_id: runId }, error) => catalog.finishRun(trx, runId, { error }),
  })
  return refresh as Job
}

/** What a check found, in numbers. */
export function countsOf({ failed, ...checked }: SourceCheckResult) {
  return { ...checked, failed: failed.length }
}

/** The schedule of a table, active or not; without one, the active schedules of a source. */
async function findScheduleIds(trx: Transaction, sourceId: string, tableId?: string): Promise<string[]> {
  const which = tableId === undefined ? { isActive: true } : { tableId }
  const schedules = await Schedule.query(trx)
    .where({ sourceId, ...which })
    .select('uuid')
  return schedules.map(({ uuid }) => uuid)
}
