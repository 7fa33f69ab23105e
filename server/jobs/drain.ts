/** The jobs of this process, and how they end when it does. */
import type { Server } from '@hapi/hapi'
import { withTimeout } from '../with-timeout.ts'

/** Milliseconds that jobs get when the process ends. */
export interface Patience {
  /** To come to their end by themselves. */
  finishMs: number
  /** To stop after their signal aborted. */
  letGoMs: number
}

/** The jobs that this process works right now. */
export interface Running {
  /** Aborts when jobs are to be handed back: another process takes them up. */
  handingBack: AbortSignal
  /** Whether a try of this job runs. */
  has(id: string): boolean
  /** Which run, as a text for operators. */
  describe(): string
  /** Counts a try as running until its work has settled. */
  track<Result>(name: string, id: string, work: () => Promise<Result>): Promise<Result>
  /**
   * Waits for what runs; what takes too long is aborted and handed back, through no fault of its own: it gets another
   * try for the one that it loses. To be called when no more jobs are taken up.
   * @param idle resolves when nothing runs any more
   * @returns how many did not even let go in time
   */
  drain(server: Server, idle: Promise<unknown>, patience: Patience): Promise<number>
}

/** Keeps count of running jobs. */
export function countRunning(): Running {
  // Two tries of one job may overlap: one that was taken for dead, and the next.
  const running = new Set<{ name: string; id: string }>()
  const ending = new AbortController()
  return {
    handingBack: ending.signal,
    has: id => [...running].some(one => one.id === id),
    describe: () => [...running].map(({ name, id }) => `${name} ${id}`).join(', '),
    async track(name, id, work) {
      const one = { name, id }
      running.add(one)
      try {
        return await work()
      } finally {
        running.delete(one)
      }
    },
    async drain(server, idle, { finishMs, letGoMs }) {
      if (await isDone(idle, finishMs)) return 0
      await grantTry(
        server,
        Array.from(running, ({ id }) => id),
      )
      ending.abort(new Error('The process ends'))
      await isDone(idle, letGoMs)
      return running.size
    },
  }
}

/** Whether work settles in time. @throws what it throws */
function isDone(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  return withTimeout(
    work.then(() => true),
    milliseconds,
    () => false,
  )
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
