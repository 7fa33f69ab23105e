/** Jobs that crash their worker process. */
import type { JobWithMetadata } from 'pg-boss'
import type { Logger } from 'pino'
import type { Database } from '../database/database.ts'
import type { Running } from './drain.ts'

/** Processes that one job may crash before it becomes a dead letter. */
const MAX_CRASHES = 3
/** Stored beside a job's data: how many processes it crashed. */
const COUNT = '_crashes'
/** Time after a database outage in which an expired claim does not count as a crash of its job. */
const AFTERMATH_MS = 60_000
/** The engine's error for a job whose worker sent no more heartbeats. */
const HEARTBEAT_TIMEOUT_ERROR = 'job heartbeat timeout'

export class Crashed extends Error {
  override readonly name = 'Crashed'
}

/** Counts crashes by the engine's note on a job's last try, so that jobs that end normally cost no query. */
export interface Crashes {
  /** Whether the process of a job's previous try was lost, as far as this process can know. */
  isAfterLoss(record: JobWithMetadata<object>, running: Pick<Running, 'has'>): boolean
  /**
   * Whether a job after a loss was lost before too: it is tried with no other job of its kind beside it, which would be
   * counted as well if it takes this process down.
   */
  isSuspect(record: JobWithMetadata<object>): boolean
  /** Counts the lost processes of jobs that were claimed together. Call before the next tries begin. */
  count(deps: { db: Database; pino: Logger }, records: readonly JobWithMetadata<object>[]): Promise<void>
  /** @throws Crashed when a counted job has crashed as many processes as it may */
  refuse(record: JobWithMetadata<object>): void
  /** Records a database outage: claims expire then although their processes are alive. */
  noteOutage(): void
}

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
    isSuspect: record => crashesOf(record) > 0,
    async count({ db, pino }, records) {
      if (records.length === 0) return
      await db.statement(
        `update pgboss.job
            set data = data || jsonb_build_object('${COUNT}', coalesce(cast(data ->> '${COUNT}' as int), 0) + 1)
          where name = :name and id = any(cast(:ids as uuid[])) and state = 'active'`,
        { name: records[0]?.name, ids: records.map(({ id }) => id) },
      )
      for (const record of records) {
        const crashes = crashesOf(record) + 1
        pino.warn({ job: record.name, job_id: record.id, crashes }, 'the process of a job was lost')
      }
    },
    refuse(record) {
      const crashes = crashesOf(record) + 1
      if (crashes >= MAX_CRASHES)
        throw new Crashed(`It took down ${crashes} processes: it is tried again when it is redriven`)
    },
  }
}

/** A job's data as sent, without the crash count stored beside it. */
export function sentData({ data }: Pick<JobWithMetadata<object>, 'data'>): Record<string, unknown> {
  const { [COUNT]: _count, ...sent } = (data ?? {}) as Record<string, unknown>
  return sent
}

function crashesOf({ data }: JobWithMetadata<object>): number {
  return Number((data as Record<string, unknown> | null)?.[COUNT] ?? 0)
}

function hasLapsed({ output }: JobWithMetadata<object>): boolean {
  return (output as { value?: { message?: string } } | null)?.value?.message === HEARTBEAT_TIMEOUT_ERROR
}
