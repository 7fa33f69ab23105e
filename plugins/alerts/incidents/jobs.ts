import Joi from 'joi'
import { prune } from '../../../server/database/prune.ts'
import type { Job } from '../../../server/jobs/jobs.ts'
import { sweepCompanies } from '../delivery/sweep-companies.ts'
import type { Deps } from '../deps.ts'
import { incidentsJob } from '../lifecycle/notice.ts'
import { IS_OPEN } from '../models.ts'
import { IS_ACTIVE } from './models.ts'
import { reviewByLineage, updateIncidents } from './update.ts'

/** The jobs of incidents. */
export function makeIncidentJobs(deps: Deps): Job[] {
  return [makeUpdateJob(deps) as Job, makeSweepJob(deps), makeReviewJob(deps), pruneJob]
}

function makeUpdateJob(deps: Deps): Job<{ company_id: string; alert_ids: string[] }> {
  return {
    ...incidentsJob,
    work: ({ company_id: companyId, alert_ids: alertIds }) =>
      deps.db.company(companyId, trx => updateIncidents(deps, trx, alertIds)),
  }
}

/** Per sweep. */
const MAX_SWEPT = 1_000

/** Groups open alerts that have no incident, and follows incidents whose alerts are over: those whose jobs were lost. */
function makeSweepJob(deps: Deps): Job {
  return {
    name: 'incidents.sweep',
    data: Joi.object({}),
    every: '* * * * *',
    concurrency: { local: 1 },
    async work() {
      const left = await deps.db.statement<{ id: string; companyId: string }>(LEFT_ALERTS, {
        most: MAX_SWEPT,
        delay: deps.config.incidentDelaySeconds,
      })
      const byCompany = Map.groupBy(left, ({ companyId }) => companyId)
      for (const [companyId, alerts] of byCompany) {
        const ids = alerts.map(({ id }) => id)
        await deps.db.company(companyId, trx => updateIncidents(deps, trx, ids))
      }
      return { swept: left.length }
    },
  }
}

const LEFT_ALERTS = `
  (select a.id, a.company_id from alerts a
    where a.${IS_OPEN} and a.source_id is not null
      and a.asset_id is not null and a.context_data ->> 'is_demo' is distinct from 'true'
      and a.created_at < now() - make_interval(secs => 60 + :delay)
      and not exists (select from incident_alerts i where i.alert_id = a.id)
    limit :most)
  union all
  (select (array_agg(a.id))[1], i.company_id from incidents i
     join incident_alerts ia on ia.incident_id = i.id join alerts a on a.id = ia.alert_id
    where i.${IS_ACTIVE}
    group by i.id, i.company_id
   having bool_and(a.resolved_at < now() - make_interval(secs => 60 + :delay))
    limit :most)`

/** Merges and splits active incidents by lineage that arrived after their alerts, company by company. */
function makeReviewJob(deps: Deps): Job {
  return {
    name: 'incidents.review',
    data: Joi.object({}),
    every: '*/10 * * * *',
    concurrency: { local: 1 },
    async work(_data, { log }) {
      const companies = await deps.db.statement<{ companyId: string }>(
        `select distinct company_id from incidents where ${IS_ACTIVE} and last_alert_at >= now() - interval '1 day'`,
        {},
      )
      const reviewed = await sweepCompanies(log, 'review incidents', companies, async companyId => {
        await deps.db.company(companyId, trx => reviewByLineage(deps, trx))
        return 1
      })
      return { reviewed }
    },
  }
}

/** Per transaction. */
const BATCH_ROWS = 500

/** Deletes incidents of all companies that ended more than RETENTION_ALERTS_DAYS ago, once a day. */
const pruneJob: Job = {
  name: 'incidents.prune',
  data: Joi.object({}),
  every: '55 3 * * *',
  concurrency: { local: 1 },
  work: async (_data, { server, signal }) => ({
    incidents: await prune(
      server.db.system,
      `delete from incidents where id = any(array(
         select i.id from companies c
           join incidents i on i.company_id = c.company_id and i.resolved_at < now() - make_interval(days => :days)
          limit :batch))
       returning 1 as gone`,
      { days: server.config.retentionAlertsDays },
      { batch: BATCH_ROWS, signal },
    ),
  }),
}
