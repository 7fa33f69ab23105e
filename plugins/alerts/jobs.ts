import Joi from 'joi'
import type { Server } from '@hapi/hapi'
import { rows, type Transaction } from '../../server/database.ts'
import type { Job } from '../../server/jobs.ts'
import { ENDED, settle, startAnew } from './delivery.ts'
import { switchOffHopeless } from './failing.ts'
import { Delivery } from './models.ts'
import { wakeSnoozed } from './moves.ts'

/** Most deliveries that one sweep takes up again. */
const MOST = 1_000

/** Wakes snoozed alerts, finds deliveries whose job was lost, and switches off destinations that nothing reaches. */
export const sweep: Job = {
  name: 'alerts.sweep',
  data: Joi.object({}),
  every: '* * * * *',
  concurrency: { local: 1 },
  async work(_data, { server }) {
    const woken = await server.db.system(wakeSnoozed)
    return { woken, resent: await resendLost(server), disabled: await switchOffHopeless(server) }
  },
}

/**
 * Sends new jobs for deliveries that have been due for a minute and whose job is gone: given up on after
 * crashes, deleted, or never there because a row was edited by hand. A second job for the same attempt would
 * do no harm, since the attempt is claimed; looking the job up keeps a backlog from doubling itself.
 */
async function resendLost(server: Server): Promise<number> {
  const lost = await server.db.system(trx =>
    rows<{ id: string; companyId: string; hasCrashed: boolean }>(
      trx,
      // Looked for by the index of dead letters' origins.
      `select id, company_id, exists (select from pgboss.job j where j.source_root_id = d.job_id
                and j.name = 'jobs.dead' and j.source_output ->> 'name' = 'Crashed') as has_crashed
         from deliveries d
        where status = 'pending' and coalesce(next_attempt_at, created_at) < now() - interval '60 seconds'
          and not exists (select 1 from pgboss.job j where j.id = d.job_id and j.name in ('alerts.deliver', 'alerts.retry')
                             and j.state in ('created', 'retry', 'active'))
          -- One that waits for an earlier message of its alert is started by the end of that one.
          and not (event_type = 'alert.resolved' and job_id is null and exists (
            select 1 from deliveries e where e.company_id = d.company_id and e.alert_id = d.alert_id
               and e.destination_id = d.destination_id and e.event_type = 'alert.triggered' and e.status = 'pending'))
        order by next_attempt_at limit ?`,
      [MOST],
    ),
  )
  for (const { id, companyId, hasCrashed } of lost) {
    await server.db.company(companyId, async trx => {
      const delivery = await Delivery.query(trx).findOne({ id, status: 'pending' }).forUpdate().skipLocked()
      if (!delivery) return
      // Made again, it would take the next process down.
      if (hasCrashed) await endCrashed(server, trx, delivery)
      else await startAnew(server, trx, delivery)
    })
  }
  return lost.length
}

/** Ends a delivery whose attempt took one process after the other down; its row is locked. */
async function endCrashed(server: Server, trx: Transaction, delivery: Delivery): Promise<void> {
  await Delivery.query(trx)
    .where({ id: delivery.id })
    .patch({ ...ENDED, status: 'failed', stoppedReason: 'The attempt took down the processes that made it' })
  await settle(server, trx, delivery)
}
