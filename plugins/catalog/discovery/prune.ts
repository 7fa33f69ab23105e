import type { Database } from '../../../server/database/database.ts'
import type { Config } from '../../../server/settings/config.ts'
import type { PartitionFamily } from '../../../server/database/partitions.ts'
import Joi from 'joi'
import type { Job } from '../../../server/jobs/jobs.ts'
import { deleteFirst, prune, type Pace } from '../../../server/database/prune.ts'
import { pruneUsage } from '../sources/usage.ts'

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
    deleted: await pruneRuns(server, { signal }),
    usage: await pruneUsage(server, { signal }),
  }),
}

const DELETE_OLD_RUNS = deleteFirst('runs', 'created_at', 'created_at < now() - make_interval(days => :days)')

/** Deletes runs that are too old. @returns how many */
export function pruneRuns({ db, config }: { db: Database; config: Config }, pace?: Pace): Promise<number> {
  return prune(db.system, DELETE_OLD_RUNS, { days: config.retentionChangesDays }, pace)
}

export const schemaChangePartitions: PartitionFamily = {
  name: 'schema_changes',
  retention: 'retentionChangesDays',
  tables: [
    {
      table: 'schema_changes',
      by: 'detected_at',
      // Only vacuumed pages are not read again: vacuum after 2 % of changes, not 20.
      storage: `with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
        autovacuum_analyze_scale_factor = 0.02)`,
    },
  ],
}
