import type { PartitionFamily } from '../../server/database/partitions.ts'
import Joi from 'joi'
import type { Job } from '../../server/jobs/jobs.ts'
import { prune } from '../../server/database/prune.ts'

/** Rows that one transaction deletes, besides what goes with them. */
const BATCH_ROWS = 500

/**
 * Deletes alerts that have been over for as long as RETENTION_ALERTS_DAYS says, of all companies, once a day. What was
 * sent goes with its month, if not before with its alert.
 */
export const pruneJob: Job = {
  name: 'alerts.prune',
  data: Joi.object({}),
  every: '50 3 * * *',
  concurrency: { local: 1 },
  work: async (_data, { server, signal }) => ({
    alerts: await prune(
      server.db.system,
      DELETE_ALERTS,
      { days: server.config.retentionAlertsDays },
      { batch: BATCH_ROWS, signal },
    ),
  }),
}

/**
 * With their history and deliveries. One company after the other, as the index has them. An alert whose dismissal lasts
 * stays: without it, the next failure of its check would open another.
 */
const DELETE_ALERTS = `
  delete from alerts where id = any(array(
    select a.id from companies c
      join alerts a on a.company_id = c.company_id and a.resolved_at < now() - make_interval(days => :days)
       and not (a.status = 'dismissed' and a.dismissal_lasts)
     limit :batch for update of a skip locked))
  returning 1 as gone`

/** A pending delivery keeps its month. */
export const deliveryPartitions: PartitionFamily = {
  name: 'deliveries',
  retention: 'retentionAlertsDays',
  tables: [
    { table: 'deliveries', by: 'id', isUuid: true, keepWhere: `status = 'pending'` },
    {
      table: 'delivery_attempts',
      by: 'delivery_id',
      isUuid: true,
      parent: { column: 'delivery_id', table: 'deliveries' },
    },
  ],
}
