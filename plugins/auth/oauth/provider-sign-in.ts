import type { Server } from '@hapi/hapi'
import { audit, type AuditEvent, type RequestOrigin } from '../../../server/http/audit.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { createCompany, createUser, IS_EMAIL_PROVEN } from '../accounts.ts'
import { acceptInvitation, findInvitation } from '../users/invitations.ts'
import type { User } from '../models.ts'
import type { ProviderIdentity, OAuthProvider } from './providers.ts'
import { schemas } from '../schemas.ts'
import { issueTicket } from '../sign-in/one-time-tokens.ts'
import { LOCK_USER, LOCK_USER_FOR_LINK, lockEmail } from '../locks.ts'

/** Seconds in which a ticket of a sign-in is exchanged: the browser does it at once. */
const TICKET_SECONDS = 2 * 60

/** An identity whose email the provider has seen to be theirs. */
interface VerifiedIdentity extends ProviderIdentity {
  email: string
  name: string | undefined
}

/** The user that an identity stands for, with what the log is to tell of how it came to be. */
interface Found {
  user: User
  events: AuditEvent[]
}

/**
 * Finds the user of an identity, or makes one, and gives a ticket for their session.
 *
 * By issuer and subject first. Then by email: an OpenID Connect issuer, which the operator chose to say who people
 * are, is linked to the user of that email. Not to one who has a password, or has removed it: registering proves no
 * email, so that another person may have taken the address before, and would share what its owner puts here. Nor to one with another
 * identity of the same issuer, since then the address has changed hands. Then by the invitation that they came with,
 * never by one that they may not know of: anybody may invite any address. Else it is a new company and its owner.
 * @param invitation the token of one
 * @throws 403 for an email that is not verified and a disabled user, 409 `USER_EXISTS` where it may not be linked, 400
 *   `INVALID_INVITATION`
 */
export async function admitIdentity(
  server: Server,
  provider: Pick<OAuthProvider, 'name' | 'isOpenId'>,
  identity: ProviderIdentity,
  origin: RequestOrigin,
  invitation?: string,
): Promise<string> {
  const who = requireVerifiedEmail(provider, identity)
  const method = `oauth:${provider.name}`
  const ticket = await server.db.system(async trx => {
    // One at a time for an email, so that two sign-ins at once make one user.
    await lockEmail(trx, who.email)
    const { user, events } =
      (await findLinkedUser(trx, who)) ??
      (await linkUserByEmail(trx, provider, who)) ??
      (await (invitation === undefined
        ? registerWithCompany(trx, server, who)
        : joinByInvitation(trx, who, invitation)))
    const { companyId, id } = user
    const tell = (event: AuditEvent) =>
      audit(
        trx,
        { companyId, actor: `user:${id}`, ...origin },
        { target: { type: 'user', id }, ...event, details: { ...event.details, method } },
      )
    if (!user.isActive) {
      await tell({ action: 'user.sign_in_failed', details: { reason: 'disabled' } })
      return undefined
    }
    await saveIdentity(trx, provider, who, user)
    const made = await issueTicket(trx, { companyId, userId: id, method }, TICKET_SECONDS)
    for (const event of events) await tell(event)
    return made
  })
  if (ticket === undefined) {
    throw apiError('FORBIDDEN', 'Your user is disabled here: ask an admin of your company to enable it', {
      provider: provider.name,
    })
  }
  return ticket
}

/** An identity whose email is verified, in the form of ours. @throws 403 */
export function requireVerifiedEmail(
  { name: provider }: Pick<OAuthProvider, 'name'>,
  identity: ProviderIdentity,
): VerifiedIdentity {
  const { value: email, error } = schemas.email.validate(identity.email ?? '') as {
    value: string
    error?: Error
  }
  if (!identity.isVerified || error) {
    throw apiError(
      'FORBIDDEN',
      `${provider} does not say that it has verified your email: verify it there, and sign in again`,
      { provider, reason: 'email_not_verified' },
    )
  }
  // What people write there may hold what PostgreSQL cannot store.
  const name = identity.name
    ?.toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, 200)
    .trim()
    .toWellFormed()
  return { ...identity, email, name: name || undefined }
}

/** The user that an identity is linked to, locked: unlinking waits until this sign-in has ended, and the reverse. */
async function findLinkedUser(
  trx: Transaction,
  { issuer, subject }: VerifiedIdentity,
): Promise<Found | undefined> {
  const [user] = await rows<User>(
    trx,
    `select u.* from identities i join users u on u.id = i.user_id and u.company_id = i.company_id
     where i.issuer = :issuer and i.subject = :subject ${LOCK_USER}`,
    { issuer, subject },
  )
  if (!user) return undefined
  // Read again under the lock: what was unlinked while this waited for the user is unknown.
  const [identity] = await rows(
    trx,
    `select from identities
     where company_id = :companyId and user_id = :userId and issuer = :issuer and subject = :subject`,
    { companyId: user.companyId, userId: user.id, issuer, subject },
  )
  return identity && { user, events: [] }
}

async function linkUserByEmail(
  trx: Transaction,
  provider: Pick<OAuthProvider, 'name' | 'isOpenId'>,
  { issuer, email }: VerifiedIdentity,
): Promise<Found | undefined> {
  const [found] = await rows<User & { isTaken: boolean; isEmailProven: boolean }>(
    trx,
    `select u.*, ${IS_EMAIL_PROVEN} as is_email_proven, exists (
       select from identities i where i.company_id = u.company_id and i.user_id = u.id and i.issuer = :issuer
     ) as is_taken
     from users u where u.email = :email ${LOCK_USER_FOR_LINK}`,
    { issuer, email },
  )
  if (!found) return undefined
  const { isTaken, isEmailProven } = found
  if (isTaken || !provider.isOpenId || !isEmailProven) {
    const { name } = provider
    throw apiError(
      'USER_EXISTS',
      isTaken
        ? `The user of this email signs in with another account of ${name}: use that one`
        : `There is a user with this email already: sign in as before, then link ${name} with POST /api/v1/oauth/${name}/link`,
      { provider: name },
    )
  }
  return { user: found, events: [{ action: 'user.linked' }] }
}

/** Joins the company of an invitation to the verified email. */
async function joinByInvitation(
  trx: Transaction,
  { email, name }: VerifiedIdentity,
  token: string,
): Promise<Found> {
  const invitation = await findInvitation(trx, { token, email })
  await acceptInvitation(trx, invitation)
  const { id, companyId, role } = invitation
  const user = await createUser(trx, { companyId, email, passwordHash: null, fullName: name, role })
  return {
    user,
    events: [{ action: 'user.registered', details: { email, role, invitation_id: id } }],
  }
}

async function registerWithCompany(
  trx: Transaction,
  server: Server,
  { email, name }: VerifiedIdentity,
): Promise<Found> {
  const companyName = name ?? (email.split('@')[0] as string)
  const { companyId } = await createCompany(trx, companyName, server.config.defaultPlan)
  const user = await createUser(trx, { companyId, email, passwordHash: null, fullName: name, role: 'owner' })
  return { user, events: [{ action: 'user.registered', details: { email, role: 'owner' } }] }
}

/** Writes that an identity signed its user in. @throws 409 `CONFLICT` when another user linked it meanwhile */
async function saveIdentity(
  trx: Transaction,
  { name: provider }: Pick<OAuthProvider, 'name'>,
  { issuer, subject, email }: VerifiedIdentity,
  user: User,
): Promise<void> {
  const [kept] = await rows(
    trx,
    `insert into identities as i (issuer, subject, company_id, user_id, provider, email, last_used_at)
     values (:issuer, :subject, :companyId, :userId, :provider, :email, now())
     on conflict (issuer, subject) do update
       set last_used_at = now(), provider = coalesce(i.provider, excluded.provider)
       where i.company_id = excluded.company_id and i.user_id = excluded.user_id
     returning i.subject`,
    { issuer, subject, companyId: user.companyId, userId: user.id, provider, email },
  )
  if (!kept)
    throw apiError(
      'CONFLICT',
      `This account of ${provider} was linked to another user just now: sign in again`,
      {
        provider,
      },
    )
}
