import { randomBytes } from 'node:crypto'
import { v7 as uuid, validate as isUuid } from 'uuid'
import type { Plan } from '../../../server/settings/config.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { newestFirst, pageOf, type Page } from '../../../server/http/page.ts'
import { lockCompanyAsAdmin } from './require-admin.ts'
import { Invitation, User } from '../models.ts'
import { sha256 } from '../sign-in/tokens.ts'
import { lockInvitation } from '../locks.ts'

/** Neither used, nor revoked, nor run out. */
const IS_OPEN = 'accepted_at is null and revoked_at is null and expires_at > now()'

/**
 * Invites an email to the company of the transaction for 7 days, in place of an invitation that is open. Whether the
 * email has a user in another company is nobody's business here: they are told when they register.
 * @param self the id of who invites
 * @returns the token, which is not kept; this is the only time it is seen
 * @throws 403 for who is no admin any more, 409 `USER_EXISTS` for a user of the same company
 */
export async function createInvitation(
  trx: Transaction,
  self: string,
  { email, role }: Pick<Invitation, 'email' | 'role'>,
): Promise<{ token: string; invitation: Invitation }> {
  // One at a time, so that of two at once the second replaces the first.
  await lockCompanyAsAdmin(trx, self)
  if (await User.query(trx).findOne({ email })) {
    throw apiError(
      'USER_EXISTS',
      'This email is a user of your company already: GET /api/v1/users lists them',
      {
        field: 'email',
      },
    )
  }
  await revokeOpenInvitations(trx, { email })
  const token = randomBytes(32).toString('base64url')
  const [invitation] = await rows<Invitation>(
    trx,
    `insert into invitations (id, company_id, email, role, token_hash, invited_by, expires_at)
     values (:id, :companyId, :email, :role, :hash, :invitedBy, now() + interval '7 days') returning *`,
    { id: uuid(), companyId: companyOf(trx), email, role, hash: sha256(token), invitedBy: `user:${self}` },
  )
  return { token, invitation: invitation as Invitation }
}

/** A page of the invitations, newest first; those that ended are kept for a month. */
export async function listInvitations(
  trx: Transaction,
  page: Page,
): Promise<{ rows: Invitation[]; total: number }> {
  const { results, total } = await pageOf(Invitation.query(trx).orderBy(newestFirst('createdAt', 'id')), page)
  return { rows: results, total }
}

/**
 * Revokes an invitation; doing it again changes nothing.
 * @returns the invitation, and whether it was revoked now
 * @throws 404 `INVITATION_NOT_FOUND`, 409 `CONFLICT` when somebody has joined by it
 */
export async function revokeInvitation(
  trx: Transaction,
  id: string,
): Promise<{ invitation: Invitation; isChanged: boolean }> {
  const invitation = isUuid(id) ? await lockInvitation(trx, id) : undefined
  if (!invitation) {
    throw apiError(
      'INVITATION_NOT_FOUND',
      'There is no such invitation: GET /api/v1/invitations lists them',
      { invitation_id: id },
    )
  }
  if (invitation.acceptedAt) {
    throw apiError(
      'CONFLICT',
      'This invitation was accepted: remove the user with DELETE /api/v1/users/{user_id}',
    )
  }
  const revoked = await revokeOpenInvitations(trx, { id })
  return { invitation, isChanged: revoked > 0 }
}

/** Revokes what is open of some email, of some inviter, or the one of an id; gives how many. */
export function revokeOpenInvitations(
  trx: Transaction,
  which: Partial<Pick<Invitation, 'id' | 'email' | 'invitedBy'>>,
): Promise<number> {
  return Invitation.query(trx)
    .where(which)
    .whereNull('acceptedAt')
    .whereNull('revokedAt')
    .where('expiresAt', '>', trx.fn.now())
    .patch({ revokedAt: new Date() })
    .execute()
}

/** An invitation that may be accepted, with the company it is to. */
export interface OpenInvitation {
  id: string
  companyId: string
  role: Invitation['role']
  companyName: string
  plan: Plan
}

/**
 * The open invitation of a token, for the email it is bound to; over all companies, as only the system may.
 * @throws 400 `INVALID_INVITATION`, whatever is wrong with it
 */
export async function findInvitation(
  trx: Transaction,
  { token, email }: { token: string; email: string },
): Promise<OpenInvitation> {
  const [found] = await rows<OpenInvitation>(
    trx,
    `select i.id, i.company_id, i.role, c.name as company_name, c.plan
     from invitations i join companies c on c.company_id = i.company_id
     where i.token_hash = :hash and i.email = :email and ${IS_OPEN}`,
    { hash: sha256(token), email },
  )
  if (!found) throw invalidInvitation()
  return found
}

/**
 * Uses an invitation up, in the transaction that makes its user.
 * @throws 400 `INVALID_INVITATION` when it ended meanwhile, or somebody was faster
 */
export async function acceptInvitation(trx: Transaction, { id, companyId }: OpenInvitation): Promise<void> {
  const [accepted] = await rows(
    trx,
    `update invitations set accepted_at = now() where id = :id and company_id = :companyId and ${IS_OPEN} returning id`,
    { id, companyId },
  )
  if (!accepted) throw invalidInvitation()
}

function invalidInvitation() {
  return apiError(
    'INVALID_INVITATION',
    'This invitation is not good, or not for this email: ask an admin of the company for a new one',
    { field: 'invitation_token' },
  )
}
