import Joi from 'joi'
import type { Job } from '../../server/jobs.ts'

/** Rows that one statement deletes, so that none runs into its time limit. */
const CHUNK = 10_000

/** Deletes events of nobody in particular after 90 days. */
export const pruneEvents: Job = {
  name: 'public.prune',
  data: Joi.object({}),
  every: '41 3 * * *',
  async work(_data, { server, signal }) {
    let deleted = 0
    for (;;) {
      const gone = await server.db.statement(
        `delete from anonymous_events where id in (
           select id from anonymous_events where at < now() - interval '90 days' order by at limit :chunk
         ) returning id`,
        { chunk: CHUNK },
      )
      deleted += gone.length
      if (gone.length < CHUNK || signal.aborted) return { deleted }
    }
  },
}
