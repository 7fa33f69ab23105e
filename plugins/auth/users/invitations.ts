import { randomBytes } from 'node:crypto'
import { v7 as uuid, validate as isUuid } from 'uuid'
import type { Plan } from '../../../server/settings/config.ts'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { defineCap, enforceCap } from '../../../server/database/company-caps.ts'
import { apiError } from '../../../server/http/errors.ts'
import { newestFirst, pageOf, type Page } from '../../../server/http/page.ts'
import { Invitation, User } from '../models.ts'
import { sha256 } from '../sign-in/tokens.ts'
import { lockCompanyAsAdmin, lockInvitation } from '../locks.ts'

const INVITATION_CAP = defineCap({
  name: 'invitations',
  most: 1_000,
  what: 'invitations within 30 days',
  advice: 'wait until older ones are deleted',
})

const IS_OPEN = 'accepted_at is null and revoked_at is null and expires_at > now()'

/**
 * Invites an email to the company for 7 days and revokes an open invitation of the same email. A user of the email in
 * another company is not mentioned: only its owner learns of it, when they register.
 * @param callerId the inviting user
 * @returns the token, which is not stored
 * @throws 403 for a former admin, 409 `USER_EXISTS` for a user of the same company, 409 `LIMIT_REACHED`
 */
export async function createInvitation(
  trx: Transaction,
  callerId: string,
  { email, role }: Pick<Invitation, 'email' | 'role'>,
): Promise<{ token: string; invitation: Invitation }> {
  // The lock makes the second of two concurrent invitations replace the first.
  await lockCompanyAsAdmin(trx, callerId)
  if (await User.query(trx).findOne({ email })) {
    const message = 'A user of your company already has this email: GET /api/v1/users lists them'
    throw apiError('USER_EXISTS', message, { field: 'email' })
  }
  await revokeOpenInvitations(trx, { email })
  const token = randomBytes(32).toString('base64url')
  const [invitation] = await rows<Invitation>(
    trx,
    `insert into invitations (id, company_id, email, role, token_hash, invited_by, expires_at)
     values (:id, :companyId, :email, :role, :hash, :invitedBy, now() + interval '7 days') returning *`,
    {
      id: uuid(),
      companyId: companyOf(trx),
      email,
      role,
      hash: sha256(token),
      invitedBy: `user:${callerId}`,
    },
  )
  await enforceCap(trx, companyOf(trx), INVITATION_CAP)
  return { token, invitation: invitation as Invitation }
}

/** A page of the invitations, newest first; ended ones are kept for 30 days. */
export function listInvitations(trx: Transaction, page: Page) {
  return pageOf(Invitation.query(trx).orderBy(newestFirst('createdAt', 'id')), page)
}

/**
 * Revokes an invitation; revoking it again changes nothing.
 * @returns the invitation, and whether this call revoked it
 * @throws 404 `INVITATION_NOT_FOUND`, 409 `CONFLICT` for an accepted one
 */
export async function revokeInvitation(trx: Transaction, id: string) {
  const invitation = isUuid(id) ? await lockInvitation(trx, id) : undefined
  if (!invitation) {
    const message = 'There is no such invitation: GET /api/v1/invitations lists them'
    throw apiError('INVITATION_NOT_FOUND', message, { invitation_id: id })
  }
  if (invitation.acceptedAt) {
    const message = 'This invitation was accepted: remove the user with DELETE /api/v1/users/{user_id}'
    throw apiError('CONFLICT', message)
  }
  const revoked = await revokeOpenInvitations(trx, { id })
  return { invitation, isChanged: revoked > 0 }
}

export function revokeOpenInvitations(
  trx: Transaction,
  filter: Partial<Pick<Invitation, 'id' | 'email' | 'invitedBy'>>,
): Promise<number> {
  return Invitation.query(trx).where(filter).whereRaw(IS_OPEN).patch({ revokedAt: new Date() }).execute()
}

export interface OpenInvitation {
  id: string
  companyId: string
  role: Invitation['role']
  companyName: string
  plan: Plan
}

/**
 * The open invitation of a token and the email it was sent to. Needs a system transaction.
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

export interface InvitationNotice {
  email: string
  companyName: string
  invitedBy: string | null
  expiresAt: Date
}

/**
 * What the holder of a token may know of an open invitation. Needs a system transaction.
 * @throws 400 `INVALID_INVITATION`, whatever is wrong with it
 */
export async function lookUpInvitation(trx: Transaction, token: string): Promise<InvitationNotice> {
  const [found] = await rows<InvitationNotice>(
    trx,
    `select i.email, c.name as company_name, coalesce(nullif(u.full_name, ''), u.email) as invited_by, i.expires_at
     from invitations i join companies c on c.company_id = i.company_id
     left join users u on u.company_id = i.company_id and 'user:' || u.id = i.invited_by
     where i.token_hash = :hash and ${IS_OPEN}`,
    { hash: sha256(token) },
  )
  if (!found) throw invalidInvitation()
  return found
}

/**
 * Marks an invitation as accepted, in the transaction that creates its user.
 * @throws 400 `INVALID_INVITATION` when it ended or was accepted since it was read
 */
export async function acceptInvitation(trx: Transaction, { id, companyId }: OpenInvitation): Promise<void> {
  const [accepted] = await rows(
    trx,
    `update invitations set accepted_at = now()
     where id = :id and company_id = :companyId and ${IS_OPEN} returning id`,
    { id, companyId },
  )
  if (!accepted) throw invalidInvitation()
}

function invalidInvitation() {
  const field = 'invitation_token'
  const error =
    'This invitation has ended, or is for another email: ask an admin of the company for a new one'
  return apiError('INVALID_INVITATION', error, { field, error, errors: [{ field, error }] })
}
