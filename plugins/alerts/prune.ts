import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { rows } from '../../server/database.ts'
import type { Job } from '../../server/jobs.ts'

/** How long an alert is kept once it is over, in days. */
const KEPT_DAYS = 400
/** Rows that one transaction deletes, besides what goes with them. */
const BATCH = 500

/** Deletes alerts that have been over for 400 days, and tests of destinations as old, of all companies, once a day. */
export const pruneJob: Job = {
  name: 'alerts.prune',
  data: Joi.object({}),
  every: '50 3 * * *',
  concurrency: { local: 1 },
  work: async (_data, { server, signal }) => ({
    alerts: await prune(server, ALERTS, signal),
    tests: await prune(server, TESTS, signal),
  }),
}

/** With their history and deliveries. One company after the other, as the index has them. */
const ALERTS = `
  delete from alerts where id = any(array(
    select a.id from companies c
      join alerts a on a.company_id = c.company_id and a.resolved_at < now() - make_interval(days => :days)
     limit :batch for update of a skip locked))
  returning 1 as gone`

const TESTS = `
  delete from deliveries where id = any(array(
    select id from deliveries where alert_id is null and created_at < now() - make_interval(days => :days)
     order by created_at limit :batch for update skip locked))
  returning 1 as gone`

/** Deletes some in a transaction, until nothing is left or the signal says to stop; the next day goes on. */
async function prune(server: Server, statement: string, signal: AbortSignal): Promise<number> {
  let deleted = 0
  for (let isMore = true; isMore && !signal.aborted;) {
    const gone = await server.db.system(trx => rows(trx, statement, { days: KEPT_DAYS, batch: BATCH }))
    deleted += gone.length
    isMore = gone.length === BATCH
  }
  return deleted
}
