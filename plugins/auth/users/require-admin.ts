import { covers, SCOPE_OF_ROLE, type Caller } from '../../../server/http/access.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { ApiKey, User } from '../models.ts'
import { lockCompany } from '../locks.ts'

/**
 * Has the company's users, and who is invited, changed by one admin at a time, who is still one: a request is let in
 * before its body is read, which may take its sender as long as they like, and their role may end meanwhile.
 * @param self the id of who asks
 * @throws 403 for who is no admin any more
 */
export async function lockCompanyAsAdmin(trx: Transaction, self: string): Promise<void> {
  await lockCompany(trx)
  const user = await User.query(trx).findById(self)
  if (user?.isActive && covers(SCOPE_OF_ROLE[user.role], 'admin')) return
  throw apiError('FORBIDDEN', 'You are no admin of this company any more: ask somebody who is', {
    required_scope: 'admin',
  })
}

/** The same for whoever asks with a key, which may have been revoked meanwhile. */
export async function lockCompanyForCaller(trx: Transaction, { userId, keyId }: Caller): Promise<void> {
  if (userId !== undefined) return lockCompanyAsAdmin(trx, userId)
  await lockCompany(trx)
  const key = keyId === undefined ? undefined : await ApiKey.query(trx).findById(keyId)
  if (key && key.revokedAt === null) return
  throw apiError('UNAUTHORIZED', 'The API key was revoked: make a new one with POST /api/v1/api-keys')
}
