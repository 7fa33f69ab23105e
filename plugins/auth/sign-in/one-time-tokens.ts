import { randomBytes } from 'node:crypto'
import type { AuditEvent, RequestOrigin } from '../../../server/http/audit.ts'
import type { Plan } from '../../../server/settings/config.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import type { AuthDeps } from '../deps.ts'
import type { ResolvedUser, UserAccount } from '../accounts.ts'
import { auditUser } from '../audit-log/audit-user.ts'
import type { User } from '../models.ts'
import { openSession, type SessionTokens } from './sessions.ts'
import { sha256 } from './tokens.ts'
import { LOCK_USER } from '../locks.ts'

/**
 * Issues a ticket: a token that is exchanged for a session once. Only its hash is stored.
 * @param input.method how the user signed in, for the audit log: `oauth:google`
 * @param seconds its lifetime
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

/**
 * Issues a ticket for a user and audits how the user came to be.
 * @returns undefined for a disabled user; that attempt is audited too
 */
export async function issueUserTicket(
  trx: Transaction,
  { user, event }: ResolvedUser,
  origin: RequestOrigin,
  { method, seconds }: { method: string; seconds: number },
): Promise<string | undefined> {
  const auditWithMethod = (what: AuditEvent) =>
    auditUser(trx, user, origin, { ...what, details: { ...what.details, method } })
  if (!user.isActive) {
    await auditWithMethod({ action: 'user.sign_in_failed', details: { reason: 'disabled' } })
    return undefined
  }
  const ticket = await issueTicket(trx, { companyId: user.companyId, userId: user.id, method }, seconds)
  if (event) await auditWithMethod(event)
  return ticket
}

// Locks the user first, as a change of the password and disabling do: whichever comes second sees the first.
const FIND_TICKET = `
  select u.*, c.name as company_name, c.plan
  from tickets t
  join users u on u.id = t.user_id and u.company_id = t.company_id
  join companies c on c.company_id = t.company_id
  where t.ticket_hash = :hash ${LOCK_USER}`

const FIND_HOLDER = `
  select u.email, c.name as company
  from tickets t
  join users u on u.id = t.user_id and u.company_id = t.company_id
  join companies c on c.company_id = t.company_id
  where t.ticket_hash = :hash and t.used_at is null and t.expires_at > now() and u.is_active`

const USE_TICKET = `
  update tickets set used_at = now()
  where ticket_hash = :hash and used_at is null and expires_at > now() returning method`

const RECORD_SIGN_IN = `
  update users set last_login_at = now()
  where id = :id and company_id = :companyId and is_active returning last_login_at`

const spent = () => apiError('INVALID_TOKEN', 'This ticket was used before or has expired: sign in again')

/** Whose session a ticket opens, without using it. @throws 401 `INVALID_TOKEN` */
export async function findTicketHolder(
  deps: AuthDeps,
  ticket: string,
): Promise<{ email: string; company: string }> {
  const [holder] = await deps.db.system(trx =>
    rows<{ email: string; company: string }>(trx, FIND_HOLDER, { hash: sha256(ticket) }),
  )
  if (!holder) throw spent()
  return holder
}

/** Exchanges a ticket for a session. @throws 401 `INVALID_TOKEN` */
export async function redeemTicket(
  deps: AuthDeps,
  ticket: string,
  origin: RequestOrigin,
): Promise<SessionTokens & UserAccount> {
  const opened = await deps.db.system(async trx => {
    const hash = sha256(ticket)
    const [user] = await rows<User & { companyName: string; plan: Plan }>(trx, FIND_TICKET, { hash })
    if (!user) return undefined
    const { companyId, id, companyName: name, plan } = user
    const [used] = await rows<{ method: string }>(trx, USE_TICKET, { hash })
    // A disabled user's ticket is used up as well.
    const [signedIn] = used
      ? await rows<Pick<User, 'lastLoginAt'>>(trx, RECORD_SIGN_IN, { id, companyId })
      : []
    if (!used || !signedIn) return undefined
    const tokens = await openSession(deps, trx, user)
    await auditUser(trx, user, origin, { action: 'user.signed_in', details: { method: used.method } })
    return { ...tokens, user: Object.assign(user, signedIn) as User, company: { companyId, name, plan } }
  })
  if (opened) return opened
  throw spent()
}
