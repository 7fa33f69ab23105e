import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { rows, type Transaction } from '../../server/database/database.ts'
import { claimDue, type Due } from '../../server/database/due.ts'
import { hasCode, hasErrorData } from '../../server/http/errors.ts'
import { GiveUp, type Job } from '../../server/jobs/jobs.ts'
import type { Checked, CheckRequest } from './api.ts'
import { checkSource } from './check.ts'
import type { Slots } from './watched.ts'

const id = Joi.string().guid().required()

/** Tries of a check before it is said to have failed. */
const TRIES = 3
/** Seconds of one check: an hour in which statements may begin, and as long as one may take. */
const LONGEST_CHECK = 7_500
/** Checks at once: in one process, and of one company over all, so that a slow source leaves workers to others. */
const CONCURRENCY = { local: 4, perGroup: 2 }
/** Schedules that are claimed in one statement. */
const BATCH = 50_000

const moment = Joi.string().isoDate().required()

/** Checks what one sweep has claimed of a source; not what another did, since the job of that may still run. */
export const checkJob: Job<{ company_id: string; source_id: string; slots: Slots }> = {
  name: 'freshness.check',
  data: Joi.object({
    company_id: id,
    source_id: id,
    slots: Joi.object({ from: moment, to: moment }).required(),
  }),
  queue: { expireSeconds: LONGEST_CHECK, retries: TRIES - 1 },
  concurrency: CONCURRENCY,
  async work({ company_id: companyId, source_id: sourceId, slots }, { server, attempt, signal }) {
    try {
      const { failed, ...checked } = await check(server, { companyId, sourceId, claimed: slots, signal })
      return { ...checked, failed: failed.length }
    } catch (error) {
      // Its sessions are all in use, or it was paused since the sweep.
      const isForLater = hasCode(error, 'UNAVAILABLE') || hasCode(error, 'CONFLICT')
      if (isForLater || (attempt >= TRIES && !signal.aborted))
        await server.db.company(companyId, trx =>
          handBack(trx, { companyId, sourceId, ...slots, isForLater }),
        )
      if (!isForLater) throw error
      return { measured: 0, failed: 0 }
    }
  },
}

/**
 * Frees what was claimed. Of a source that could not be asked now it is due again, at its own time: the next sweep
 * that finds it active claims it. After a failure it is due when it would have been.
 */
async function handBack(
  trx: Transaction,
  claim: Slots & { companyId: string; sourceId: string; isForLater: boolean },
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
 * Claims what is due, every table once, and asks for one check a source. A table whose check still waits or runs is
 * not claimed again, unless that was lost.
 */
export const dispatchChecks: Job = {
  name: 'freshness.dispatch',
  data: Joi.object({}),
  every: '* * * * *',
  work: (_data, { server }) =>
    server.db.system(async trx => {
      const columns = { interval: 'check_interval', source: 'source_id' }
      const limits = { limit: BATCH, patience: LONGEST_CHECK }
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

/** From the first to the last time that any of them was due at; one is a little later than its Date says. */
function slotsOf(claimed: readonly Due[]): Slots {
  const [from, to] = claimed.reduce(
    ([first, last], { slot }) => [Math.min(first, slot.getTime()), Math.max(last, slot.getTime() + 1)],
    [Infinity, -Infinity],
  )
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
}

/** Checks a table, or all of a source, because a client asked for it. */
export const refreshJob: Job<{ company_id: string; source_id: string; run_id: string; table_id?: string }> = {
  name: 'freshness.refresh',
  data: Joi.object({ company_id: id, source_id: id, run_id: id, table_id: id.optional() }),
  queue: { expireSeconds: LONGEST_CHECK, retries: TRIES - 1 },
  concurrency: CONCURRENCY,
  async work(data, { server, attempt, signal }) {
    const { company_id: companyId, run_id: runId } = data
    if (!(await server.db.company(companyId, trx => begin(trx, companyId, runId))))
      return { status: 'cancelled' }
    try {
      return await refresh(server, data, signal)
    } catch (error) {
      const isLast = error instanceof GiveUp || (attempt >= TRIES && !signal.aborted)
      if (isLast) await server.db.company(companyId, trx => fail(server, trx, runId, error as Error))
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
    schedulesOf(trx, companyId, sourceId, tableId),
  )
  const { failed, ...checked } = await check(server, { companyId, sourceId, scheduleIds, signal })
  const tables = failed.map(({ asset, error }) => ({ asset, status: 'error', error_message: error.message }))
  const [first] = failed
  await server.db.company(companyId, trx =>
    checked.measured === 0 && first
      ? fail(server, trx, runId, first.error)
      : server.plugins.catalog.finishRun(trx, runId, {
          result: { ...checked, failed: failed.length, tables },
        }),
  )
  return { ...checked, failed: failed.length }
}

/** A source that is gone stays gone, and what people asked for of a paused one fails; one that is busy is asked again. */
async function check(server: Server, request: CheckRequest & { claimed?: Slots }): Promise<Checked> {
  try {
    return await checkSource(server, request)
  } catch (error) {
    const mayPass = hasCode(error, 'UNAVAILABLE') || (request.claimed && hasCode(error, 'CONFLICT'))
    if (hasErrorData(error) && !mayPass) throw new GiveUp(error.message)
    throw error
  }
}

/** @returns false when the run was cancelled meanwhile */
async function begin(trx: Transaction, companyId: string, runId: string): Promise<boolean> {
  const begun = await rows(
    trx,
    `update runs set status = 'running', started_at = coalesce(started_at, now())
     where company_id = ? and id = ? and status in ('pending', 'running') returning id`,
    [companyId, runId],
  )
  return begun.length > 0
}

async function fail(server: Server, trx: Transaction, runId: string, error: Error): Promise<void> {
  await server.plugins.catalog.finishRun(trx, runId, { error })
}

async function schedulesOf(
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
