/** Locks of companies, users and what belongs to them. The order of all locks: `server/database/locks.ts`. */
import { covers, SCOPE_OF_ROLE, type Caller } from '../../server/http/access.ts'
import { apiError } from '../../server/http/errors.ts'
import { rows, type Transaction } from '../../server/database/database.ts'
import { lockName } from '../../server/database/locks.ts'
import { ApiKey, Company, Invitation, User } from './models.ts'

/** Makes transactions that may create a user with this email wait for each other, so that they create one. */
export function lockEmail(trx: Transaction, email: string): Promise<void> {
  return lockName(trx, `sign-up:${email}`)
}

/** Makes transactions that would create the first account, where registration is closed, wait for each other. */
export function lockFirstAccount(trx: Transaction): Promise<void> {
  return lockName(trx, 'first-account')
}

/** Locks the company of a transaction: its plan and quotas, its users and invitations. Other rows may refer to it. */
export async function lockCompany(trx: Transaction): Promise<Company> {
  return Company.query(trx).first().forNoKeyUpdate().throwIfNotFound()
}

export async function lockCompanyById(trx: Transaction, companyId: string): Promise<void> {
  await rows(trx, 'select from companies where company_id = :companyId for no key update', { companyId })
}

/**
 * Locks the company row and re-checks that the caller is still an active admin: access is checked before the body is
 * read, which may take long enough for their role to change.
 * @throws 403
 */
export async function lockCompanyAsAdmin(trx: Transaction, callerId: string): Promise<void> {
  await lockCompany(trx)
  const user = await User.query(trx).findById(callerId)
  if (user?.isActive && covers(SCOPE_OF_ROLE[user.role], 'admin')) return
  const message = 'You are no longer an admin of this company: ask one of its admins'
  throw apiError('FORBIDDEN', message, { required_scope: 'admin' })
}

/** `lockCompanyAsAdmin` for a caller with a session or an API key. @throws 403, or 401 for a revoked key */
export async function lockCompanyForCaller(trx: Transaction, { userId, keyId }: Caller): Promise<void> {
  if (userId !== undefined) return lockCompanyAsAdmin(trx, userId)
  await lockCompany(trx)
  const key = keyId === undefined ? undefined : await ApiKey.query(trx).findById(keyId)
  if (key && key.revokedAt === null) return
  throw apiError('UNAUTHORIZED', 'The API key was revoked: create a new one with POST /api/v1/api-keys')
}

/** Locks a user who changes their own account. */
export async function lockUser(trx: Transaction, id: string): Promise<User | undefined> {
  return User.query(trx).findById(id).forNoKeyUpdate()
}

/** Locks a user whom an admin changes or removes; no row may refer to them meanwhile. */
export async function lockUserForRemoval(trx: Transaction, id: string): Promise<User | undefined> {
  return User.query(trx).findById(id).forUpdate()
}

export async function lockInvitation(trx: Transaction, id: string): Promise<Invitation | undefined> {
  return Invitation.query(trx).findById(id).forUpdate()
}

/** End of a SELECT that locks `users u` alone, whatever it joins. */
export const LOCK_USER = 'for no key update of u'
/** End of a SELECT of `users u`: no identity may be linked to them meanwhile. */
export const LOCK_USER_FOR_LINK = 'for update of u'
/** End of a SELECT that locks `sessions s` alone. */
export const LOCK_SESSION = 'for update of s'
/** End of a SELECT of one sign-in attempt, which is used once. */
export const LOCK_ATTEMPT = 'for update'
