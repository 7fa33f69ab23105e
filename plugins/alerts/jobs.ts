import type { PluginProperties } from '@hapi/hapi'
import Joi from 'joi'
import { rows } from '../../server/database/database.ts'
import type { Job, JobKind } from '../../server/jobs/jobs.ts'
import type { SweepStep } from './api.ts'
import type { AttemptRecorder } from './delivery/delivery-telemetry.ts'
import { makeAttempts } from './delivery/attempts.ts'
import { requeueDelivery } from './delivery/delivery.ts'
import { IS_POSTPONED } from './delivery/postponed.ts'
import { deliverJob, retryJob, type AttemptData } from './delivery/job-kinds.ts'
import { sweepCompanies } from './delivery/sweep-companies.ts'
import type { Deps } from './deps.ts'
import { sendDueDigests } from './digests/send.ts'
import { sendHeldEnds } from './incidents/held-ends.ts'
import { disableFailingDestinations } from './lifecycle/auto-disable.ts'
import { wakeSnoozed } from './lifecycle/transitions.ts'
import { lockFreePendingDelivery } from './locks.ts'
import { escalate } from './escalation/escalate.ts'
import { sendPostponed } from './rules/send-postponed.ts'

/** Per sweep. */
const MAX_REQUEUED = 1_000

/** The jobs of attempts to deliver. */
export function makeAttemptJobs(deps: Deps, recordAttempt: AttemptRecorder): Job<AttemptData>[] {
  const { runAttempt } = makeAttempts(deps, recordAttempt)
  return [deliverJob, retryJob].map(kind => ({ ...kind, work: runAttempt }))
}

/** Wakes snoozed alerts, sends postponed messages, escalates, requeues lost deliveries, disables failing destinations and sends digests. */
export const sweepJob: JobKind = {
  name: 'alerts.sweep',
  data: Joi.object({}),
  every: '* * * * *',
  concurrency: { local: 1 },
}

/** The steps of the sweep, each independent of the success of the others. */
export function sweepSteps(deps: Deps): PluginProperties['alerts']['sweep'] {
  return {
    woken: log => wakeSnoozed(deps, log),
    postponed: log => sendPostponed(deps, log),
    escalated: log => escalate(deps, log),
    resent: log => requeueLost(deps, log),
    ended: log => sendHeldEnds(deps, log),
    disabled: log => disableFailingDestinations(deps, log),
    digested: log => sendDueDigests(deps, log),
  }
}

export function makeSweepJob(steps: Record<string, SweepStep>): Job {
  return {
    ...sweepJob,
    async work(_data, { log }) {
      const counts: Record<string, number> = {}
      const errors: unknown[] = []
      for (const [name, step] of Object.entries(steps)) {
        try {
          counts[name] = await step(log)
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0)
        throw new AggregateError(errors, `Steps of the sweep failed: ${errors.map(String).join('; ')}`)
      return counts
    },
  }
}

/**
 * Sends new jobs for deliveries that have been due for a minute and have no job: it failed for good, was deleted, or never
 * existed because a row was edited by hand. A second job for the same attempt would do no harm, since attempts are claimed;
 * looking for the job keeps a backlog from doubling itself.
 */
async function requeueLost({ db, jobs }: Deps, log: Parameters<SweepStep>[0]): Promise<number> {
  const lost = await db.system(trx =>
    rows<{ id: string; companyId: string }>(trx, LOST_DELIVERIES, [MAX_REQUEUED]),
  )
  return sweepCompanies(log, 'resend lost deliveries', lost, async (companyId, deliveries) => {
    for (const { id } of deliveries)
      await db.company(companyId, async trx => {
        const delivery = await lockFreePendingDelivery(trx, id)
        if (delivery) await requeueDelivery(jobs, trx, delivery)
      })
    return deliveries.length
  })
}

const LOST_DELIVERIES = `
  select id, company_id from deliveries d
   where status = 'pending' and coalesce(next_attempt_at, created_at) < now() - interval '60 seconds'
     and not exists (select 1 from pgboss.job j where j.id = d.job_id and j.name in ('alerts.deliver', 'alerts.retry')
                        and j.state in ('created', 'retry', 'active'))
     and not (${IS_POSTPONED})
     -- The end of the earlier message starts one that waits for it.
     and not (event_type = 'alert.resolved' and job_id is null and exists (
       select 1 from deliveries e where e.company_id = d.company_id
          and (e.alert_id = d.alert_id or e.incident_id = d.incident_id) and e.destination_id = d.destination_id
          and e.event_type = 'alert.triggered' and e.status = 'pending'))
   order by next_attempt_at limit ?`
