import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { rows, type Transaction } from '../../server/database.ts'
import { claimDue } from '../../server/due.ts'
import { hasCode, hasErrorData } from '../../server/errors.ts'
import { GiveUp, type Job } from '../../server/jobs.ts'
import type { Checked, CheckRequest } from './api.ts'
import { checkSource } from './check.ts'

const id = Joi.string().guid().required()

/** Tries of a refresh before its run is said to have failed. */
const TRIES = 3
/** Seconds of one check: an hour in which statements may begin, and as long as one may take. */
const LONGEST_CHECK = 7_500
/** Checks at once: in one process, and of one company over all, so that a slow source leaves workers to others. */
const CONCURRENCY = { local: 4, perGroup: 2 }
/** Schedules that are claimed in one statement. */
const BATCH = 50_000

/** Checks the claimed schedules of one source. */
export const checkJob: Job<{ company_id: string; source_id: string }> = {
  name: 'freshness.check',
  data: Joi.object({ company_id: id, source_id: id }),
  queue: { expireSeconds: LONGEST_CHECK, retries: 2 },
  concurrency: CONCURRENCY,
  async work({ company_id: companyId, source_id: sourceId }, { server }) {
    try {
      const { failed, ...checked } = await check(server, { companyId, sourceId, onlyClaimed: true })
      return { ...checked, failed: failed.length }
    } catch (error) {
      if (!hasCode(error, 'UNAVAILABLE')) throw error
      await server.db.company(companyId, trx => handBack(trx, companyId, sourceId))
      return { measured: 0, failed: 0 }
    }
  },
}

/** What was claimed of a source whose sessions are all in use is due again, at its own time: the next sweep claims it. */
async function handBack(trx: Transaction, companyId: string, sourceId: string): Promise<void> {
  await rows(
    trx,
    `update freshness_schedules set running_slot = null, next_run_at = least(next_run_at, running_slot)
     where company_id = ? and source_id = ? and running_slot is not null`,
    [companyId, sourceId],
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
      const bySource = new Map(due.map(claimed => [claimed.sourceId, claimed]))
      const items = [...bySource.values()].map(({ companyId, sourceId }) => ({
        data: { company_id: companyId, source_id: sourceId },
        group: companyId,
      }))
      await server.jobs.sendAll(checkJob, items, { trx })
      return { sources: items.length, schedules: due.length }
    }),
}

/** Checks a table, or all of a source, because a client asked for it. */
export const refreshJob: Job<{ company_id: string; source_id: string; run_id: string; table_id?: string }> = {
  name: 'freshness.refresh',
  data: Joi.object({ company_id: id, source_id: id, run_id: id, table_id: id.optional() }),
  queue: { expireSeconds: LONGEST_CHECK, retries: TRIES - 1 },
  concurrency: CONCURRENCY,
  async work(data, { server, attempt }) {
    const { company_id: companyId, run_id: runId } = data
    if (!(await server.db.company(companyId, trx => begin(trx, companyId, runId))))
      return { status: 'cancelled' }
    try {
      return await refresh(server, data)
    } catch (error) {
      const isLast = error instanceof GiveUp || attempt >= TRIES
      if (isLast) await server.db.company(companyId, trx => fail(server, trx, runId, error as Error))
      throw error
    }
  },
}

async function refresh(
  server: Server,
  data: { company_id: string; source_id: string; run_id: string; table_id?: string },
): Promise<object> {
  const { company_id: companyId, source_id: sourceId, run_id: runId, table_id: tableId } = data
  const scheduleIds = await server.db.company(companyId, trx =>
    schedulesOf(trx, companyId, sourceId, tableId),
  )
  const { failed, ...checked } = await check(server, { companyId, sourceId, scheduleIds })
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

/** A source that is gone stays gone; one whose sessions are all in use is asked again. */
async function check(server: Server, request: CheckRequest & { onlyClaimed?: true }): Promise<Checked> {
  try {
    return await checkSource(server, request)
  } catch (error) {
    if (hasErrorData(error) && !hasCode(error, 'UNAVAILABLE')) throw new GiveUp(error.message)
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
