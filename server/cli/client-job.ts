/** Waiting from afar for a job of the service. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from './client.ts'
import { CommandError, EXIT } from './command.ts'

/** Why work failed, as the record of its job says. */
export interface Failure {
  code: string
  message: string
}

/** A job that has ended, as `GET /sdk/jobs/{job_id}` shows it. */
export interface Ended<Result> {
  status: 'completed' | 'failed' | 'cancelled'
  result: Result | null
  error: Failure | null
}

/** Milliseconds between two questions how a job goes; the last stays. */
const POLLS = [100, 200, 700, 1_000, 2_000, 3_000]
/** Milliseconds that the service may be away meanwhile, as while it starts anew: its workers go on, or take up again. */
const AWAY = 120_000

/** Milliseconds after which a job that no worker has taken up is worth a note. */
const PENDING_NOTE_MS = 15_000

/**
 * Waits for a job of the service to end. Notes once that no worker has taken it up, when that takes long.
 * @param told what it is called, what a caller can do instead of waiting for workers, where notes go, and after how
 *   many milliseconds (defaults to 15,000)
 * @throws CommandError when the time is over before it has ended, or nobody answers for two minutes
 */
export async function follow<Result>(
  client: Client,
  jobId: string,
  told: { what: string; instead?: string; note(line: string): void; noteAfterMs?: number },
  signal: AbortSignal,
): Promise<Ended<Result>> {
  let status = 'pending'
  const startedAt = performance.now()
  let answeredAt = startedAt
  let isNoted = false
  const worker = 'does a process with ROLE all or worker run there?'
  const notePending = () => {
    const waitedMs = performance.now() - startedAt
    if (isNoted || status !== 'pending' || waitedMs < (told.noteAfterMs ?? PENDING_NOTE_MS)) return
    isNoted = true
    told.note(`${told.what} waits for a worker: ${worker} --timeout limits the waiting`)
  }
  const ask = async () => {
    try {
      const { body } = await client.ask<{ data: Ended<Result> }>('GET', `/sdk/jobs/${jobId}`, signal)
      answeredAt = performance.now()
      return body.data
    } catch (error) {
      const mayPass = error instanceof CommandError && error.mayPass
      if (!mayPass || performance.now() - answeredAt > AWAY) throw error
      return null
    }
  }
  try {
    for (let polls = 0; ; polls++) {
      await pause(POLLS[Math.min(polls, POLLS.length - 1)], undefined, { signal })
      const job = await ask()
      status = job?.status ?? status
      if (job && ['completed', 'failed', 'cancelled'].includes(status)) return job
      notePending()
    }
  } catch (error) {
    if ((signal.reason as Error | undefined)?.name !== 'TimeoutError') throw error
    const advice =
      status === 'pending'
        ? [worker, told.instead].filter(Boolean).join(' ')
        : 'give it more time with --timeout'
    throw new CommandError(`${told.what} is still ${status}: ${advice}`, EXIT.error, { mayPass: true })
  }
}
