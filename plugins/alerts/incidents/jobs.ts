import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { prune } from '../../../server/database/prune.ts'
import type { Job } from '../../../server/jobs/jobs.ts'
import type { AlertGrouping } from '../api.ts'
import { followAlerts } from './grouping/follow.ts'
import { groupAlerts } from './grouping/group.ts'
import { summaryOf } from './grouping/store.ts'
import { Incident, IS_ACTIVE } from './models.ts'

interface UpdateData {
  company_id: string
  alert_ids: string[]
}

/** Alerts of one job. */
const MAX_ALERTS = 1_000

/** Updates the incidents of alerts that were opened or changed their status. */
export const updateJob: Job<UpdateData> = {
  name: 'incidents.update',
  data: Joi.object<UpdateData>({
    company_id: Joi.string().uuid().required(),
    alert_ids: Joi.array().items(Joi.string().uuid()).max(MAX_ALERTS).required(),
  }),
  // One company's jobs wait for each other's lock, with a connection each.
  concurrency: { local: 4, perGroup: 1 },
  queue: { retries: 5, retryDelaySeconds: 1 },
  work: ({ company_id: companyId, alert_ids: alertIds }, { server }) =>
    server.db.company(companyId, trx => updateIncidentsOf(server, trx, alertIds)),
}

/** Groups alerts that have no incident, follows those that have one, and sends what is to be sent. */
export async function updateIncidentsOf(
  server: Server,
  trx: Transaction,
  alertIds: readonly string[],
): Promise<{ grouped: number; changed: number; ended: number }> {
  const { alerts } = server.plugins
  await alerts.lockIncidents(trx)
  const grouped = await groupAlerts(server, trx, alertIds)
  const followed = await followAlerts(trx, await incidentIdsOf(trx, alertIds))
  const changed = [...grouped.changed, ...followed.changed]
  const ended = [...grouped.ended, ...followed.ended]
  await alerts.notifyIncidents(trx, { joined: grouped.joined, changed, ended })
  return { grouped: grouped.joined.length, changed: changed.length, ended: ended.length }
}

async function incidentIdsOf(trx: Transaction, alertIds: readonly string[]): Promise<string[]> {
  const found = await rows<{ incidentId: string }>(
    trx,
    `select distinct incident_id from incident_alerts
      where company_id = :companyId and alert_id = any(cast(:ids as uuid[]))`,
    { companyId: companyOf(trx), ids: [...alertIds] },
  )
  return found.map(({ incidentId }) => incidentId)
}

/** What alerts call. */
export function makeGrouping(server: Server): AlertGrouping {
  return {
    async notice(trx, alertIds) {
      const companyId = companyOf(trx)
      const chunks = Array.from({ length: Math.ceil(alertIds.length / MAX_ALERTS) }, (_, at) =>
        alertIds.slice(at * MAX_ALERTS, (at + 1) * MAX_ALERTS),
      )
      const items = chunks.map(chunk => ({
        data: { company_id: companyId, alert_ids: [...chunk] },
        after: server.config.incidentDelaySeconds,
        group: companyId,
      }))
      await server.jobs.sendAll(updateJob, items, { trx })
    },
    async find(trx, alertIds) {
      const found = await rows<{ alertId: string; incidentId: string }>(
        trx,
        `select alert_id, incident_id from incident_alerts
          where company_id = :companyId and alert_id = any(cast(:ids as uuid[]))`,
        { companyId: companyOf(trx), ids: [...alertIds] },
      )
      const incidents = await Incident.query(trx).findByIds(found.map(({ incidentId }) => incidentId))
      const byId = new Map(incidents.map(incident => [incident.id, summaryOf(incident)]))
      return new Map(
        found.flatMap(({ alertId, incidentId }) => {
          const incident = byId.get(incidentId)
          return incident ? [[alertId, incident] as const] : []
        }),
      )
    },
  }
}

/** Per sweep. */
const MAX_SWEPT = 1_000

/**
 * Groups open alerts that have no incident, and follows incidents whose alerts are over: those of the version before, and
 * those whose jobs were lost.
 */
export const sweepJob: Job = {
  name: 'incidents.sweep',
  data: Joi.object({}),
  every: '* * * * *',
  concurrency: { local: 1 },
  async work(_data, { server }) {
    const left = await server.db.statement<{ id: string; companyId: string }>(
      `(select a.id, a.company_id from alerts a
         where a.status in ('triggered', 'acknowledged', 'snoozed') and a.source_id is not null
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
         limit :most)`,
      { most: MAX_SWEPT, delay: server.config.incidentDelaySeconds },
    )
    const byCompany = Map.groupBy(left, ({ companyId }) => companyId)
    for (const [companyId, those] of byCompany)
      await server.db.company(companyId, trx =>
        updateIncidentsOf(
          server,
          trx,
          those.map(({ id }) => id),
        ),
      )
    return { swept: left.length }
  },
}

/** Per transaction. */
const BATCH_ROWS = 500

/** Deletes incidents of all companies that ended more than RETENTION_ALERTS_DAYS ago, once a day. */
export const pruneJob: Job = {
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
