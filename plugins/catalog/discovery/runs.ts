import { setTimeout as wait } from 'node:timers/promises'
import type { ResponseObject, ResponseToolkit } from '@hapi/hapi'
import { v7 } from 'uuid'
import { inCompany, type AnyRequest } from '../../../server/http/access.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { preferredWait, presentStarted } from '../../../server/http/run-accepted.ts'
import { failureOf } from '../sources/failures.ts'
import { Run, Source, Table, UNFINISHED } from '../models.ts'
import { presentRun } from '../assets/present.ts'

/** Makes the record of asynchronous work that a client can follow. */
export async function startRun(
  trx: Transaction,
  run: { workflowName: string; sourceId: string; assetId: string },
): Promise<Run> {
  return await Run.query(trx).insertAndFetch({ id: v7(), ...run })
}

/** Ends asynchronous work that was not cancelled meanwhile. */
export async function finishRun(trx: Transaction, runId: string, end: { result: object } | { error: Error }) {
  await Run.query(trx)
    .findById(runId)
    .whereIn('status', [...UNFINISHED])
    .patch({
      completedAt: new Date(),
      ...('result' in end
        ? { status: 'completed' as const, progress: 100, result: end.result }
        : { status: 'failed' as const, error: failureOf(end.error) }),
    })
}

/** Notes how far a run is. @returns false when it was cancelled meanwhile */
export async function recordProgress(trx: Transaction, runId: string, percent: number): Promise<boolean> {
  const noted = await rows(
    trx,
    `update runs set status = 'running', progress = :percent, started_at = coalesce(started_at, now())
     where company_id = :companyId and id = :runId and status in ('pending', 'running') returning id`,
    { companyId: companyOf(trx), runId, percent },
  )
  return noted.length > 0
}

/** A table and its source by the table's id; undefined when either is gone. */
export async function loadTable(trx: Transaction, tableId: string) {
  const table = await Table.query(trx).findById(tableId)
  const source = table && (await Source.query(trx).findById(table.sourceId))
  return source && table ? { source, table } : undefined
}

/** Tables by their ids; those that are gone are missing. */
export async function loadTables(trx: Transaction, tableIds: readonly string[]): Promise<Table[]> {
  return tableIds.length === 0
    ? []
    : Table.query(trx)
        .whereRaw('id = any(?)', [[...tableIds]])
        .orderBy('id')
}

/** Milliseconds between two looks at a run that a request waits for; the last stays. */
const POLL_INTERVALS_MS = [25, 50, 100, 200, 400, 800]

/**
 * Answers a request that started a run: 202 with its job; or 200 with the finished job, where the caller sent
 * `Prefer: wait=N` and it ended in time. A process that drains and a client that hung up end the waiting.
 * @param what runs, as in "Discovery is pending"
 * @param more fields beside the job of an answer with 202
 */
export async function answerStarted(
  request: AnyRequest,
  h: ResponseToolkit,
  what: string,
  run: Run,
  more: object = {},
): Promise<ResponseObject> {
  const seconds = preferredWait(request)
  const ended = seconds > 0 ? await waitForEnd(request, run.id, seconds * 1_000) : undefined
  const reply = ended
    ? h.response({ data: presentRun(ended) }).code(200)
    : h.response({ data: { ...presentStarted(what, run, '/api/v1/sdk/jobs'), ...more } }).code(202)
  return seconds > 0 ? reply.header('Preference-Applied', `wait=${seconds}`) : reply
}

/** The run once it has ended; undefined when it has not by then. */
async function waitForEnd(
  request: AnyRequest,
  runId: string,
  milliseconds: number,
): Promise<Run | undefined> {
  const deadline = performance.now() + milliseconds
  for (let looks = 0; ; looks++) {
    const left = deadline - performance.now()
    if (left <= 0 || request.server.drain.isOn() || !request.active()) return undefined
    await wait(Math.min(left, POLL_INTERVALS_MS[looks] ?? POLL_INTERVALS_MS.at(-1)!))
    const run = await inCompany(request, async trx => Run.query(trx).findById(runId))
    // Its source was removed meanwhile, and the run with it.
    if (!run) return undefined
    if (run.status !== 'pending' && run.status !== 'running') return run
  }
}
