import { validate as isUuid } from 'uuid'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { newestFirst, pageOf, type Page } from '../../../server/http/page.ts'
import { lockCompanyAsAdmin } from './require-admin.ts'
import { revokeOpenInvitations } from './invitations.ts'
import { User } from '../models.ts'
import { endAllSessions } from '../sign-in/sessions.ts'
import { lockUserForRemoval } from '../locks.ts'

/** What an admin may change of a user. */
export type UserChanges = Partial<Pick<User, 'role' | 'isActive'>>

/** A page of the company's users, newest first. */
export async function listUsers(trx: Transaction, page: Page): Promise<{ rows: User[]; total: number }> {
  const { results, total } = await pageOf(User.query(trx).orderBy(newestFirst('createdAt', 'id')), page)
  return { rows: results, total }
}

/**
 * Changes the role of another user, or whether they may sign in, from their next request on.
 * @param self the id of who asks
 * @returns the user before and after, and how many invitations of theirs were revoked with it
 * @throws 403 for who is no admin any more, 404 `USER_NOT_FOUND`, 409 `CONFLICT` for the owner and for oneself
 */
export async function changeUser(
  trx: Transaction,
  self: string,
  id: string,
  changes: UserChanges,
): Promise<{ before: User; after: User; revoked: number }> {
  const before = await lockOtherUser(trx, self, id)
  const { role = before.role, isActive = before.isActive } = changes
  const after = await User.query(trx).patchAndFetchById(before.id, { role, isActive })
  if (!isActive) await endAllSessions(trx, before.id)
  const revoked = isActive && role === 'admin' ? 0 : await revokeInvitationsBy(trx, before.id)
  return { before, after, revoked }
}

/**
 * Removes another user with their sessions. What they did stays in histories under `user:<id>`, and the keys that
 * they made are the company's.
 * @param self the id of who asks
 * @returns who it was, and how many invitations of theirs were revoked with it
 * @throws 403 for who is no admin any more, 404 `USER_NOT_FOUND`, 409 `CONFLICT` for the owner and for oneself
 */
export async function removeUser(
  trx: Transaction,
  self: string,
  id: string,
): Promise<{ user: User; revoked: number }> {
  const user = await lockOtherUser(trx, self, id)
  await User.query(trx).deleteById(user.id)
  return { user, revoked: await revokeInvitationsBy(trx, user.id) }
}

/** Locked, so that what is judged is what is changed. */
async function lockOtherUser(trx: Transaction, self: string, id: string): Promise<User> {
  await lockCompanyAsAdmin(trx, self)
  const user = isUuid(id) ? await lockUserForRemoval(trx, id) : undefined
  if (!user) {
    throw apiError('USER_NOT_FOUND', 'There is no such user: GET /api/v1/users lists them', { user_id: id })
  }
  if (user.role === 'owner') {
    throw apiError('CONFLICT', 'This is the owner of the company, who can be neither changed nor removed')
  }
  if (user.id === self) {
    throw apiError('CONFLICT', 'This is yourself: ask another admin, so that nobody shuts themselves out')
  }
  return user
}

/** Who is no admin any more must not come back by an invitation of their own making. */
function revokeInvitationsBy(trx: Transaction, userId: string): Promise<number> {
  return revokeOpenInvitations(trx, { invitedBy: `user:${userId}` })
}
