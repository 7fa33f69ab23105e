import { raw } from 'objection'
import { companyOf, type Transaction } from '../../../server/database/database.ts'
import { Alert, IS_OPEN } from '../models.ts'

/** An open alert with the incident that it belongs to. */
export class OpenMember extends Alert {
  declare incidentId: string
}

/** Of all incidents of a call together. */
const MAX_MEMBERS = 2_000

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
