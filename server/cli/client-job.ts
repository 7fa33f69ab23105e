/** Waiting for a job of a remote service. */
import { setTimeout as pause } from 'node:timers/promises'
import { type ServiceClient } from './client.ts'
import { ServiceError } from './service-error.ts'
import { CommandError, EXIT } from './command.ts'
import { oneLine } from './terminal-text.ts'

export interface JobFailure {
  code: string
  message: string
}

export interface FinishedJob<Result> {
  status: 'completed' | 'failed' | 'cancelled'
  result: Result | null
  error: JobFailure | null
}

/** How a command waits for a job. */
export interface JobWatch {
  signal: AbortSignal
  /** Receives progress lines for a person. */
  note(line: string): void
}

/** Delays between polls; the last one repeats. */
const POLL_DELAYS_MS = [100, 200, 700, 1_000, 2_000, 3_000]
/** The service may restart meanwhile: its workers finish the job or resume it. */
const MAX_UNAVAILABLE_MS = 120_000
/** Age from which a job that no worker has taken is worth a note. */
const PENDING_NOTE_MS = 15_000

/**
 * Waits for a job of the service to end. Notes once when no worker takes it for long.
 * @param path of the job's record, below `/api/v1`
 * @param options `what` names the job in messages, `instead` says what to do when there are no workers, `noteAfterMs`
 *   defaults to 15,000
 * @throws CommandError when the time is over first, or the service is unreachable for two minutes
 */
export async function waitForJob<Result>(
  client: ServiceClient,
  path: string,
  options: { what: string; instead?: string; note(line: string): void; noteAfterMs?: number },
  signal: AbortSignal,
): Promise<FinishedJob<Result>> {
  const { what, instead, note, noteAfterMs = PENDING_NOTE_MS } = options
  let status = 'pending'
  const startedAt = performance.now()
  let answeredAt = startedAt
  let isNoted = false
  const workerHint = 'does a process with ROLE all or worker run there?'
  const notePending = () => {
    if (isNoted || status !== 'pending' || performance.now() - startedAt < noteAfterMs) return
    isNoted = true
    note(`${what} waits for a worker: ${workerHint} --timeout limits the waiting`)
  }
  const poll = async () => {
    try {
      const { body } = await client.request<{ data: FinishedJob<Result> }>('GET', path, signal)
      answeredAt = performance.now()
      return body.data
    } catch (error) {
      const isTransient = error instanceof CommandError && error.isTransient
      if (!isTransient || performance.now() - answeredAt > MAX_UNAVAILABLE_MS) throw error
      return null
    }
  }
  try {
    for (let polls = 0; ; polls++) {
      await pause(POLL_DELAYS_MS[Math.min(polls, POLL_DELAYS_MS.length - 1)], undefined, { signal })
      const job = await poll()
      status = job?.status ?? status
      if (job && ['completed', 'failed', 'cancelled'].includes(status)) return job
      notePending()
    }
  } catch (error) {
    if ((signal.reason as Error | undefined)?.name !== 'TimeoutError') throw error
    const advice =
      status === 'pending'
        ? [workerHint, instead].filter(Boolean).join(' ')
        : 'give it more time with --timeout'
    throw new CommandError(`${what} is still ${status}: ${advice}`, EXIT.error, { isTransient: true })
  }
}

/**
 * Starts a job of the service and waits for its result.
 * @param asked `path`, below `/api/v1`, starts it with `body`; its record is below `jobsPath`; `what` names the job in
 *   messages; `needs` says what a credential must have that was refused with 403
 * @throws CommandError when it is refused, fails or is cancelled, and as `waitForJob`
 */
export async function runJob<Result>(
  client: ServiceClient,
  asked: { path: string; jobsPath: string; body?: object | undefined; what: string; needs?: string },
  { signal, note }: JobWatch,
): Promise<Result> {
  const { path, jobsPath, body, what, needs } = asked
  const reply = await client
    .request<{ data: { job_id: string } }>('POST', path, signal, body)
    .catch((error: unknown) => {
      if (needs !== undefined && error instanceof ServiceError && error.status === 403)
        throw new CommandError(`${error.message}: ${needs}`, EXIT.usage)
      throw error
    })
  const job = await waitForJob<Result>(
    client,
    `${jobsPath}/${reply.body.data.job_id}`,
    { what, note },
    signal,
  )
  if (job.status === 'completed' && job.result) return job.result
  const why =
    job.status === 'cancelled' ? 'was cancelled' : `failed: ${job.error?.message ?? 'the reason is unknown'}`
  throw new CommandError(oneLine(`${what} ${why}`), EXIT.error)
}
