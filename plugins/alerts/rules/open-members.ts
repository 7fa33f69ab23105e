import { raw } from 'objection'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { IncidentSummary } from '../messages/message.ts'
import { Alert, IS_OPEN, namedCause } from '../models.ts'

/** An open alert with the incident that it belongs to. */
export class OpenMember extends Alert {
  declare incidentId: string
}

/** In one call, over all incidents. */
const MAX_MEMBERS = 2_000

/** Each incident once, where several alerts or messages name it. */
export function distinctIncidents<I extends IncidentSummary>(incidents: Iterable<I>): I[] {
  return [...new Map([...incidents].map(incident => [incident.id, incident])).values()]
}

/** The open alerts of incidents, the newest first. */
export async function loadOpenMembers(
  trx: Transaction,
  incidentIds: readonly string[],
): Promise<OpenMember[]> {
  if (incidentIds.length === 0) return []
  return OpenMember.query(trx)
    .select('alerts.*', raw('ia.incident_id'))
    .joinRaw('join incident_alerts ia on ia.company_id = :companyId and ia.alert_id = alerts.id', {
      companyId: companyOf(trx),
    })
    .whereRaw('ia.incident_id = any(cast(? as uuid[]))', [[...incidentIds]])
    .whereRaw(`alerts.${IS_OPEN}`)
    .orderBy('alerts.id', 'desc')
    .limit(MAX_MEMBERS)
}

const SUMMARY = `i.id, i.status, i.severity, i.title, i.alert_count, i.created_at,
            ${namedCause('qualified_name')} as cause_asset, i.cause ->> 'alert_id' as cause_alert_id`

/** The incidents that alerts are in now, which may have been merged since. */
export function loadIncidents(
  trx: Transaction,
  alertIds: readonly string[],
): Promise<(IncidentSummary & { alertId: string })[]> {
  return rows(
    trx,
    `select ia.alert_id, ${SUMMARY}
       from incident_alerts ia join incidents i on i.company_id = :companyId and i.id = ia.incident_id
      where ia.company_id = :companyId and ia.alert_id = any(cast(:alertIds as uuid[]))`,
    { companyId: companyOf(trx), alertIds: [...alertIds] },
  )
}

/** Incidents by their ids: of one that was merged, the incident that has its alerts now. */
export async function loadMergedIncidents(
  trx: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, IncidentSummary>> {
  if (ids.length === 0) return new Map()
  const found = await rows<IncidentSummary & { askedId: string }>(
    trx,
    `with recursive chain as (
       select id as asked_id, id, merged_into from incidents
        where company_id = :companyId and id = any(cast(:ids as uuid[]))
       union
       select chain.asked_id, i.id, i.merged_into from chain
         join incidents i on i.company_id = :companyId and i.id = chain.merged_into)
     select chain.asked_id, ${SUMMARY} from chain join incidents i on i.company_id = :companyId and i.id = chain.id
      where chain.merged_into is null`,
    { companyId: companyOf(trx), ids: [...ids] },
  )
  return new Map(found.map(({ askedId, ...incident }) => [askedId, incident]))
}
