import { inCompany, type AnyRequest } from '../../../server/http/access.ts'
import { audit, auditRequest, type RequestOrigin } from '../../../server/http/audit.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { apiError, hasCode, unprocessable } from '../../../server/http/errors.ts'
import type { AuthDeps } from '../deps.ts'
import { auditAfterResponse } from '../audit-log/deferred-audit.ts'
import { User } from '../models.ts'
import { requireVerifiedEmail } from './provider-sign-in.ts'
import { isIssuerOf, type ProviderIdentity, type OAuthProvider } from './providers.ts'
import { findCurrentUser, confirmPassword, wrongPassword } from '../sign-in/current-user.ts'
import { endAllSessions } from '../sign-in/sessions.ts'
import { LOCK_USER } from '../locks.ts'

/** The signed-in user who began to link a provider, with their session. */
export interface LinkingSession {
  companyId: string
  userId: string
  sessionId: string
}

export interface LinkedProvider {
  /** Null for an issuer that is no longer in the settings. */
  provider: string | null
  linked_at: Date
  last_used_at: Date | null
}

interface IdentityRow {
  issuer: string
  subject: string
  provider: string | null
  createdAt: Date
  lastUsedAt: Date | null
}

type Providers = ReadonlyMap<string, OAuthProvider>

const LINKER_QUERY = `
  select u.* from users u
  join sessions s on s.company_id = u.company_id and s.user_id = u.id
  where u.company_id = :companyId and u.id = :userId and u.is_active
    and s.id = :sessionId and s.ended_at is null and s.expires_at > now()
  ${LOCK_USER}`

// Returns no row for the identity of another user.
const INSERT_IDENTITY = `
  insert into identities as i (issuer, subject, company_id, user_id, provider, email)
  values (:issuer, :subject, :companyId, :userId, :provider, :email)
  on conflict (issuer, subject) do update set provider = coalesce(i.provider, excluded.provider)
    where i.company_id = excluded.company_id and i.user_id = excluded.user_id
  returning provider, created_at, last_used_at, xmax = 0 as is_new`

/**
 * Requires the password of a caller who has one before a link begins: a linked provider outlives the session and a
 * change of the password, so a stolen session must not be able to link one. A refusal is audited.
 * @param given the `old_password` of the request
 * @throws 401 `INVALID_PASSWORD`, 422 when a required password is missing
 */
export async function requireLinkPassword(
  request: AnyRequest,
  { name }: Pick<OAuthProvider, 'name'>,
  given: string | undefined,
): Promise<void> {
  const { id, companyId, passwordHash } = await inCompany(request, trx => findCurrentUser(request, trx))
  if (passwordHash === null) return
  if (given === undefined)
    throw unprocessable([
      {
        loc: ['body', 'old_password'],
        msg: 'old_password is required: your user has a password',
        type: 'any.required',
      },
    ])
  await confirmPassword(given, passwordHash).catch((error: unknown) => {
    if (hasCode(error, 'INVALID_PASSWORD')) {
      const details = { method: `oauth:${name}`, reason: 'wrong_password' }
      auditAfterResponse(request, companyId, [
        { action: 'user.link_failed', target: { type: 'user', id }, details },
      ])
    }
    throw error
  })
}

/**
 * Links an identity to the user who began the link; linking it again changes nothing.
 * @throws 401 `INVALID_TOKEN` when they have signed out since, 403 for an unverified email, 409 `CONFLICT` for an
 *   account of another user, or a second account of a linked provider
 */
export function linkIdentity(
  deps: AuthDeps,
  provider: Pick<OAuthProvider, 'name'>,
  identity: ProviderIdentity,
  linker: LinkingSession,
  origin: RequestOrigin,
): Promise<LinkedProvider> {
  const { name } = provider
  // Signing in requires it too: a link that cannot be used to sign in would be a trap.
  const { issuer, subject, email } = requireVerifiedEmail(provider, identity)
  const { companyId, userId } = linker
  return deps.db.system(async trx => {
    const [user] = await rows<User>(trx, LINKER_QUERY, { ...linker })
    if (!user)
      throw apiError(
        'INVALID_TOKEN',
        `You have signed out since: sign in, then start the link again with POST /api/v1/oauth/${name}/link`,
        { provider: name },
      )
    const [other] = await rows(
      trx,
      `select from identities
       where company_id = :companyId and user_id = :userId and issuer = :issuer and subject <> :subject`,
      { companyId, userId, issuer, subject },
    )
    if (other)
      throw apiError('CONFLICT', `Another account of ${name} is linked to your user: unlink it first`, {
        provider: name,
      })
    const [kept] = await rows<
      Pick<IdentityRow, 'provider' | 'createdAt' | 'lastUsedAt'> & { isNew: boolean }
    >(trx, INSERT_IDENTITY, { issuer, subject, companyId, userId, provider: name, email })
    if (!kept)
      throw apiError(
        'CONFLICT',
        `This account of ${name} is linked to another user: choose another account, or sign in as that user and ` +
          `unlink it. If it is the only way to sign in there, link another provider to that user first; ` +
          `an admin can also remove a user who is not the owner of the company`,
        { provider: name },
      )
    if (kept.isNew)
      await audit(
        trx,
        { companyId, actor: `user:${userId}`, ...origin },
        { action: 'user.linked', target: { type: 'user', id: userId }, details: { method: `oauth:${name}` } },
      )
    return { provider: kept.provider, linked_at: kept.createdAt, last_used_at: kept.lastUsedAt }
  })
}

/** How the caller can sign in; links are sorted oldest first. */
export function listLinks(request: AnyRequest, providers: Providers) {
  return inCompany(request, async trx => {
    const { id, passwordHash } = await findCurrentUser(request, trx)
    const links = (await listIdentities(trx, id, providers)).map(({ provider, createdAt, lastUsedAt }) => ({
      provider,
      linked_at: createdAt,
      last_used_at: lastUsedAt,
    }))
    return { has_password: passwordHash !== null, links, providers: [...providers.keys()] }
  })
}

/**
 * Unlinks a provider from the caller's user.
 * @throws 404 `NOT_FOUND` when it is not linked, 409 `CONFLICT` when it is the last way to sign in
 */
export async function unlinkProvider(request: AnyRequest, providers: Providers, name: string): Promise<void> {
  await inCompany(request, async trx => {
    const { id: userId, passwordHash } = await findCurrentUser(request, trx, { lock: true })
    const identities = await listIdentities(trx, userId, providers)
    const unlinked = identities.filter(({ provider }) => provider === name)
    if (unlinked.length === 0) {
      const message = `${name} is not linked to your user: GET /api/v1/oauth/links lists the linked providers`
      throw apiError('NOT_FOUND', message, { provider: name })
    }
    const others = identities.filter(identity => identity.provider !== name && isUsable(providers, identity))
    if (passwordHash === null && others.length === 0)
      throw apiError('CONFLICT', `${name} is your only way to sign in: link another provider first`, {
        provider: name,
      })
    const companyId = companyOf(trx)
    for (const { issuer, subject } of unlinked)
      await rows(
        trx,
        `delete from identities
         where company_id = :companyId and user_id = :userId and issuer = :issuer and subject = :subject`,
        { companyId, userId, issuer, subject },
      )
    const method = `oauth:${name}`
    // Tickets of this provider that were not exchanged yet.
    await rows(
      trx,
      'delete from tickets where company_id = :companyId and user_id = :userId and method = :method',
      { companyId, userId, method },
    )
    await auditRequest(request, trx, {
      action: 'user.unlinked',
      target: { type: 'user', id: userId },
      details: { method },
    })
  })
}

/**
 * Removes the caller's password and ends all their sessions.
 * @throws 401 `INVALID_PASSWORD`, 409 `CONFLICT` without a password, or without a linked provider to sign in with
 */
export async function removePassword(
  request: AnyRequest,
  providers: Providers,
  given: string,
): Promise<void> {
  const { passwordHash } = await inCompany(request, trx => findCurrentUser(request, trx))
  if (passwordHash === null)
    throw apiError('CONFLICT', 'Your user has no password: there is nothing to remove')
  await confirmPassword(given, passwordHash)
  await inCompany(request, async trx => {
    const user = await findCurrentUser(request, trx, { lock: true })
    // The password was changed since it was compared.
    if (user.passwordHash !== passwordHash) throw wrongPassword()
    const identities = await listIdentities(trx, user.id, providers)
    if (!identities.some(identity => isUsable(providers, identity)))
      throw apiError(
        'CONFLICT',
        'The password is your only way to sign in: link a provider with POST /api/v1/oauth/{provider}/link first',
      )
    await User.query(trx).findById(user.id).patch({ passwordHash: null })
    await endAllSessions(trx, user.id)
    await auditRequest(request, trx, {
      action: 'user.password_removed',
      target: { type: 'user', id: user.id },
    })
  })
}

/** The identities of a user. Earlier versions did not store the provider's name: it is found by the issuer. */
async function listIdentities(trx: Transaction, userId: string, providers: Providers) {
  const identities = await rows<IdentityRow>(
    trx,
    `select issuer, subject, provider, created_at, last_used_at from identities
     where company_id = :companyId and user_id = :userId order by created_at, issuer, subject`,
    { companyId: companyOf(trx), userId },
  )
  const nameOf = ({ issuer }: IdentityRow) =>
    [...providers.values()].find(provider => isIssuerOf(provider, issuer))?.name
  return identities.map(row => ({ ...row, provider: row.provider ?? nameOf(row) ?? null }))
}

/** Whether the settings still have the identity's provider, with the same issuer. */
function isUsable(providers: Providers, { provider: name, issuer }: IdentityRow): boolean {
  const provider = name === null ? undefined : providers.get(name)
  return provider !== undefined && isIssuerOf(provider, issuer)
}
