/** How the jobs of this process end when it does. */
import { setTimeout as wait } from 'node:timers/promises'
import type { JobWithMetadata } from 'pg-boss'
import type { Server } from '@hapi/hapi'

/** Milliseconds that jobs get when the process ends. */
export interface Patience {
  /** To come to their end by themselves. */
  finishMs: number
  /** To let go once they are told to. */
  letGoMs: number
}

/** The jobs that this process works right now. */
export interface Running {
  /** Aborts when jobs are to be handed back: another process takes them up. */
  handingBack: AbortSignal
  /** Counts a job as running until its work has settled. */
  track<Result>(record: Pick<JobWithMetadata, 'id'>, work: Promise<Result>): Promise<Result>
  /**
   * Waits for what runs; what takes too long is told to hand itself back, for no fault of its own: it gets another
   * try for the one that it loses. To be called when no more jobs are taken up.
   * @param idle resolves when nothing runs any more
   * @returns how many did not even let go in time
   */
  drain(server: Server, idle: Promise<unknown>, patience: Patience): Promise<number>
}

/** Keeps count of running jobs. */
export function countRunning(): Running {
  const running = new Set<string>()
  const ending = new AbortController()
  return {
    handingBack: ending.signal,
    async track({ id }, work) {
      running.add(id)
      try {
        return await work
      } finally {
        running.delete(id)
      }
    },
    async drain(server, idle, { finishMs, letGoMs }) {
      if (await isDone(idle, finishMs)) return 0
      await grantTry(server, [...running])
      ending.abort(new Error('The process ends'))
      await isDone(idle, letGoMs)
      return running.size
    },
  }
}

async function isDone(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const timer = new AbortController()
  const late = wait(milliseconds, false, { signal: timer.signal }).catch(() => false)
  const isInTime = await Promise.race([work.then(() => true), late])
  timer.abort()
  return isInTime
}

/** A process that ends often would else use up the tries of jobs that take long. */
async function grantTry({ db, pino }: Server, ids: readonly string[]): Promise<void> {
  try {
    await db.statement(
      `update pgboss.job set retry_limit = retry_limit + 1
        where id = any(cast(:ids as uuid[])) and state = 'active'`,
      { ids },
    )
  } catch (error) {
    pino.warn({ err: (error as Error).message }, 'jobs that are handed back lose a try')
  }
}
