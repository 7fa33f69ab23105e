import { randomBytes } from 'node:crypto'
import type { Server } from '@hapi/hapi'
import { v7 as uuid } from 'uuid'
import { audit, type RequestOrigin } from '../../../server/http/audit.ts'
import { rows } from '../../../server/database/database.ts'
import { apiError, invalidField } from '../../../server/http/errors.ts'
import { findCompany } from '../accounts.ts'
import type { Prospect, IdentityProvider, SignInTicket } from './identity-provider.ts'
import type { User } from '../models.ts'
import { schemas } from '../schemas.ts'
import { sha256 } from '../sign-in/tokens.ts'
import { lockEmail } from '../locks.ts'

/** A prospect as the command line tells it; the token is not kept. */
export interface NewProspect {
  id: string
  email: string
  token: string
  /** The company that they will join, or are a user of. */
  company_id: string | null
  /** Their user, if they have one. */
  user_id: string | null
  expires_at: Date
}

/**
 * Lets somebody sign in by a token, for 7 days and as often as they like.
 * @param input.company an id or a name; without one they get a company of their own, unless they have a user
 * @throws 400 for what is no email, 404 for the company, 409 `CONFLICT` for a user of another company
 */
export async function createProspect(
  server: Server,
  input: { email: string; company?: string },
): Promise<NewProspect> {
  const { value: email, error } = schemas.email.validate(input.email) as { value: string; error?: Error }
  if (error) throw invalidField('email', `${JSON.stringify(input.email)} is no email address`)
  const company = input.company === undefined ? null : await findCompany(server, input.company)
  const token = randomBytes(32).toString('base64url')
  return server.db.system(async trx => {
    await lockEmail(trx, email)
    const [user] = await rows<User>(trx, 'select * from users where email = :email', { email })
    if (user && company && user.companyId !== company.companyId) {
      throw apiError(
        'CONFLICT',
        `${email} is a user of another company (${user.companyId}): leave --company out to let them sign in there`,
      )
    }
    const companyId = company?.companyId ?? user?.companyId ?? null
    const [made] = await rows<{ id: string; expiresAt: Date }>(
      trx,
      `insert into prospects (id, email, company_id, user_id, token_hash, expires_at)
       values (:id, :email, :companyId, :userId, :hash, now() + interval '7 days') returning id, expires_at`,
      { id: uuid(), email, companyId, userId: user?.id ?? null, hash: sha256(token) },
    )
    const { id, expiresAt } = made as { id: string; expiresAt: Date }
    if (companyId !== null) {
      const event = { action: 'prospect.created', target: { type: 'prospect', id }, details: { email } }
      await audit(trx, { companyId, actor: 'cli' }, event)
    }
    return { id, email, token, company_id: companyId, user_id: user?.id ?? null, expires_at: expiresAt }
  })
}

/**
 * What a prospect's token gives: a ticket for a session of theirs.
 * @param provider says who they are
 * @throws 401 `INVALID_TOKEN`, 403 `FORBIDDEN` for who may not sign in, 409 `USER_EXISTS` where the email was taken since
 */
export async function admitProspect(
  server: Server,
  provider: IdentityProvider,
  token: string,
  origin: RequestOrigin,
): Promise<SignInTicket> {
  const admitted = await server.db.system(async trx => {
    const hash = sha256(token)
    const [asked] = await rows<{ email: string }>(
      trx,
      'select email from prospects where token_hash = :hash and expires_at > now()',
      { hash },
    )
    if (!asked) return 'unknown'
    await lockEmail(trx, asked.email)
    const [guest] = await rows<Prospect>(
      trx,
      `update prospects set last_used_at = now() where token_hash = :hash and expires_at > now()
       returning id, email, user_id, company_id`,
      { hash },
    )
    if (!guest) return 'unknown'
    const ticket = await provider.admit(trx, guest, origin)
    if (ticket?.userId !== undefined && guest.userId === null) {
      await rows(trx, 'update prospects set user_id = :userId where id = :id', {
        userId: ticket.userId,
        id: guest.id,
      })
    }
    return ticket
  })
  if (admitted === 'unknown')
    throw apiError(
      'INVALID_TOKEN',
      'This link is not good, or has expired: ask whoever sent it for a new one',
    )
  if (!admitted)
    throw apiError('FORBIDDEN', 'Your user is disabled here: ask an admin of your company to enable it')
  return admitted
}
