import { rows, type Transaction } from '../../server/database/database.ts'
import { apiError } from '../../server/http/errors.ts'
import type { AuthDeps } from './deps.ts'
import { lockFirstAccount } from './locks.ts'

/** The users of the demo company come with the service. */
const HAS_USER = `
  select from users u join companies c on c.company_id = u.company_id where not c.is_demo limit 1`

/** Whether a person without an invitation may register: the first one always may. */
export async function isRegistrationOpen({ config, db }: Pick<AuthDeps, 'config' | 'db'>): Promise<boolean> {
  return config.registrationEnabled || (await db.statement(HAS_USER)).length === 0
}

/**
 * Requires that a person without an invitation may register. Where the operator has closed registration, transactions
 * that would create the first account wait for each other, so that one creates it.
 * @param trx a system transaction that has taken no lock but on an email
 * @throws 403
 */
export async function requireOpenRegistration(
  trx: Transaction,
  { config }: Pick<AuthDeps, 'config'>,
): Promise<void> {
  if (config.registrationEnabled) return
  await lockFirstAccount(trx)
  if ((await rows(trx, HAS_USER)).length > 0) throw registrationClosed()
}

export function registrationClosed() {
  return apiError('FORBIDDEN', 'Registration is closed here: ask an admin of your company for an invitation')
}
