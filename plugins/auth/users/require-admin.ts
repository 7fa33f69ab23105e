import { covers, SCOPE_OF_ROLE, type Caller } from '../../../server/http/access.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { lockCompany } from '../locks.ts'
import { ApiKey, User } from '../models.ts'

/**
 * Locks the company row and re-checks that the caller is still an active admin: access is checked before the body is
 * read, which may take long enough for their role to change.
 * @throws 403
 */
export async function lockCompanyAsAdmin(trx: Transaction, callerId: string): Promise<void> {
  await lockCompany(trx)
  const user = await User.query(trx).findById(callerId)
  if (user?.isActive && covers(SCOPE_OF_ROLE[user.role], 'admin')) return
  throw apiError('FORBIDDEN', 'You are no longer an admin of this company: ask one of its admins', {
    required_scope: 'admin',
  })
}

/** `lockCompanyAsAdmin` for a caller with a session or an API key. @throws 403, or 401 for a revoked key */
export async function lockCompanyForCaller(trx: Transaction, { userId, keyId }: Caller): Promise<void> {
  if (userId !== undefined) return lockCompanyAsAdmin(trx, userId)
  await lockCompany(trx)
  const key = keyId === undefined ? undefined : await ApiKey.query(trx).findById(keyId)
  if (key && key.revokedAt === null) return
  throw apiError('UNAUTHORIZED', 'The API key was revoked: create a new one with POST /api/v1/api-keys')
}
