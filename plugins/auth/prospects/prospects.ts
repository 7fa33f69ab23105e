import { randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import { audit, type RequestOrigin } from '../../../server/http/audit.ts'
import { rows } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import type { AuthDeps } from '../deps.ts'
import { findCompany, parseEmail } from '../accounts.ts'
import type { Prospect, IdentityProvider, SignInTicket } from './identity-provider.ts'
import { lockEmail } from '../locks.ts'
import type { User } from '../models.ts'
import { sha256 } from '../sign-in/tokens.ts'

/**
 * Creates a token that signs the owner of an email in, any number of times within 7 days.
 * @param input.company an id or a name; without one, a prospect who has no user gets a company of their own
 * @returns the prospect as the command line prints it; the token is not stored, and the company is null for one of its own
 * @throws 400 `VALIDATION_ERROR` for the email, 404 for the company, 409 `CONFLICT` for a user of another company
 */
export async function createProspect(deps: AuthDeps, input: { email: string; company?: string }) {
  const email = parseEmail(input.email)
  const company = input.company === undefined ? null : await findCompany(deps, input.company)
  const token = randomBytes(32).toString('base64url')
  return deps.db.system(async trx => {
    await lockEmail(trx, email)
    const [user] = await rows<User>(trx, 'select * from users where email = :email', { email })
    if (user && company && user.companyId !== company.companyId)
      throw apiError(
        'CONFLICT',
        `${email} is a user of another company (${user.companyId}): leave --company out to let them sign in there`,
      )
    const companyId = company?.companyId ?? user?.companyId ?? null
    const userId = user?.id ?? null
    const [made] = await rows<{ id: string; expiresAt: Date }>(
      trx,
      `insert into prospects (id, email, company_id, user_id, token_hash, expires_at)
       values (:id, :email, :companyId, :userId, :hash, now() + interval '7 days') returning id, expires_at`,
      { id: uuid(), email, companyId, userId, hash: sha256(token) },
    )
    const { id, expiresAt } = made as { id: string; expiresAt: Date }
    if (companyId !== null) {
      const event = { action: 'prospect.created', target: { type: 'prospect', id }, details: { email } }
      await audit(trx, { companyId, actor: 'cli' }, event)
    }
    return { id, email, token, company_id: companyId, user_id: userId, expires_at: expiresAt }
  })
}

/**
 * Exchanges a prospect's token for a ticket of 5 minutes.
 * @throws 401 `INVALID_TOKEN`, 403 `FORBIDDEN` for a disabled user, 409 `USER_EXISTS` when another person took the email
 */
export async function admitProspect(
  deps: AuthDeps,
  provider: IdentityProvider,
  token: string,
  origin: RequestOrigin,
): Promise<SignInTicket> {
  const admitted = await deps.db.system(async trx => {
    const hash = sha256(token)
    const [row] = await rows<{ email: string }>(
      trx,
      'select email from prospects where token_hash = :hash and expires_at > now()',
      { hash },
    )
    if (!row) return 'unknown'
    await lockEmail(trx, row.email)
    const [prospect] = await rows<Prospect>(
      trx,
      `update prospects set last_used_at = now() where token_hash = :hash and expires_at > now()
       returning id, email, user_id, company_id`,
      { hash },
    )
    if (!prospect) return 'unknown'
    const ticket = await provider.admit(trx, prospect, origin)
    if (ticket?.userId !== undefined && prospect.userId === null)
      await rows(trx, 'update prospects set user_id = :userId where id = :id', {
        userId: ticket.userId,
        id: prospect.id,
      })
    return ticket
  })
  if (admitted === 'unknown')
    throw apiError('INVALID_TOKEN', 'This link is invalid or has expired: ask its sender for a new one')
  if (!admitted)
    throw apiError('FORBIDDEN', 'Your user is disabled: ask an admin of your company to enable it')
  return admitted
}
