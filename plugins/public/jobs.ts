import Joi from 'joi'
import type { Job } from '../../server/jobs/jobs.ts'
import { deleteFirst, prune } from '../../server/database/prune.ts'

const DELETE_OLD_EVENTS = deleteFirst('anonymous_events', 'at', `at < now() - interval '90 days'`)

/** Deletes anonymous events after 90 days. */
export const pruneEvents: Job = {
  name: 'public.prune',
  data: Joi.object({}),
  every: '41 3 * * *',
  work: async (_data, { server, signal }) => ({
    deleted: await prune(server.db.system, DELETE_OLD_EVENTS, {}, { signal }),
  }),
}
