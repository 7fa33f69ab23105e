/** Queue statistics for operators, and their commands on dead jobs. */
import type { PgBoss } from 'pg-boss'
import type { Server } from '@hapi/hapi'
import { toApiNames } from '../http/fields.ts'

/** The dead-letter queue of all kinds of jobs; each dead job holds the name of its own queue. */
export const DEAD_LETTERS = 'jobs.dead'
/** Retention of dead jobs. */
export const DEAD_DAYS = 30

export interface QueueRecord {
  queue: string
  /** Jobs that may start now. */
  waiting: number
  /** Jobs that start later: retries, and jobs sent with a delay. */
  later: number
  running: number
  /** Dead jobs that were neither redriven nor discarded. */
  dead: number
  /** When the longest waiting job could first have started. */
  oldest_waiting_at: Date | null
  /** Seconds since then. */
  lag_seconds: number
}

export interface DeadRecord {
  id: string
  queue: string
  died_at: Date
  attempts: number
  reason: string | null
  data: object
}

/** Selects dead jobs; defaults to all. */
export interface DeadFilter {
  queue?: string
  id?: string
}

/** The queues of this version, and of others that still hold jobs, sorted by name. */
export function listQueues({ db, jobs }: Server): Promise<QueueRecord[]> {
  return db
    .statement<{ lagSeconds: number }>(
      `with held as (
       select case name when :dead then source_name else name end as queue, name = :dead as is_dead,
              state, start_after
         from pgboss.job where state not in ('completed', 'cancelled', 'failed') and name not like '\\_\\_pgboss\\_\\_%'),
     known as (select unnest(cast(:names as text[])) as queue union select queue from held where queue is not null),
     counted as (
       select k.queue,
              count(h.queue) filter (where not is_dead and state < 'active' and start_after <= now()) as waiting,
              count(h.queue) filter (where not is_dead and state < 'active' and start_after > now()) as later,
              count(h.queue) filter (where not is_dead and state = 'active') as running,
              count(h.queue) filter (where is_dead) as dead,
              min(start_after) filter (where not is_dead and state < 'active' and start_after <= now()) as oldest
         from known k left join held h using (queue) group by 1)
     select queue, cast(waiting as int) as waiting, cast(later as int) as later, cast(running as int) as running,
            cast(dead as int) as dead, oldest as oldest_waiting_at,
            cast(coalesce(extract(epoch from now() - oldest), 0) as float8) as lag_seconds
       from counted order by queue`,
      { names: jobs.names(), dead: DEAD_LETTERS },
    )
    .then(found =>
      found.map(({ lagSeconds, ...queue }) => {
        const lag_seconds = Math.round(lagSeconds * 10) / 10
        return { ...(toApiNames(queue) as Omit<QueueRecord, 'lag_seconds'>), lag_seconds }
      }),
    )
}

export async function listDead({ db }: Server, filter: DeadFilter, limit: number) {
  const found = await db.statement<{ total: number }>(
    `select id, source_name as queue, created_on as died_at, source_retry_count + 1 as attempts,
            left(coalesce(source_output ->> 'message', source_output #>> '{value,message}'), 500) as reason, data,
            cast(count(*) over () as int) as total
       from pgboss.job where ${DEAD_JOB_FILTER} order by created_on desc, id limit :limit`,
    { ...chosen(filter), limit },
  )
  const dead = found.map(({ total: _total, ...job }) => toApiNames(job) as DeadRecord)
  return { dead, total: found[0]?.total ?? 0 }
}

/** Deletes dead jobs. @returns how many */
export async function discardDead({ db }: Server, filter: DeadFilter): Promise<number> {
  const [gone] = await db.statement<{ count: number }>(
    `with gone as (delete from pgboss.job where ${DEAD_JOB_FILTER} returning id)
     select cast(count(*) as int) as count from gone`,
    chosen(filter),
  )
  return gone?.count ?? 0
}

/** Jobs per statement. */
const BATCH_JOBS = 1_000

/** Sends dead jobs to their queues again. @returns how many */
export async function redriveDead(boss: PgBoss, { queue, id }: DeadFilter): Promise<number> {
  const filter = { ...(queue !== undefined && { sourceName: queue }), ...(id !== undefined && { ids: [id] }) }
  let sum = 0
  for (let moved = BATCH_JOBS; moved === BATCH_JOBS; sum += moved) {
    moved = await boss.redrive(DEAD_LETTERS, { ...filter, limit: BATCH_JOBS })
  }
  return sum
}

/** Dead jobs that were neither redriven nor discarded. */
const DEAD_JOB_FILTER = `name = :dead and state < 'active'
  and (cast(:queue as text) is null or source_name = :queue) and (cast(:id as uuid) is null or id = :id)`

const chosen = ({ queue, id }: DeadFilter) => ({ dead: DEAD_LETTERS, queue: queue ?? null, id: id ?? null })
