import type { PartitionFamily } from '../../server/database/partitions.ts'
import Joi from 'joi'
import type { Job } from '../../server/jobs/jobs.ts'
import { prune } from '../../server/database/prune.ts'

/** Per transaction, besides the rows that refer to them. */
const BATCH_ROWS = 500

/**
 * Deletes alerts of all companies that ended more than RETENTION_ALERTS_DAYS ago, once a day. Their deliveries are deleted
 * with them, or with the partition of their month.
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
 * With their history and deliveries, in the order of the index. An alert with a lasting dismissal stays: without it, the next
 * failure of its check would open another.
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
