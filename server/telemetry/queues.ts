/** How the queues of jobs stand, for health and metrics. */
import type { Database } from '../database/database.ts'
import { DEAD_LETTERS } from '../jobs/dead-letters.ts'

export interface Queue {
  name: string
  /** Jobs whose time has not come, that could start, that run, and that failed for good. Up to some seconds old. */
  deferred: number
  ready: number
  active: number
  failed: number
  /** Its dead jobs that were neither redriven nor discarded, up to `MAX_DEAD`. */
  dead: number
  /** Seconds that the first in line has been waiting past its time; 0 when none waits. */
  lagSeconds: number
}

/** Dead letters that are counted: where there are more, their number says nothing new. */
const MAX_DEAD = 10_000
/** Priorities of one queue that are looked at, highest first. */
const MAX_PRIORITIES = 50

/**
 * Counts are those that the engine keeps of each queue. The lag is read from the head of each line: the index by which
 * jobs are taken up gives the first of each priority without reading those behind it, however many there are.
 */
const READ = `
  with recursive head as (
    select q.name, 1 as place, f.priority, f.start_after
      from pgboss.queue q cross join lateral (
        select j.priority, j.start_after from pgboss.job j
         where j.name = q.name and j.state < 'active' and not j.blocked and j.start_after <= now()
         order by j.priority desc, j.created_on limit 1) f
    union all
    select h.name, h.place + 1, f.priority, f.start_after
      from head h cross join lateral (
        select j.priority, j.start_after from pgboss.job j
         where j.name = h.name and j.state < 'active' and not j.blocked and j.start_after <= now()
           and j.priority < h.priority
         order by j.priority desc, j.created_on limit 1) f
     where h.place < ${MAX_PRIORITIES}),
  dead as (
    select queue, count(*) as dead from (
      select source_name as queue from pgboss.job
       where name = :dead and state < 'active' limit ${MAX_DEAD}) letters group by 1)
  select q.name, q.deferred_count as deferred, q.ready_count as ready, q.active_count as active,
         q.failed_count as failed, coalesce(d.dead, 0)::int as dead,
         coalesce((select extract(epoch from now() - min(start_after)) from head h where h.name = q.name), 0)::float8
           as lag_seconds
    from pgboss.queue q left join dead d on d.queue = q.name
   where q.name not like '\\_\\_%' escape '\\'
   order by q.name`

export function readQueues(db: Pick<Database, 'statement'>): Promise<Queue[]> {
  return db.statement<Queue>(READ, { dead: DEAD_LETTERS })
}
