import Joi from 'joi'
import { deleteFirst, prune } from '../../../server/database/prune.ts'
import { ALIAS_DAYS } from '../datasets/aliases.ts'
import type { Job } from '../../../server/jobs/jobs.ts'

/** Evidence for what went wrong is looked for within days; heartbeats of streaming jobs add up. */
const RUN_DAYS = 90

const DELETE_OLD_RUNS = deleteFirst(
  'lineage_runs',
  'last_event_at',
  'last_event_at < now() - make_interval(days => :days)',
)

const DELETE_OLD_ALIASES = deleteFirst(
  'lineage_aliases',
  'last_seen_at',
  'last_seen_at < now() - make_interval(days => :days)',
)

/**
 * Once a day, deletes runs without an event for 90 days, or as long as results are kept, and other names of datasets that
 * no event used for so long as edges are kept.
 */
export const pruneRunsJob: Job = {
  name: 'lineage.prune-runs',
  data: Joi.object({}),
  every: '55 3 * * *',
  concurrency: { local: 1 },
  async work(_data, { server, signal }) {
    const days = Math.min(RUN_DAYS, server.config.retentionResultsDays)
    const runs = await prune(server.db.system, DELETE_OLD_RUNS, { days }, { signal })
    return {
      runs,
      aliases: await prune(server.db.system, DELETE_OLD_ALIASES, { days: ALIAS_DAYS }, { signal }),
    }
  },
}
