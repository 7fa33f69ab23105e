import type { ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany, routesOf, type AnyRequest } from '../../../server/http/access.ts'
import { auditRequest } from '../../../server/http/audit.ts'
import { param } from '../../../server/http/input.ts'
import { pagination } from '../../../server/http/page.ts'
import type { AuthApi } from '../api.ts'
import { createInvitation, listInvitations, revokeInvitation } from './invitations.ts'
import { mailInvitation } from '../mails/invitation.ts'
import { Company, User } from '../models.ts'
import { presentInvitation, presentUser } from '../present.ts'
import { replies } from '../replies.ts'
import { schemas } from '../schemas.ts'
import { changeUser, listUsers, removeUser } from './users.ts'

const route = routesOf('users')
const userPath = '/api/v1/users/{user_id}'

/** Users and invitations of the company, for its signed-in admins. */
export const userRoutes = (auth: AuthApi): ServerRoute[] => [
  route('GET', '/api/v1/users', access.users, {
    description: 'List the users of the company, newest first',
    notes: 'With their roles. Only signed-in admins may read it.',
    validate: { query: schemas.page },
    response: replies.users,
    handler: request =>
      inCompany(request, async trx => {
        const page = request.query
        const company = await Company.query(trx).first().throwIfNotFound()
        const { results, total } = await listUsers(trx, page)
        return { data: results.map(row => presentUser(row, company)), pagination: pagination(total, page) }
      }),
  }),
  route('PATCH', userPath, access.users, {
    description: "Change a user's role, or disable and enable them",
    notes:
      'Applies from their next request on. Neither the owner nor your own user can be changed. A disabled user is signed out everywhere; API keys that they created stay valid.',
    validate: { params: schemas.userParams, payload: schemas.updateUser, query: schemas.none },
    response: replies.user,
    handler: request =>
      inCompany(request, async trx => {
        const { role, is_active: isActive } = request.payload
        const id = param(request, 'user_id')
        const changed = await changeUser(trx, callerId(request), id, { role, isActive })
        const { before, after, revoked } = changed
        const details = {
          ...(before.role !== after.role && { role: { from: before.role, to: after.role } }),
          ...(before.isActive !== after.isActive && {
            is_active: { from: before.isActive, to: after.isActive },
          }),
          ...(revoked > 0 && { revoked_invitations: revoked }),
        }
        if (Object.keys(details).length > 0) {
          const target = { type: 'user', id: after.id }
          await auditRequest(request, trx, { action: 'user.updated', target, details })
        }
        return presentUser(after, await Company.query(trx).first().throwIfNotFound())
      }),
  }),
  route('DELETE', userPath, access.users, {
    description: 'Remove a user from the company',
    notes:
      'Their sessions end at once; histories keep what they did, and API keys stay valid. Neither the owner nor your own user can be removed.',
    validate: { params: schemas.userParams, query: schemas.none },
    response: replies.nothing,
    async handler(request, h) {
      await inCompany(request, async trx => {
        const { user, revoked } = await removeUser(trx, callerId(request), param(request, 'user_id'))
        await auth.notifyUserRemoved(trx, user)
        const { id, email, fullName, role } = user
        const details = { email, full_name: fullName, role, revoked_invitations: revoked }
        await auditRequest(request, trx, { action: 'user.removed', target: { type: 'user', id }, details })
      })
      return h.response().code(204)
    },
  }),
  route('GET', '/api/v1/invitations', access.users, {
    description: 'List the invitations of the company, newest first',
    notes: 'Without their tokens. Accepted, revoked and expired invitations are kept for 30 days.',
    validate: { query: schemas.page },
    response: replies.invitations,
    handler: request =>
      inCompany(request, async trx => {
        const page = request.query
        const { results, total } = await listInvitations(trx, page)
        return { data: results.map(row => presentInvitation(row)), pagination: pagination(total, page) }
      }),
  }),
  route('POST', '/api/v1/invitations', access.users, {
    description: 'Invite an email to the company; the token is shown once',
    notes:
      'A user who registers with this email and the token within 7 days joins the company in this role. Replaces an open invitation of the same email. Where the operator has set `SMTP_URL`, the link is mailed too: at most 50 an hour, 3 to one address.',
    validate: { payload: schemas.invite, query: schemas.none },
    response: replies.invited,
    app: { errors: ['USER_EXISTS'] },
    async handler(request, h) {
      const body = request.payload
      const { invitation, token, inviter, company } = await inCompany(request, async trx => {
        const made = await createInvitation(trx, callerId(request), body)
        const { fullName, email } = await User.query(trx).findById(callerId(request)).throwIfNotFound()
        const { name: company } = await Company.query(trx).first().throwIfNotFound()
        const target = { type: 'invitation', id: made.invitation.id }
        await auditRequest(request, trx, { action: 'user.invited', target, details: body })
        return { ...made, inviter: fullName || email, company }
      })
      const { id, email, role, expiresAt } = invitation
      const url = `${request.server.config.baseUrl}/invitation?token=${token}`
      const problem = await mailInvitation(request.server, { invitation, url, inviter, company })
      return h
        .response({
          ...{ id, email, role, token, url, expires_at: expiresAt },
          ...{ is_mailed: problem === null, mail_problem: problem },
        })
        .code(201)
        .header('Cache-Control', 'no-store')
    },
  }),
  route('DELETE', '/api/v1/invitations/{invitation_id}', access.users, {
    description: 'Revoke an invitation',
    notes: 'Its token can no longer be used. A user who joined already stays: remove the user.',
    validate: { params: schemas.invitationParams, query: schemas.none },
    response: replies.nothing,
    async handler(request, h) {
      await inCompany(request, async trx => {
        const { invitation, isChanged } = await revokeInvitation(trx, param(request, 'invitation_id'))
        if (!isChanged) return
        const { id, email, role } = invitation
        const target = { type: 'invitation', id }
        await auditRequest(request, trx, { action: 'invitation.revoked', target, details: { email, role } })
      })
      return h.response().code(204)
    },
  }),
]

const callerId = (request: AnyRequest): string => caller(request).userId as string
