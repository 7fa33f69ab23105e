import type { Request } from '@hapi/hapi'
import { caller } from '../../../server/http/access.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { User } from '../models.ts'
import { withHashingSlot, isPassword } from './passwords.ts'
import { lockUser } from '../locks.ts'

/**
 * The row of the signed-in user.
 * @param options.isHeld locks the row until the transaction ends: unlinking a provider and removing the password at
 *   the same time must leave one way to sign in
 * @throws 404 `USER_NOT_FOUND` when the user was removed
 */
export async function findCurrentUser(
  request: Request,
  trx: Transaction,
  { isHeld = false } = {},
): Promise<User> {
  const id = caller(request).userId as string
  const user = await (isHeld ? lockUser(trx, id) : User.query(trx).findById(id))
  if (user) return user
  throw apiError('USER_NOT_FOUND', 'This user was removed: sign in as another')
}

/** @throws 401 `INVALID_PASSWORD` when `given` is not the password of `passwordHash`, 429 when too many are checked */
export async function confirmPassword(given: string, passwordHash: string): Promise<void> {
  if (!(await withHashingSlot(() => isPassword(given, passwordHash)))) throw wrongPassword()
}

/** 401: the password that a user gave to change their own account is not theirs. */
export function wrongPassword() {
  return apiError('INVALID_PASSWORD', 'The old password is wrong: check it and try again', {
    field: 'old_password',
  })
}
