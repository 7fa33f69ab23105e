import Joi from 'joi'
import type { PartialModelObject } from 'objection'
import type { Transaction } from '../../server/database/database.ts'
import { claimDue, dueAgain, type Due } from '../../server/database/due.ts'
import { hasCode } from '../../server/http/errors.ts'
import { SESSION_WAIT_MS, type Job, type JobKind } from '../../server/jobs/jobs.ts'
import { runKind, workRun } from '../../server/jobs/run-job.ts'
import type { FreshnessApi, SlotRange } from './api.ts'
import type { FreshnessDeps } from './deps.ts'
import { Schedule } from './models.ts'

const id = Joi.string().guid().required()

/** One hour in which statements may start, plus the longest statement. */
const MAX_CHECK_SECONDS = 7_500
/** Checks at once of a company over all processes: slow sources must not take all workers. */
const CHECKS_PER_COMPANY = 2
const SCHEDULES_PER_CLAIM = 50_000

const moment = Joi.string().isoDate().required()

interface CheckJobData {
  company_id: string
  source_id: string
  slots: SlotRange
}

/** Checks the schedules of a source that one sweep claimed. Claims of another sweep belong to its own job. */
export const checkJob = runKind<CheckJobData>({
  name: 'freshness.check',
  data: { source_id: id, slots: Joi.object({ from: moment, to: moment }).required() },
  expireSeconds: MAX_CHECK_SECONDS,
  perGroup: CHECKS_PER_COMPANY,
})

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
  expireSeconds: MAX_CHECK_SECONDS,
  perGroup: CHECKS_PER_COMPANY,
})

/** Claims due schedules and sends one check per source. */
export const dispatchChecks: JobKind = {
  name: 'freshness.dispatch',
  data: Joi.object({}),
  every: '* * * * *',
}

/** The checks that a sweep or a caller asks for, and the sweep. */
export function makeFreshnessJobs(
  deps: Pick<FreshnessDeps, 'catalog' | 'db' | 'jobs'>,
  { checkSource }: Pick<FreshnessApi, 'checkSource'>,
): Job[] {
  const { catalog, db } = deps
  const check = workRun(checkJob, {
    async work({ company_id: companyId, source_id: sourceId, slots: claimed }, { signal }) {
      try {
        const { failed, ...checked } = await checkSource({ companyId, sourceId, claimed, signal })
        return { ...checked, failed: failed.length }
      } catch (error) {
        // All sessions of the source are in use, or it was paused after the sweep.
        if (!hasCode(error, 'UNAVAILABLE') && !hasCode(error, 'CONFLICT')) throw error
        await db.company(companyId, trx => endSlots(trx, sourceId, claimed, dueAgain()))
        return { measured: 0, failed: 0 }
      }
    },
    fail: (trx, { source_id: sourceId, slots }) => endSlots(trx, sourceId, slots, { runningSlot: null }),
  })
  const refresh = workRun(refreshJob, {
    async work({ company_id: companyId, source_id: sourceId, run_id: runId, table_id: tableId }, { signal }) {
      if (!(await db.company(companyId, trx => catalog.recordProgress(trx, runId, 0))))
        return { status: 'cancelled' }
      const scheduleIds = await db.company(companyId, trx => findScheduleIds(trx, sourceId, tableId))
      const request = { companyId, sourceId, scheduleIds, signal, slotWaitMs: SESSION_WAIT_MS }
      const { failed, ...checked } = await checkSource(request)
      const tables = failed.map(({ asset, error }) => ({
        asset,
        status: 'error',
        error_message: error.message,
      }))
      const [first] = failed
      const end =
        checked.measured === 0 && first
          ? { error: first.error }
          : { result: { ...checked, failed: failed.length, tables } }
      await db.company(companyId, trx => catalog.finishRun(trx, runId, end))
      return { ...checked, failed: failed.length }
    },
    fail: (trx, { run_id: runId }, error) => catalog.finishRun(trx, runId, { error }),
  })
  return [check as Job, { ...dispatchChecks, work: () => dispatch(deps) }, refresh as Job]
}

/** Changes the schedules of a source that one sweep claimed and that have no result yet. */
async function endSlots(
  trx: Transaction,
  sourceId: string,
  { from, to }: SlotRange,
  columns: PartialModelObject<Schedule>,
): Promise<void> {
  await Schedule.query(trx).where({ sourceId }).whereBetween('runningSlot', [from, to]).patch(columns)
}

/**
 * Claims due schedules and sends one check per source, which reads its tables together. A table whose check is queued or
 * running is not claimed again, unless that check was lost.
 */
async function dispatch({ db, jobs }: Pick<FreshnessDeps, 'db' | 'jobs'>) {
  return db.system(async trx => {
    const columns = { interval: 'check_interval', source: 'source_id' }
    const limits = { limit: SCHEDULES_PER_CLAIM, patience: MAX_CHECK_SECONDS }
    const due = await claimDue(trx, 'freshness_schedules', columns, limits)
    const bySource = Map.groupBy(due, ({ sourceId }) => sourceId)
    const items = [...bySource].map(([sourceId, claimed]) => {
      const { companyId } = claimed[0]!
      return {
        data: { company_id: companyId, source_id: sourceId, slots: slotsOf(claimed) },
        group: companyId,
      }
    })
    await jobs.sendAll(checkJob, items, { trx })
    return { sources: items.length, schedules: due.length }
  })
}

/** The range of due times; 1 ms is added to the end because a Date drops microseconds. */
function slotsOf(claimed: readonly Due[]): SlotRange {
  const times = claimed.map(({ slot }) => slot.getTime()).toSorted((one, other) => one - other)
  return { from: new Date(times[0]!).toISOString(), to: new Date(times.at(-1)! + 1).toISOString() }
}

/** The schedule of a table, active or not; without one, the active schedules of a source. */
async function findScheduleIds(trx: Transaction, sourceId: string, tableId?: string): Promise<string[]> {
  const which = tableId === undefined ? { isActive: true } : { tableId }
  const schedules = await Schedule.query(trx)
    .where({ sourceId, ...which })
    .select('id')
  return schedules.map(({ id }) => id)
}
