/** The running jobs of this process, and how a shutdown ends them. */
import type { Logger } from 'pino'
import type { Database } from '../database/database.ts'
import { withTimeout } from '../with-timeout.ts'

interface DrainDeps {
  db: Database
  pino: Logger
}

export interface Patience {
  /** Time for jobs to finish, in milliseconds. */
  finishMs: number
  /** Time for jobs to stop after their signal aborted, in milliseconds. */
  letGoMs: number
}

export interface Running {
  /** Aborts when jobs are handed back for another process to take up. */
  handingBack: AbortSignal
  has(id: string): boolean
  /** Names the running jobs for operators. */
  describe(): string
  /** Counts a try as running until its work has settled. */
  track<Result>(name: string, id: string, work: () => Promise<Result>): Promise<Result>
  /**
   * Waits for running jobs. Those that take too long are aborted and handed back, without losing a try. Call it after
   * this process has stopped taking up jobs.
   * @param idle resolves when no job runs
   * @returns how many did not stop in time after the abort
   */
  drain(deps: DrainDeps, idle: Promise<unknown>, patience: Patience): Promise<number>
}

export function countRunning(): Running {
  // Two tries of one job may overlap: one that was presumed dead, and the next.
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
    async drain(deps, idle, { finishMs, letGoMs }) {
      if (await isDone(idle, finishMs)) return 0
      const ids = Array.from(running, ({ id }) => id)
      await grantTry(deps, ids)
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

/** Otherwise frequent restarts would use up the tries of long jobs. */
async function grantTry({ db, pino }: DrainDeps, ids: readonly string[]): Promise<void> {
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
