import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { rows, type Transaction } from '../../server/database/database.ts'
import { claimDue, type Due } from '../../server/database/due.ts'
import { hasCode, hasErrorData } from '../../server/http/errors.ts'
import { GiveUp, putOffIfBusy, SESSION_WAIT_MS, type Job } from '../../server/jobs/jobs.ts'
import type { SourceCheckRequest } from './api.ts'
import { checkSource } from './run/check.ts'
import type { SlotRange } from './run/watched.ts'

const id = Joi.string().guid().required()

const MAX_TRIES = 3
/** One hour in which statements may start, plus the longest statement. */
const MAX_CHECK_SECONDS = 7_500
/** Concurrent checks per process, and per company over all processes: slow sources must not take all workers. */
const CONCURRENCY = { isShared: true, local: 4, perGroup: 2 } as const
const SCHEDULES_PER_CLAIM = 50_000

const moment = Joi.string().isoDate().required()

/** Checks the schedules of a source that one sweep claimed. Claims of another sweep belong to its own job. */
export const checkJob: Job<{ company_id: string; source_id: string; slots: SlotRange }> = {
  name: 'freshness.check',
  data: Joi.object({
    company_id: id,
    source_id: id,
    slots: Joi.object({ from: moment, to: moment }).required(),
  }),
  queue: { expireSeconds: MAX_CHECK_SECONDS, retries: MAX_TRIES - 1 },
  concurrency: CONCURRENCY,
  async work({ company_id: companyId, source_id: sourceId, slots }, { server, attempt, signal }) {
    try {
      const { failed, ...checked } = await checkOrGiveUp(server, {
        companyId,
        sourceId,
        claimed: slots,
        signal,
      })
      return { ...checked, failed: failed.length }
    } catch (error) {
      // All sessions of the source are in use, or it was paused after the sweep.
      const isForLater = hasCode(error, 'UNAVAILABLE') || hasCode(error, 'CONFLICT')
      if (isForLater || (attempt >= MAX_TRIES && !signal.aborted))
        await server.db.company(companyId, trx =>
          handBack(trx, { companyId, sourceId, ...slots, isForLater }),
        )
      if (!isForLater) throw error
      return { measured: 0, failed: 0 }
    }
  },
}

/**
 * Releases claimed schedules. If the source could not be read now, they are due again at their original time, and the
 * next sweep that finds the source active claims them. After a failure they keep their next due time.
 */
async function handBack(
  trx: Transaction,
  claim: SlotRange & { companyId: string; sourceId: string; isForLater: boolean },
): Promise<void> {
  await rows(
    trx,
    `update freshness_schedules set running_slot = null,
       next_run_at = case when cast(:isForLater as boolean) then least(next_run_at, running_slot) else next_run_at end
     where company_id = :companyId and source_id = :sourceId and running_slot between :from and :to`,
    { ...claim },
  )
}

/**
 * Claims due schedules and sends one check per source. A table whose check is queued or running is not claimed again,
 * unless that check was lost.
 */
export const dispatchChecks: Job = {
  name: 'freshness.dispatch',
  data: Joi.object({}),
  every: '* * * * *',
  work: (_data, { server }) =>
    server.db.system(async trx => {
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
      await server.jobs.sendAll(checkJob, items, { trx })
      return { sources: items.length, schedules: due.length }
    }),
}

/** The range of due times; 1 ms is added to the end because a Date drops microseconds. */
function slotsOf(claimed: readonly Due[]): SlotRange {
  const [from, to] = claimed.reduce(
    ([first, last], { slot }) => [Math.min(first, slot.getTime()), Math.max(last, slot.getTime() + 1)],
    [Infinity, -Infinity],
  )
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
}

/** Checks a table, or all tables of a source, on request. */
export const refreshJob: Job<{ company_id: string; source_id: string; run_id: string; table_id?: string }> = {
  name: 'freshness.refresh',
  data: Joi.object({ company_id: id, source_id: id, run_id: id, table_id: id.optional() }),
  queue: { expireSeconds: MAX_CHECK_SECONDS, retries: MAX_TRIES - 1 },
  concurrency: CONCURRENCY,
  async work(data, { server, attempt, signal }) {
    const { company_id: companyId, run_id: runId } = data
    if (!(await server.db.company(companyId, trx => beginRun(trx, companyId, runId))))
      return { status: 'cancelled' }
    try {
      return await refresh(server, data, signal)
    } catch (error) {
      putOffIfBusy(error)
      const isLast = error instanceof GiveUp || (attempt >= MAX_TRIES && !signal.aborted)
      if (isLast) await server.db.company(companyId, trx => failRun(server, trx, runId, error as Error))
      throw error
    }
  },
}

async function refresh(
  server: Server,
  data: { company_id: string; source_id: string; run_id: string; table_id?: string },
  signal: AbortSignal,
): Promise<object> {
  const { company_id: companyId, source_id: sourceId, run_id: runId, table_id: tableId } = data
  const scheduleIds = await server.db.company(companyId, trx =>
    findScheduleIds(trx, companyId, sourceId, tableId),
  )
  const { failed, ...checked } = await checkOrGiveUp(server, {
    ...{ companyId, sourceId, scheduleIds, signal },
    slotWaitMs: SESSION_WAIT_MS,
  })
  const tables = failed.map(({ asset, error }) => ({ asset, status: 'error', error_message: error.message }))
  const [first] = failed
  await server.db.company(companyId, trx =>
    checked.measured === 0 && first
      ? failRun(server, trx, runId, first.error)
      : server.plugins.catalog.finishRun(trx, runId, {
          result: { ...checked, failed: failed.length, tables },
        }),
  )
  return { ...checked, failed: failed.length }
}

/** Fails for good if the source was removed, or a requested refresh finds it paused; retries while it is busy. */
async function checkOrGiveUp(server: Server, request: SourceCheckRequest & { claimed?: SlotRange }) {
  try {
    return await checkSource(server, request)
  } catch (error) {
    const mayPass = hasCode(error, 'UNAVAILABLE') || (request.claimed && hasCode(error, 'CONFLICT'))
    if (hasErrorData(error) && !mayPass) throw new GiveUp(error.message)
    throw error
  }
}

/** @returns false if the run was cancelled */
async function beginRun(trx: Transaction, companyId: string, runId: string): Promise<boolean> {
  const begun = await rows(
    trx,
    `update runs set status = 'running', started_at = coalesce(started_at, now())
     where company_id = ? and id = ? and status in ('pending', 'running') returning id`,
    [companyId, runId],
  )
  return begun.length > 0
}

async function failRun(server: Server, trx: Transaction, runId: string, error: Error): Promise<void> {
  await server.plugins.catalog.finishRun(trx, runId, { error })
}

async function findScheduleIds(
  trx: Transaction,
  companyId: string,
  sourceId: string,
  tableId: string | undefined,
): Promise<string[]> {
  const found = await rows<{ id: string }>(
    trx,
    `select id from freshness_schedules where company_id = :companyId and source_id = :sourceId
       and case when cast(:tableId as uuid) is null then is_active else table_id = :tableId end`,
    { companyId, sourceId, tableId: tableId ?? null },
  )
  return found.map(found => found.id)
}
