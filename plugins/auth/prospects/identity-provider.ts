import type { RequestOrigin } from '../../../server/http/audit.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import type { AuthDeps } from '../deps.ts'
import { createCompany, createUser, IS_EMAIL_PROVEN } from '../accounts.ts'
import { LOCK_USER, lockCompanyById } from '../locks.ts'
import type { User } from '../models.ts'
import { issueUserTicket } from '../sign-in/one-time-tokens.ts'

/** The owner of a prospect token. */
export interface Prospect {
  id: string
  /** Lower-cased. */
  email: string
  /** Null until the first sign-in, unless they had a user when the token was created. */
  userId: string | null
  /** The company they were invited to; null for a company of their own. */
  companyId: string | null
}

/** A one-time token for `POST /auth/tickets`. */
export interface SignInTicket {
  ticket: string
  /** Seconds. */
  expiresIn: number
  /** Where the ticket can be exchanged; carries it in the query. */
  redirectUrl: string
}

/** Decides which user a prospect is. */
export interface IdentityProvider {
  name: string
  /**
   * Finds or creates the user and issues a ticket. Calls for one email never overlap.
   * @param trx a system transaction, which also holds the change of the prospect
   * @returns undefined for a user who may not sign in
   */
  admit(
    trx: Transaction,
    prospect: Prospect,
    origin: RequestOrigin,
  ): Promise<(SignInTicket & { userId?: string }) | undefined>
}

/** Holds the identity provider: our own users unless another one is set. */
export function createIdentityProviderSlot(deps: AuthDeps) {
  const local = localIdentityProvider(deps)
  let chosen: IdentityProvider | undefined
  return {
    current: () => chosen ?? local,
    use(provider: IdentityProvider) {
      if (chosen)
        throw new Error(`Cannot use the identity provider ${provider.name}: ${chosen.name} is in use already`)
      chosen = provider
    },
  }
}

const TICKET_SECONDS = 5 * 60

function localIdentityProvider(deps: AuthDeps): IdentityProvider {
  return {
    name: 'users',
    async admit(trx, prospect, origin) {
      const resolved = (await findUser(trx, prospect)) ?? (await createProspectUser(trx, deps, prospect))
      const ticket = await issueUserTicket(trx, resolved, origin, {
        method: 'magic_link',
        seconds: TICKET_SECONDS,
      })
      if (ticket === undefined) return undefined
      const redirectUrl = `${deps.config.baseUrl}/?${new URLSearchParams({ ticket })}`
      return { ticket, expiresIn: TICKET_SECONDS, redirectUrl, userId: resolved.user.id }
    },
  }
}

/**
 * A user who registered with a password after the prospect was created is refused: registering proves no email, so
 * another person may have taken the address. In the company of the invitation, its admins vouch for the address.
 */
async function findUser(trx: Transaction, { email, userId, companyId }: Prospect) {
  const [user] = await rows<User & { isEmailProven: boolean }>(
    trx,
    `select u.*, ${IS_EMAIL_PROVEN} as is_email_proven from users u
     where u.id = :userId or (cast(:userId as uuid) is null and u.email = :email) ${LOCK_USER}`,
    { userId, email },
  )
  if (!user || userId !== null) return user && { user }
  if (companyId === null ? user.isEmailProven : user.companyId === companyId) return { user }
  throw apiError(
    'USER_EXISTS',
    companyId === null
      ? 'A user with this email has registered since the link was created: sign in with the password'
      : 'A user of another company has this email by now: sign in there, or ask for an invitation to another email',
    { field: 'token' },
  )
}

/** Creates the user in the company of the invitation, as its owner if it has no user yet; else in a new company. */
async function createProspectUser(trx: Transaction, deps: AuthDeps, prospect: Prospect) {
  const { email, id } = prospect
  const companyId =
    prospect.companyId ??
    (await createCompany(trx, email.split('@')[0] as string, deps.config.defaultPlan)).companyId
  // Of two concurrent prospects of one company, the second must see that there is an owner.
  await lockCompanyById(trx, companyId)
  const [other] = await rows(trx, 'select from users where company_id = :companyId limit 1', { companyId })
  const role = other ? 'member' : 'owner'
  const user = await createUser(trx, { companyId, email, passwordHash: null, role })
  return { user, event: { action: 'user.registered', details: { email, role, prospect_id: id } } }
}
