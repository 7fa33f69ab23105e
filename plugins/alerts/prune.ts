import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { rows } from '../../server/database.ts'
import type { Job } from '../../server/jobs.ts'

/** Rows that one transaction deletes, besides what goes with them. */
const BATCH = 500

/**
 * Deletes alerts that have been over for as long as RETENTION_ALERTS_DAYS says, of all companies, once a day. What was
 * sent goes with its month, if not before with its alert.
 */
export const pruneJob: Job = {
  name: 'alerts.prune',
  data: Joi.object({}),
  every: '50 3 * * *',
  concurrency: { local: 1 },
  work: async (_data, { server, signal }) => ({ alerts: await prune(server, signal) }),
}

/** With their history and deliveries. One company after the other, as the index has them. */
const ALERTS = `
  delete from alerts where id = any(array(
    select a.id from companies c
      join alerts a on a.company_id = c.company_id and a.resolved_at < now() - make_interval(days => :days)
     limit :batch for update of a skip locked))
  returning 1 as gone`

/** Deletes some in a transaction, until nothing is left or the signal says to stop; the next day goes on. */
async function prune(server: Server, signal: AbortSignal): Promise<number> {
  const days = server.config.retentionAlertsDays
  let deleted = 0
  for (let isMore = true; isMore && !signal.aborted;) {
    const gone = await server.db.system(trx => rows(trx, ALERTS, { days, batch: BATCH }))
    deleted += gone.length
    isMore = gone.length === BATCH
  }
  return deleted
}
