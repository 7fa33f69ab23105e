/** Keeps the counts of queues, which the job engine writes for its dashboard, to a size that an idle service can bear. */
import Joi from 'joi'
import type { Database } from '../database/database.ts'
import type { Job } from './job.ts'

/**
 * The engine writes a row a queue every five seconds, 290 MB a day. In most of them nothing happened: of those one a
 * minute is left. Rows in which jobs waited, ran, came or ended stay, so that no peak and no sum changes. The engine
 * itself may still raise rows of the last hour.
 */
const THIN = `
  with quiet as (
  delete from pgboss.queue_stats s using (
    select id, captured_on,
           row_number() over (partition by name, date_trunc('minute', captured_on) order by captured_on) as place
      from pgboss.queue_stats where captured_on < now() - interval '1 hour') counted
   where counted.place > 1 and s.id = counted.id and s.captured_on = counted.captured_on
     and s.queued_count = 0 and s.active_count = 0
     and coalesce(s.created_delta, 0) + coalesce(s.completed_delta, 0) + coalesce(s.failed_delta, 0) = 0
  returning 1)
  select cast(count(*) as int) as deleted from quiet`

export const thinCountsJob: Job = {
  name: 'queues.thin',
  data: Joi.object({}),
  every: '27 * * * *',
  concurrency: { local: 1 },
  work: async (_data, { server }) => ({ deleted: await thinCounts(server) }),
}

/** Deletes counts of minutes in which nothing happened in a queue, except one of each. @returns how many */
export async function thinCounts({ db }: { db: Database }): Promise<number> {
  const [thinned] = await db.statement<{ deleted: number }>(THIN)
  return thinned?.deleted ?? 0
}
