/** Replies to requests that start a run: 202 with its job, or 200 with the finished job for callers that wait. */
import type { Request, RouteOptionsResponse } from '@hapi/hapi'
import Joi from 'joi'
import { held, inData, record } from './envelopes.ts'

export const runStatus = Joi.valid('pending', 'running', 'completed', 'failed', 'cancelled')

interface Run {
  id: string
  status: string
}

export const MAX_WAIT_SECONDS = 60

/**
 * Presents a started run.
 * @param what runs, as in "Discovery is pending"
 * @param jobPath where its record is served, without its id
 */
export function presentStarted(what: string, { id, status }: Run, jobPath: string) {
  return { job_id: id, status, message: `${what} is ${status}: follow it at GET ${jobPath}/${id}` }
}

/** The schema of a started run. @param id of the example @param more fields */
export function startedRun(
  what: string,
  { id, jobPath }: { id: string; jobPath: string },
  more: Record<string, Joi.Schema> = {},
  example: object = {},
): Joi.Schema {
  return inData(
    record(
      { job_id: held.id, status: runStatus, message: Joi.string(), ...more },
      { ...presentStarted(what, { id, status: 'pending' }, jobPath), ...example },
    ).label(`Started${what}`),
  )
}

/** The schema of the record of a run. @param result of a completed one */
export function runRecord(result: Joi.Schema, error: Joi.Schema): Joi.ObjectSchema {
  return record({
    job_id: held.id,
    status: runStatus,
    workflow_name: Joi.string().description('What the job does, such as `discovery`.'),
    asset_id: held.id,
    progress: held.integer.min(0).max(100).description('Percent.'),
    result: result.allow(null).description('What a completed job found.'),
    error: error.allow(null).description('Of a failed job.'),
    created_at: held.time,
    completed_at: held.time.allow(null),
  })
}

const finished = runRecord(
  Joi.object().unknown(),
  record({ code: Joi.string().description('Why it failed, for programs.'), message: held.text }),
)
  .label('FinishedRun')
  .description('With `Prefer: wait=N`: the job, which ended in time')

/** The `response` of a route that starts a run. @param more replies by status */
export function startedReplies(
  started: Joi.Schema,
  more: Record<number, Joi.Schema> = {},
): RouteOptionsResponse {
  return { status: { 200: inData(finished), 202: started, ...more }, sample: 0 }
}

export const waitHeaders = Joi.object({
  prefer: Joi.string()
    .description(
      `\`wait=N\` waits for the job to end, N seconds at most (up to ${MAX_WAIT_SECONDS}): the answer is then 200 with the finished job, else 202.`,
    )
    .example('wait=30'),
}).unknown()

/**
 * Seconds that the caller is ready to wait, from `Prefer: wait=N` (RFC 7240), 0 to 60; longer ones count as 60.
 * Preferences that are unknown or malformed are ignored, as the RFC asks.
 */
export function preferredWait({ headers }: Pick<Request, 'headers'>): number {
  const { prefer = '' } = headers as { prefer?: string }
  const [, seconds = '0'] = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(prefer) ?? []
  return Math.min(Number(seconds), MAX_WAIT_SECONDS)
}
