import { companyOf, type Transaction } from '../../server/database/database.ts'
import type { AlertsApi } from '../alerts/api.ts'

/**
 * Takes what people set for a removed user, also by their address, and takes them out of teams and rules. What dbt or a
 * comment says of the address stays, as long as it says so.
 */
export async function forgetUser(
  alerts: AlertsApi,
  trx: Transaction,
  { id, email }: { id: string; email: string },
): Promise<void> {
  const where = { companyId: companyOf(trx), email }
  await trx.raw('delete from team_members where company_id = :companyId and email = :email', where)
  await trx.raw(
    `delete from ownerships where company_id = :companyId and email = :email and origin = 'manual'`,
    where,
  )
  await alerts.forgetOwners(trx, [id, email])
}
