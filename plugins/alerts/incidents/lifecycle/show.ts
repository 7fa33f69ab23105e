import { companyOf, rows, type Transaction } from '../../../../server/database/database.ts'
import { leastUuid } from '../../../../server/database/months.ts'
import { toApiNames } from '../../../../server/http/fields.ts'
import type { Deps } from '../../deps.ts'
import { Alert } from '../../models.ts'
import { presentActivities, readActorNames } from '../../people/timeline.ts'
import { showAlert } from '../../present.ts'
import { IncidentActivity } from '../models.ts'
import { readAround } from './around.ts'
import { findIncident, readShown } from './lists.ts'
import { ListedIncident, presentIncident, presentMember, type ShownAlert } from './present.ts'

/** Shown with an incident. */
const MAX_SHOWN = 200
const MAX_MESSAGES = 100
const DAY_MS = 86_400_000

type ShowDeps = Pick<Deps, 'kinds' | 'log' | 'config' | 'lookUps'>

/** An incident with what caused it, its alerts, its timeline and its messages. @throws 404 `INCIDENT_NOT_FOUND` */
export async function showIncident(deps: ShowDeps, trx: Transaction, id: string) {
  await findIncident(trx, id)
  const [incident] = await readShown(trx, ListedIncident.query(trx).where({ id }))
  if (!incident) throw new Error(`Incident ${id} vanished within a transaction`)
  const alerts = await rows<ShownAlert>(
    trx,
    `select a.id, a.title, a.kind, a.severity, a.status, a.asset_id, a.created_at, a.last_seen_at, a.resolved_at,
            a.event #>> '{asset,qualified_name}' as qualified_name, ia.reason as membership, ia.placed_by
       from incident_alerts ia join alerts a on a.company_id = :companyId and a.id = ia.alert_id
      where ia.company_id = :companyId and ia.incident_id = :id
      order by a.created_at, a.id limit ${MAX_SHOWN}`,
    { companyId: companyOf(trx), id },
  )
  const activities = await IncidentActivity.query(trx)
    .where({ incidentId: id })
    .orderBy('id', 'desc')
    .limit(MAX_SHOWN)
  const names = await readActorNames(
    trx,
    alerts.flatMap(({ placedBy }) => placedBy ?? []),
  )
  const [around] = await readAround(deps.lookUps, trx, [incident])
  const downstream =
    (await deps.lookUps.lineage?.countDownstream(
      trx,
      alerts.map(({ assetId }) => [assetId]),
    )) ?? []
  return {
    ...presentIncident(deps.config.baseUrl, incident, around!),
    cause_alert: await showCauseAlert(deps, trx, incident),
    last_run: await readLastRun(deps, trx, incident),
    alerts: alerts.map((alert, n) => presentMember(alert, incident, names, downstream[n] ?? 0)),
    activities: (await presentActivities(trx, activities)).reverse(),
    messages: await readMessages(trx, incident),
  }
}

async function showCauseAlert(deps: ShowDeps, trx: Transaction, { cause }: ListedIncident) {
  const alert = cause.alert_id === null ? undefined : await Alert.query(trx).findById(cause.alert_id)
  return alert ? showAlert(deps, trx, alert) : null
}

/** The last run that wrote the table of the cause before the incident was opened, in the day before. */
async function readLastRun(
  { lookUps }: ShowDeps,
  trx: Transaction,
  { cause: { asset_id: tableId }, createdAt }: ListedIncident,
) {
  const since = new Date(createdAt.getTime() - DAY_MS)
  const runs = (await lookUps.lineage?.runsOf(trx, [tableId], since)) ?? []
  const run = runs.find(({ lastEventAt }) => lastEventAt <= createdAt)
  return run
    ? {
        job: run.jobName,
        namespace: run.jobNamespace,
        state: run.state,
        at: run.endedAt ?? run.lastEventAt,
        error_message: run.errorMessage,
      }
    : null
}

/** What was sent about an incident, the oldest first. */
async function readMessages(trx: Transaction, { id, createdAt }: ListedIncident) {
  const messages = await rows<object>(
    trx,
    `select * from (
       select d.id, d.destination_id, t.name as destination_name, d.event_type, d.status, d.created_at
         from deliveries d join destinations t on t.company_id = :companyId and t.id = d.destination_id
        where d.company_id = :companyId and d.incident_id = :id and d.id >= :since
        order by d.id desc limit ${MAX_MESSAGES}) newest
      order by id`,
    // Prunes the partitions of earlier months, with a day for wrong clocks.
    { companyId: companyOf(trx), id, since: leastUuid(new Date(createdAt.getTime() - DAY_MS)) },
  )
  return messages.map(toApiNames)
}
