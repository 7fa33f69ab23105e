/** Queue statistics for operators and for the admins of a company, and their commands on dead jobs. */
import { fromKnex, type PgBoss } from 'pg-boss'
import { rows, type Database, type Transaction } from '../database/database.ts'
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
  ids?: readonly string[]
}

/** The jobs of one company, in a transaction of it. */
export interface CompanyJobs {
  trx: Transaction
  companyId: string
}

/** Whose jobs are meant: those of all companies, or those of one. */
export type JobScope = { db: Database } | CompanyJobs

/** The queues of this version, and of others that still hold jobs, sorted by name. */
export function listQueues(jobs: { names(): string[] }, scope: JobScope): Promise<QueueRecord[]> {
  return read<{ lagSeconds: number }>(
    scope,
    `with held as (
       select case name when :dead then source_name else name end as queue, name = :dead as is_dead,
              state, start_after
         from pgboss.job where state not in ('completed', 'cancelled', 'failed')
          and name not like '\\_\\_pgboss\\_\\_%' and ${IN_SCOPE}),
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
  ).then(found =>
    found.map(({ lagSeconds, ...queue }) => {
      const lag_seconds = Math.round(lagSeconds * 10) / 10
      return { ...(toApiNames(queue) as Omit<QueueRecord, 'lag_seconds'>), lag_seconds }
    }),
  )
}

/** @returns dead jobs, the latest first, and how many there are */
export async function listDead(
  scope: JobScope,
  filter: DeadFilter,
  { limit, offset = 0 }: { limit: number; offset?: number },
): Promise<{ dead: DeadRecord[]; total: number }> {
  const [found] = await read<{ total: number; dead: object[] }>(
    scope,
    `with dead as (select * from pgboss.job where ${DEAD_JOB_FILTER})
     select (select cast(count(*) as int) from dead) as total,
       coalesce((select jsonb_agg(to_jsonb(page) order by died_at desc, id) from (
         select id, source_name as queue, created_on as died_at, source_retry_count + 1 as attempts,
           left(coalesce(source_output ->> 'message', source_output #>> '{value,message}'), 500) as reason, data
         from dead order by created_on desc, id limit :limit offset :offset) page), '[]') as dead`,
    { ...chosen(filter), limit, offset },
  )
  const dead = (found?.dead ?? []) as DeadRecord[]
  return { dead: dead.map(job => ({ ...job, died_at: new Date(job.died_at) })), total: found?.total ?? 0 }
}

/** Deletes dead jobs. @returns how many */
export async function discardDead(scope: JobScope, filter: DeadFilter): Promise<number> {
  const [gone] = await read<{ count: number }>(
    scope,
    `with gone as (delete from pgboss.job where ${DEAD_JOB_FILTER} returning id)
     select cast(count(*) as int) as count from gone`,
    chosen(filter),
  )
  return gone?.count ?? 0
}

/** Jobs per statement. */
const BATCH_JOBS = 1_000

/** Sends dead jobs to their queues again. @param within defaults to all companies @returns how many */
export async function redriveDead(
  boss: PgBoss,
  { queue, ids }: DeadFilter,
  within?: CompanyJobs,
): Promise<number> {
  const filter = {
    ...(queue !== undefined && { sourceName: queue }),
    ...(ids && { ids: [...ids] }),
    ...(within && { data: { company_id: within.companyId }, db: fromKnex(within.trx) }),
  }
  let sum = 0
  for (let moved = BATCH_JOBS; moved === BATCH_JOBS; sum += moved) {
    moved = await boss.redrive(DEAD_LETTERS, { ...filter, limit: BATCH_JOBS })
  }
  return sum
}

/**
 * Removes the dead letters of jobs that are tried again without having been redriven, as the engine's dashboard does it:
 * a job that fails once more leaves another one.
 * @param ids of jobs of one queue that were claimed
 */
export async function removeLettersOf(boss: PgBoss, queue: string, ids: readonly string[]): Promise<void> {
  await boss.getDb().executeSql(REMOVE_LETTERS, [queue, [...ids], DEAD_LETTERS])
}

/** Only letters from before the claim: a job may have failed again meanwhile. The root leads to them by an index. */
const REMOVE_LETTERS = `
  delete from pgboss.job letter using pgboss.job j
   where j.name = $1 and j.id = any($2::uuid[])
     and letter.name = $3 and letter.source_root_id = coalesce(j.source_root_id, j.id) and letter.source_id = j.id
     and letter.state < 'active' and letter.created_on < j.started_on`

/**
 * Jobs of the company, if there is one. The jobs' table belongs to the engine and has no row-level security, so the
 * company of the transaction is compared too.
 */
const IN_SCOPE = `(cast(:companyId as text) is null or data ->> 'company_id' = :companyId)
  and (coalesce(current_setting('app.company', true), '') = ''
    or data ->> 'company_id' = current_setting('app.company', true))`

/** Dead jobs that were neither redriven nor discarded. */
const DEAD_JOB_FILTER = `name = :dead and state < 'active' and ${IN_SCOPE}
  and (cast(:queue as text) is null or source_name = :queue)
  and (cast(:ids as uuid[]) is null or id = any(cast(:ids as uuid[])))`

const chosen = ({ queue, ids }: DeadFilter) => ({
  dead: DEAD_LETTERS,
  queue: queue ?? null,
  ids: ids ?? null,
})

function read<Row extends object>(
  scope: JobScope,
  text: string,
  bindings: Record<string, unknown>,
): Promise<Row[]> {
  return 'trx' in scope
    ? rows<Row>(scope.trx, text, { ...bindings, companyId: scope.companyId })
    : scope.db.statement<Row>(text, { ...bindings, companyId: null })
}
