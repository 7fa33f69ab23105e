import { randomBytes } from 'node:crypto'
import type { Server } from '@hapi/hapi'
import { audit, type RequestOrigin } from '../../../server/http/audit.ts'
import type { Plan } from '../../../server/settings/config.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import type { UserAccount } from '../accounts.ts'
import type { User } from '../models.ts'
import { openSession, type SessionTokens } from './sessions.ts'
import { sha256 } from './tokens.ts'
import { LOCK_USER } from '../locks.ts'

/**
 * Makes what is exchanged for a session once: 256 bits, of which the hash is kept.
 * @param input.method how the user was told, for the audit log: `oauth:google`
 * @param seconds until it ends
 */
export async function issueTicket(
  trx: Transaction,
  input: { companyId: string; userId: string; method: string },
  seconds: number,
): Promise<string> {
  const ticket = randomBytes(32).toString('base64url')
  await rows(
    trx,
    `insert into tickets (ticket_hash, company_id, user_id, method, expires_at)
     values (:hash, :companyId, :userId, :method, now() + :seconds * interval '1 second')`,
    { ...input, hash: sha256(ticket), seconds },
  )
  return ticket
}

// The user's row first, as changing a password and disabling take it: whoever comes second sees what the first did.
const FIND_TICKET = `
  select u.*, c.name as company_name, c.plan
  from tickets t
  join users u on u.id = t.user_id and u.company_id = t.company_id
  join companies c on c.company_id = t.company_id
  where t.ticket_hash = :hash ${LOCK_USER}`

const USE_TICKET = `
  update tickets set used_at = now()
  where ticket_hash = :hash and used_at is null and expires_at > now() returning method`

const RECORD_SIGN_IN = `
  update users set last_login_at = now()
  where id = :id and company_id = :companyId and is_active returning last_login_at`

/**
 * Opens a session for a ticket.
 * @param origin where the request came from, for the audit log
 * @throws 401 `INVALID_TOKEN`
 */
export async function redeemTicket(
  server: Server,
  ticket: string,
  origin: RequestOrigin,
): Promise<SessionTokens & UserAccount> {
  const opened = await server.db.system(async trx => {
    const hash = sha256(ticket)
    const [found] = await rows<User & { companyName: string; plan: Plan }>(trx, FIND_TICKET, { hash })
    if (!found) return undefined
    const { companyId, id, companyName: name, plan } = found
    const [used] = await rows<{ method: string }>(trx, USE_TICKET, { hash })
    // The ticket of a disabled user is spent all the same.
    const [signedIn] = used
      ? await rows<Pick<User, 'lastLoginAt'>>(trx, RECORD_SIGN_IN, { id, companyId })
      : []
    if (!used || !signedIn) return undefined
    const tokens = await openSession(server, trx, found)
    await audit(
      trx,
      { companyId, actor: `user:${id}`, ...origin },
      { action: 'user.signed_in', target: { type: 'user', id }, details: { method: used.method } },
    )
    return { ...tokens, user: Object.assign(found, signedIn) as User, company: { companyId, name, plan } }
  })
  if (!opened) {
    throw apiError('INVALID_TOKEN', 'This ticket was used before, or has expired: sign in again')
  }
  return opened
}
