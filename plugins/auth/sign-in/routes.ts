import type { ServerRoute } from '@hapi/hapi'
import {
  access,
  caller,
  inCompany,
  routesOf,
  type AnyRequest,
  type ValidRequest,
} from '../../../server/http/access.ts'
import { auditRequest, fieldsOf, requestOrigin } from '../../../server/http/audit.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import { registerUser } from '../accounts.ts'
import { Company, User } from '../models.ts'
import { findCurrentUser, wrongPassword } from './current-user.ts'
import { hashPassword, withHashingSlot, isPassword, assertStrongPassword } from './passwords.ts'
import { presentSignIn, presentUser } from '../present.ts'
import { replies } from '../replies.ts'
import { schemas } from '../schemas.ts'
import { endAllSessions, endSession, refreshSession } from './sessions.ts'
import { redeemTicket } from './one-time-tokens.ts'
import { signInWithPassword } from './sign-in.ts'

const route = routesOf('auth')

/** Registering, signing in and out, and a user's own profile. */
export const routes: ServerRoute[] = [
  route('POST', '/api/v1/auth/register', access.byAddress({ name: 'register', perMinute: 3 }), {
    id: 'register',
    description: 'Create a company and its owner, or join a company with its invitation',
    notes:
      'Without `invitation_token` a new company is created; the operator may close this with `REGISTRATION_ENABLED`. It does not sign in: call login next. At most 3 per minute and address.',
    validate: { payload: schemas.register, query: schemas.none },
    response: replies.registered,
    app: { errors: ['WEAK_PASSWORD', 'INVALID_INVITATION', 'FORBIDDEN', 'USER_EXISTS', 'CONFLICT'] },
    async handler(request, h) {
      const body = request.payload
      const { user, company } = await registerUser(
        request.server,
        {
          email: body.email,
          password: body.password,
          fullName: body.full_name,
          companyName: body.company_name,
          invitationToken: body.invitation_token,
        },
        requestOrigin(request),
      )
      return h.response(presentUser(user, company)).code(201)
    },
  }),
  route(
    'POST',
    '/api/v1/auth/login',
    access.byAddress({ name: 'login', perMinute: 5, isCountedFirst: true }),
    {
      id: 'login',
      description: 'Sign in with email and password',
      notes:
        'Returns an access token for 15 minutes and a refresh token. Programs use an API key instead. At most 5 per minute and address; too many wrong passwords lock the account for a while.',
      validate: { payload: schemas.login, query: schemas.none },
      response: replies.login,
      app: { errors: ['INVALID_CREDENTIALS', 'ACCOUNT_LOCKED'] },
      async handler(request, h) {
        const signedIn = await signInWithPassword(request, request.payload)
        return h.response(presentSignIn(signedIn)).header('Cache-Control', 'no-store')
      },
    },
  ),
  route('POST', '/api/v1/auth/tickets', access.byAddress({ name: 'tickets', perMinute: 5 }), {
    id: 'exchangeTicket',
    description: 'Exchange a ticket for a session',
    notes: 'A ticket can be used once; that of a sign-in through a provider lasts 2 minutes.',
    validate: { payload: schemas.exchangeTicket, query: schemas.none },
    response: replies.login,
    app: { errors: ['INVALID_TOKEN'] },
    async handler(request, h) {
      const { ticket } = request.payload
      const signedIn = await redeemTicket(request.server, ticket, requestOrigin(request))
      return h.response(presentSignIn(signedIn)).header('Cache-Control', 'no-store')
    },
  }),
  route('PUT', '/api/v1/auth/tokens/current', access.open, {
    id: 'refreshTokens',
    description: 'Exchange a refresh token for new tokens',
    notes: 'Use it before the access token expires. A refresh token can be used once.',
    validate: { payload: schemas.refresh, query: schemas.none },
    response: replies.tokens,
    app: { errors: ['UNAUTHORIZED', 'RATE_LIMITED'] },
    async handler(request, h) {
      const { refresh_token: text } = request.payload
      return h
        .response(await refreshSession(request.server, text, request))
        .header('Cache-Control', 'no-store')
    },
  }),
  route('POST', '/api/v1/auth/logout', access.session, {
    id: 'logout',
    description: 'Sign out of this session',
    notes: 'Its access and refresh tokens are refused from now on. Other sessions stay open.',
    validate: { payload: schemas.nothing, query: schemas.none },
    response: replies.nothing,
    async handler(request, h) {
      await inCompany(request, async trx => {
        await endSession(trx, caller(request).sessionId as string)
        await auditSelf(request, trx, 'user.signed_out')
      })
      return h.response().code(204)
    },
  }),
  route('GET', '/api/v1/auth/me', access.session, {
    id: 'getMe',
    description: 'Get the signed-in user',
    notes: 'The user that the access token belongs to. API keys have no user.',
    validate: { query: schemas.none },
    response: replies.user,
    app: { errors: ['USER_NOT_FOUND'] },
    handler: request => updateSelf(request, {}),
  }),
  route('PATCH', '/api/v1/auth/me', access.sessionLimited, {
    id: 'updateMe',
    description: 'Change your name or time zone',
    notes: 'Fields that are left out keep their values.',
    validate: { payload: schemas.profile, query: schemas.none },
    response: replies.user,
    app: { errors: ['USER_NOT_FOUND'] },
    handler: request => updateSelf(request, request.payload),
  }),
  route('POST', '/api/v1/auth/change-password', access.sessionLimited, {
    id: 'changePassword',
    description: 'Change your password and end all your sessions',
    notes: 'The old password is required. Sign in again afterwards.',
    validate: { payload: schemas.changePassword, query: schemas.none },
    response: replies.nothing,
    app: { errors: ['WEAK_PASSWORD', 'INVALID_PASSWORD', 'USER_NOT_FOUND'] },
    async handler(request, h) {
      await changePassword(request)
      return h.response().code(204)
    },
  }),
]

async function updateSelf(request: AnyRequest, body: { full_name?: string | null; timezone?: string }) {
  const { companyId, userId } = caller(request)
  const fields = fieldsOf(body)
  const isChange = fields.length > 0
  return request.server.db.company(companyId, async trx => {
    if (isChange)
      await User.query(trx)
        .findById(userId as string)
        .patch({ fullName: body.full_name, timezone: body.timezone })
    const user = await findCurrentUser(request, trx)
    const record = presentUser(user, await Company.query(trx).first().throwIfNotFound())
    if (isChange)
      await auditRequest(request, trx, {
        action: 'user.updated',
        target: { type: 'user', id: user.id },
        details: { fields },
      })
    return record
  })
}

async function changePassword(
  request: ValidRequest<{ old_password: string; new_password: string }, unknown>,
): Promise<void> {
  const { old_password: oldPassword, new_password: newPassword } = request.payload
  const { user, company } = await inCompany(request, async trx => ({
    user: await findCurrentUser(request, trx),
    company: await Company.query(trx).first().throwIfNotFound(),
  }))
  if (user.passwordHash === null) {
    const message = 'Your user has no password: you sign in through a provider, and change it there'
    throw apiError('CONFLICT', message)
  }
  const passwordHash = await withHashingSlot(async () => {
    if (!(await isPassword(oldPassword, user.passwordHash))) throw wrongPassword()
    assertStrongPassword(newPassword, user.email, { companyName: company.name, field: 'new_password' })
    return hashPassword(newPassword)
  })
  await inCompany(request, async trx => {
    // Matching the old hash makes the second of two concurrent changes fail instead of winning.
    const changed = await User.query(trx)
      .where({ id: user.id, passwordHash: user.passwordHash })
      .patch({ passwordHash })
    if (changed === 0) throw wrongPassword()
    await endAllSessions(trx, user.id)
    await auditSelf(request, trx, 'user.password_changed')
  })
}

function auditSelf(request: AnyRequest, trx: Transaction, action: string): Promise<number> {
  return auditRequest(request, trx, {
    action,
    target: { type: 'user', id: caller(request).userId as string },
  })
}
