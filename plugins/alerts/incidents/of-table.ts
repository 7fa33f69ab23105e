import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import type { TableIncident } from '../api.ts'

/** Incidents with alerts of a table that were opened since a time, the latest first, at most `limit`: in one statement. */
export function listIncidentsOf(
  trx: Transaction,
  tableId: string,
  { since, limit }: { since: Date; limit: number },
): Promise<TableIncident[]> {
  return rows<TableIncident>(
    trx,
    `select i.title, i.status, coalesce(i.started_at, i.created_at) as at from incidents i
      where i.company_id = :companyId and i.created_at >= :since and i.id in (
        select ia.incident_id from alerts a
          join incident_alerts ia on ia.company_id = :companyId and ia.alert_id = a.id
         where a.company_id = :companyId and a.asset_id = :tableId)
      order by i.created_at desc, i.id desc limit :limit`,
    { companyId: companyOf(trx), tableId, since, limit },
  )
}
