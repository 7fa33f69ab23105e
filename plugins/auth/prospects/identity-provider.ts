import type { Server } from '@hapi/hapi'
import { audit, type AuditEvent, type RequestOrigin } from '../../../server/http/audit.ts'
import { rows, type Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { createCompany, createUser, IS_EMAIL_PROVEN } from '../accounts.ts'
import type { User } from '../models.ts'
import { issueTicket } from '../sign-in/one-time-tokens.ts'
import { LOCK_USER, lockCompanyById } from '../locks.ts'

/** Somebody who came with a good token of ours. */
export interface Prospect {
  /** The prospect's. */
  id: string
  /** Lower-cased. */
  email: string
  /** Who they are; null at the first time, where they had no user when they were asked. */
  userId: string | null
  /** The company that they were asked to; null where they get one of their own. */
  companyId: string | null
}

/** What somebody signs in with. */
export interface SignInTicket {
  ticket: string
  /** Seconds until it ends. */
  expiresIn: number
  /** Where it is good, with it. */
  redirectUrl: string
}

/** Who says who a guest is. */
export interface IdentityProvider {
  name: string
  /**
   * Makes the guest's user where there is none, and gives a ticket for their session. Guests of one email come one at
   * a time.
   * @param trx of all companies; what is told of the prospect commits with it
   * @returns undefined for who may not sign in
   */
  admit(
    trx: Transaction,
    guest: Prospect,
    origin: RequestOrigin,
  ): Promise<(SignInTicket & { userId?: string }) | undefined>
}

/** Our own users, unless another provider is put in their place. */
export function createIdentityProviderSlot(server: Server) {
  const own = localIdentityProvider(server)
  let chosen: IdentityProvider | undefined
  return {
    current: () => chosen ?? own,
    use(provider: IdentityProvider) {
      if (chosen)
        throw new Error(`Cannot use the identity provider ${provider.name}: ${chosen.name} is in use already`)
      chosen = provider
    },
  }
}

/** Seconds in which a ticket of a magic link is exchanged. */
const TICKET_SECONDS = 5 * 60
const SIGN_IN_METHOD = 'magic_link'

/** Guests as users of ours, and tickets for `POST /auth/tickets`. */
function localIdentityProvider(server: Server): IdentityProvider {
  return {
    name: 'users',
    async admit(trx, guest, origin) {
      const { user, event } = (await findUser(trx, guest)) ?? (await createProspectUser(trx, server, guest))
      const { companyId, id: userId } = user
      const tell = ({ details, ...what }: AuditEvent) =>
        audit(
          trx,
          { companyId, actor: `user:${userId}`, ...origin },
          { ...what, target: { type: 'user', id: userId }, details: { ...details, method: SIGN_IN_METHOD } },
        )
      if (!user.isActive) {
        await tell({ action: 'user.sign_in_failed', details: { reason: 'disabled' } })
        return undefined
      }
      const ticket = await issueTicket(trx, { companyId, userId, method: SIGN_IN_METHOD }, TICKET_SECONDS)
      if (event) await tell(event)
      const redirectUrl = `${server.config.baseUrl}/?${new URLSearchParams({ ticket })}`
      return { ticket, expiresIn: TICKET_SECONDS, redirectUrl, userId }
    },
  }
}

interface Found {
  user: User
  /** What the log is to tell of how the user came to be. */
  event?: AuditEvent
}

/**
 * The guest's user. One who has a password (or removed it) and came to be after the guest was asked is not taken for
 * them: registering proves no email, so that another person may have taken the address; in the company that they were
 * asked to, its admins have seen to that.
 */
async function findUser(
  trx: Transaction,
  { email, userId, companyId }: Prospect,
): Promise<Found | undefined> {
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
      ? 'A user with this email has registered since you were asked: sign in with the password'
      : 'This email is a user of another company by now: sign in there, or ask to be invited with another email',
    { field: 'token' },
  )
}

/** A user of the company that they were asked to, its owner where nobody else is there yet; else with a company of their own. */
async function createProspectUser(trx: Transaction, server: Server, guest: Prospect): Promise<Found> {
  const { email, id } = guest
  const companyId =
    guest.companyId ??
    (await createCompany(trx, email.split('@')[0] as string, server.config.defaultPlan)).companyId
  // One at a time, so that of two the second sees that there is an owner.
  await lockCompanyById(trx, companyId)
  const [other] = await rows(trx, 'select from users where company_id = :companyId limit 1', { companyId })
  const role = other ? 'member' : 'owner'
  const user = await createUser(trx, { companyId, email, passwordHash: null, role })
  return { user, event: { action: 'user.registered', details: { email, role, prospect_id: id } } }
}
