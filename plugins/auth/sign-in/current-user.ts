import { caller, type AnyRequest } from '../../../server/http/access.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { lockUser } from '../locks.ts'
import { User } from '../models.ts'
import { withHashingSlot, isPassword } from './passwords.ts'

/**
 * The signed-in user.
 * @param options.lock locks the row until the transaction ends: unlinking a provider and removing the password
 *   concurrently must leave one way to sign in
 * @throws 404 `USER_NOT_FOUND` for a removed user
 */
export async function findCurrentUser(
  request: AnyRequest,
  trx: Transaction,
  { lock = false } = {},
): Promise<User> {
  const id = caller(request).userId as string
  const user = await (lock ? lockUser(trx, id) : User.query(trx).findById(id))
  if (user) return user
  throw apiError('USER_NOT_FOUND', 'This user was removed: sign in as another user')
}

/** @throws 401 `INVALID_PASSWORD` for a wrong password, 429 when too many passwords are being checked */
export async function confirmPassword(given: string, passwordHash: string): Promise<void> {
  if (!(await withHashingSlot(() => isPassword(given, passwordHash)))) throw wrongPassword()
}

export function wrongPassword() {
  const message = 'The old password is wrong: check it and try again'
  return apiError('INVALID_PASSWORD', message, { field: 'old_password' })
}
