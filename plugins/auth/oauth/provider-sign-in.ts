import type { RequestOrigin } from '../../../server/http/audit.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import type { AuthDeps } from '../deps.ts'
import { createCompany, createUser, IS_EMAIL_PROVEN, type ResolvedUser } from '../accounts.ts'
import { acceptInvitation, findInvitation } from '../users/invitations.ts'
import { requireOpenRegistration } from '../registration.ts'
import { LOCK_USER, LOCK_USER_FOR_LINK, lockEmail } from '../locks.ts'
import type { User } from '../models.ts'
import type { ProviderIdentity, OAuthProvider } from './providers.ts'
import { schemas } from '../schemas.ts'
import { issueUserTicket } from '../sign-in/one-time-tokens.ts'

/** The browser exchanges the ticket at once. */
const TICKET_SECONDS = 2 * 60

interface VerifiedIdentity extends ProviderIdentity {
  email: string
  name: string | undefined
}

/**
 * Finds or creates the user of an identity and issues a ticket for a session.
 *
 * The user is found by issuer and subject first. Then by email: an OpenID Connect issuer, which the operator trusts to
 * identify people, is linked to the user of that email, except
 * - a user who has or had a password: registering proves no email, so another person may have taken the address and
 *   would share what its owner stores here;
 * - a user with another identity of the same issuer: the address has changed hands.
 *
 * Else the user is created: in the company of the given invitation (never of another, since anyone may invite any
 * address), or as the owner of a new company.
 * @param invitation an invitation token
 * @throws 403 for an unverified email, a disabled user and closed registration, 409 `USER_EXISTS` where the email may not be linked, 400
 *   `INVALID_INVITATION`
 */
export async function admitIdentity(
  deps: AuthDeps,
  provider: Pick<OAuthProvider, 'name' | 'isOpenId'>,
  identity: ProviderIdentity,
  origin: RequestOrigin,
  invitation?: string,
): Promise<string> {
  const verified = requireVerifiedEmail(provider, identity)
  const ticket = await deps.db.system(async trx => {
    await lockEmail(trx, verified.email)
    const resolved =
      (await findLinkedUser(trx, verified)) ??
      (await linkUserByEmail(trx, provider, verified)) ??
      (await (invitation === undefined
        ? registerWithCompany(trx, deps, verified)
        : joinByInvitation(trx, verified, invitation)))
    if (resolved.user.isActive) await saveIdentity(trx, provider, verified, resolved.user)
    return issueUserTicket(trx, resolved, origin, {
      method: `oauth:${provider.name}`,
      seconds: TICKET_SECONDS,
    })
  })
  if (ticket !== undefined) return ticket
  const message = 'Your user is disabled: ask an admin of your company to enable it'
  throw apiError('FORBIDDEN', message, { provider: provider.name })
}

/** Normalizes the email and name of an identity. @throws 403 unless the provider has verified the email */
export function requireVerifiedEmail(
  { name: provider }: Pick<OAuthProvider, 'name'>,
  identity: ProviderIdentity,
): VerifiedIdentity {
  const { value: email, error } = schemas.email.validate(identity.email ?? '') as {
    value: string
    error?: Error
  }
  if (!identity.isVerified || error) {
    const message = `${provider} has not verified your email: verify it there, then sign in again`
    throw apiError('FORBIDDEN', message, { provider, reason: 'email_not_verified' })
  }
  // PostgreSQL cannot store every string that a provider lets people choose.
  const name = identity.name
    ?.toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, 200)
    .trim()
    .toWellFormed()
  return { ...identity, email, name: name || undefined }
}

/** Locks the user, so that this sign-in and a concurrent unlinking wait for each other. */
async function findLinkedUser(trx: Transaction, { issuer, subject }: VerifiedIdentity) {
  const [user] = await rows<User>(
    trx,
    `select u.* from identities i join users u on u.id = i.user_id and u.company_id = i.company_id
     where i.issuer = :issuer and i.subject = :subject ${LOCK_USER}`,
    { issuer, subject },
  )
  if (!user) return undefined
  // Read again under the lock: the identity may have been unlinked while this waited.
  const [identity] = await rows(
    trx,
    `select from identities
     where company_id = :companyId and user_id = :userId and issuer = :issuer and subject = :subject`,
    { companyId: user.companyId, userId: user.id, issuer, subject },
  )
  return identity && { user }
}

async function linkUserByEmail(
  trx: Transaction,
  { name: provider, isOpenId }: Pick<OAuthProvider, 'name' | 'isOpenId'>,
  { issuer, email }: VerifiedIdentity,
): Promise<ResolvedUser | undefined> {
  const [user] = await rows<User & { isTaken: boolean; isEmailProven: boolean }>(
    trx,
    `select u.*, ${IS_EMAIL_PROVEN} as is_email_proven, exists (
       select from identities i where i.company_id = u.company_id and i.user_id = u.id and i.issuer = :issuer
     ) as is_taken
     from users u where u.email = :email ${LOCK_USER_FOR_LINK}`,
    { issuer, email },
  )
  if (!user) return undefined
  if (!user.isTaken && isOpenId && user.isEmailProven) return { user, event: { action: 'user.linked' } }
  throw apiError(
    'USER_EXISTS',
    user.isTaken
      ? `The user of this email signs in with another account of ${provider}: use that one`
      : `A user with this email already exists: sign in as before, then link ${provider} with POST /api/v1/oauth/${provider}/link`,
    { provider },
  )
}

async function joinByInvitation(trx: Transaction, { email, name }: VerifiedIdentity, token: string) {
  const invitation = await findInvitation(trx, { token, email })
  await acceptInvitation(trx, invitation)
  const { id, companyId, role } = invitation
  const user = await createUser(trx, { companyId, email, passwordHash: null, fullName: name, role })
  return { user, event: { action: 'user.registered', details: { email, role, invitation_id: id } } }
}

async function registerWithCompany(trx: Transaction, deps: AuthDeps, { email, name }: VerifiedIdentity) {
  await requireOpenRegistration(trx, deps)
  const companyName = name ?? (email.split('@')[0] as string)
  const { companyId } = await createCompany(trx, companyName, deps.config.defaultPlan)
  const user = await createUser(trx, { companyId, email, passwordHash: null, fullName: name, role: 'owner' })
  return { user, event: { action: 'user.registered', details: { email, role: 'owner' } } }
}

/** Saves that an identity signed its user in. @throws 409 `CONFLICT` when another user linked it meanwhile */
async function saveIdentity(
  trx: Transaction,
  { name: provider }: Pick<OAuthProvider, 'name'>,
  { issuer, subject, email }: VerifiedIdentity,
  { companyId, id: userId }: User,
): Promise<void> {
  const [saved] = await rows(
    trx,
    `insert into identities as i (issuer, subject, company_id, user_id, provider, email, last_used_at)
     values (:issuer, :subject, :companyId, :userId, :provider, :email, now())
     on conflict (issuer, subject) do update
       set last_used_at = now(), provider = coalesce(i.provider, excluded.provider)
       where i.company_id = excluded.company_id and i.user_id = excluded.user_id
     returning i.subject`,
    { issuer, subject, companyId, userId, provider, email },
  )
  if (!saved) {
    const message = `This account of ${provider} was linked to another user just now: sign in again`
    throw apiError('CONFLICT', message, { provider })
  }
}
