/** Jobs that take down the process that works them. */
import type { JobWithMetadata } from 'pg-boss'
import type { Server } from '@hapi/hapi'
import type { Running } from './drain.ts'

/** Processes that one job may take down before it is parked among the dead. */
const MAX_CRASHES = 3
/** What is kept beside a job's data: how many processes it took down. */
const COUNT = '_crashes'
/** Milliseconds after an outage of the database in which a claim that lapsed says nothing of its job. */
const AFTERMATH_MS = 60_000
/** What the engine notes of a job whose worker gave no sign of life any more. */
const HEARTBEAT_TIMEOUT_ERROR = 'job heartbeat timeout'

/** Why a job is not tried again. */
export class Crashed extends Error {
  override readonly name = 'Crashed'
}

/** Counts crashes by the engine's note on a job's last try, so that jobs that end normally cost nothing. */
export interface Crashes {
  /** Whether the process of a job's previous try was lost, as far as this process can know. */
  isAfterLoss(record: JobWithMetadata<object>, running: Pick<Running, 'has'>): boolean
  /**
   * Counts a lost process. To be called before the next try begins.
   * @throws Crashed when the job has taken down as many processes as it may
   */
  count(server: Server, record: JobWithMetadata<object>): Promise<void>
  /** Notes that the database was away: claims lapse then while their processes are well. */
  noteOutage(): void
}

/** Keeps count. */
export function countCrashes(): Crashes {
  let outageAt = -Infinity
  return {
    noteOutage() {
      outageAt = performance.now()
    },
    isAfterLoss(record, running) {
      if (record.retryCount === 0 || !hasLapsed(record)) return false
      // The process that had it is this one, and lives; or it lived through an outage as this one did.
      return !running.has(record.id) && performance.now() - outageAt >= AFTERMATH_MS
    },
    async count(server, record) {
      const crashes = crashesOf(record) + 1
      await server.db.statement(
        `update pgboss.job set data = data || jsonb_build_object('${COUNT}', cast(:crashes as int))
          where name = :name and id = :id and state = 'active'`,
        { crashes, name: record.name, id: record.id },
      )
      server.pino.warn({ job: record.name, job_id: record.id, crashes }, 'the process of a job was lost')
      if (crashes >= MAX_CRASHES)
        throw new Crashed(`It took down ${crashes} processes: it is tried again when it is redriven`)
    },
  }
}

/** What was sent, without what is kept beside it. */
export function sentData({ data }: Pick<JobWithMetadata<object>, 'data'>): object {
  const { [COUNT]: _count, ...sent } = (data ?? {}) as Record<string, unknown>
  return sent
}

function crashesOf({ data }: JobWithMetadata<object>): number {
  return Number((data as Record<string, unknown> | null)?.[COUNT] ?? 0)
}

function hasLapsed({ output }: JobWithMetadata<object>): boolean {
  return (output as { value?: { message?: string } } | null)?.value?.message === HEARTBEAT_TIMEOUT_ERROR
}
