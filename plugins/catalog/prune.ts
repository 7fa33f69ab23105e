import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { rows } from '../../server/database.ts'
import type { Job } from '../../server/jobs.ts'
import { pruneUsage } from './usage.ts'

/** Runs that one transaction deletes. */
const BATCH = 5_000

/**
 * Deletes runs that began longer ago than RETENTION_CHANGES_DAYS says, of all companies, once a day; schema changes go
 * with their month.
 */
export const pruneJob: Job = {
  name: 'catalog.prune',
  data: Joi.object({}),
  every: '40 3 * * *',
  concurrency: { local: 1 },
  work: async (_data, { server, signal }) => ({
    ...(await prune(server, { signal })),
    usage: await pruneUsage(server, signal),
  }),
}

/**
 * Deletes what is too old, some in a transaction, until nothing is left or the signal says to stop; the next day
 * goes on. What another transaction holds is left for the next time.
 * @returns how many were deleted, in how many transactions
 */
export async function prune(
  server: Server,
  { batch = BATCH, signal }: { batch?: number; signal?: AbortSignal } = {},
): Promise<{ deleted: number; batches: number }> {
  let [deleted, batches] = [0, 0]
  for (let isMore = true; isMore && !signal?.aborted;) {
    const gone = await server.db.system(trx =>
      rows(
        trx,
        `delete from runs where ctid = any(array(
           select ctid from runs where created_at < now() - make_interval(days => :days)
           order by created_at limit :batch for update skip locked))
         returning 1 as gone`,
        { days: server.config.retentionChangesDays, batch },
      ),
    )
    deleted += gone.length
    batches += 1
    isMore = gone.length === batch
  }
  return { deleted, batches }
}
