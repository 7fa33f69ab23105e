import { validate as isUuid } from 'uuid'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { newestFirst, pageOf, type Page } from '../../../server/http/page.ts'
import { revokeOpenInvitations } from './invitations.ts'
import { lockCompanyAsAdmin, lockUserForRemoval } from '../locks.ts'
import { User } from '../models.ts'
import { endAllSessions } from '../sign-in/sessions.ts'

export type UserChanges = Partial<Pick<User, 'role' | 'isActive'>>

/** Called in the transaction that removes a user. */
export type UserRemovalListener = (trx: Transaction, user: Pick<User, 'id' | 'email'>) => Promise<void>

export function listUsers(trx: Transaction, page: Page): Promise<{ results: User[]; total: number }> {
  return pageOf(User.query(trx).orderBy(newestFirst('createdAt', 'id')), page)
}

/**
 * Changes the role of another user, or enables or disables them, from their next request on.
 * @param callerId the user who makes the change
 * @returns the user before and after, and how many of their open invitations were revoked
 * @throws 403 for a former admin, 404 `USER_NOT_FOUND`, 409 `CONFLICT` for the owner and for oneself
 */
export async function changeUser(trx: Transaction, callerId: string, id: string, changes: UserChanges) {
  const before = await lockOtherUser(trx, callerId, id)
  const { role = before.role, isActive = before.isActive } = changes
  const after = await User.query(trx).patchAndFetchById(before.id, { role, isActive })
  if (!isActive) await endAllSessions(trx, before.id)
  const revoked = isActive && role === 'admin' ? 0 : await revokeInvitationsBy(trx, before.id)
  return { before, after, revoked }
}

/**
 * Removes another user with their sessions. Histories keep naming them as `user:<id>`, and the API keys they created
 * stay valid, since keys belong to the company.
 * @param callerId the user who removes them
 * @returns the user, and how many of their open invitations were revoked
 * @throws 403 for a former admin, 404 `USER_NOT_FOUND`, 409 `CONFLICT` for the owner and for oneself
 */
export async function removeUser(trx: Transaction, callerId: string, id: string) {
  const user = await lockOtherUser(trx, callerId, id)
  await User.query(trx).deleteById(user.id)
  return { user, revoked: await revokeInvitationsBy(trx, user.id) }
}

async function lockOtherUser(trx: Transaction, callerId: string, id: string): Promise<User> {
  await lockCompanyAsAdmin(trx, callerId)
  const user = isUuid(id) ? await lockUserForRemoval(trx, id) : undefined
  if (!user)
    throw apiError('USER_NOT_FOUND', 'There is no such user: GET /api/v1/users lists them', { user_id: id })
  if (user.role === 'owner')
    throw apiError('CONFLICT', 'This user owns the company: an owner can be neither changed nor removed')
  if (user.id === callerId) {
    const message = 'This is your own user: ask another admin, so that you do not lock yourself out'
    throw apiError('CONFLICT', message)
  }
  return user
}

/** A former admin must not come back by an invitation of their own. */
function revokeInvitationsBy(trx: Transaction, userId: string): Promise<number> {
  return revokeOpenInvitations(trx, { invitedBy: `user:${userId}` })
}
