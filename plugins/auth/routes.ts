import type { Request, ServerRoute } from '@hapi/hapi'
import { access, caller } from '../../server/access.ts'
import { apiError } from '../../server/errors.ts'
import { register, signIn } from './accounts.ts'
import { Company, User } from './models.ts'
import { hashPassword, inTurn, isPassword, refuseWeak } from './passwords.ts'
import { presentUser } from './present.ts'
import { schemas } from './schemas.ts'
import { endSessions, refreshSession } from './sessions.ts'

const tags = ['api', 'auth']

/** Accounts: registering, signing in and out, and a user's own settings. */
export const routes: ServerRoute[] = [
  {
    method: 'POST',
    path: '/api/v1/auth/register',
    options: {
      ...access.register,
      description: 'Make a company and its owner',
      tags,
      validate: { payload: schemas.register, query: schemas.none },
    },
    async handler(request, h) {
      const body = request.payload as Record<'email' | 'password', string> &
        Record<string, string | undefined>
      if (body.invitation_token !== undefined) {
        throw apiError('INVALID_INVITATION', 'This invitation is not good any more: ask for a new one', {
          field: 'invitation_token',
        })
      }
      const { user, company } = await register(request.server, {
        email: body.email,
        password: body.password,
        fullName: body.full_name,
        companyName: body.company_name,
      })
      return h.response(presentUser(user, company)).code(201)
    },
  },
  {
    method: 'POST',
    path: '/api/v1/auth/login',
    options: {
      ...access.login,
      description: 'Sign in',
      tags,
      validate: { payload: schemas.login, query: schemas.none },
    },
    async handler(request, h) {
      const { user, company, ...tokens } = await signIn(
        request.server,
        request.payload as { email: string; password: string },
      )
      return h.response({ ...tokens, user: presentUser(user, company) }).header('Cache-Control', 'no-store')
    },
  },
  {
    method: 'PUT',
    path: '/api/v1/auth/tokens/current',
    options: {
      ...access.open,
      description: 'Exchange a refresh token for new tokens',
      tags,
      validate: { payload: schemas.refresh, query: schemas.none },
    },
    async handler(request, h) {
      const { refresh_token: text } = request.payload as { refresh_token: string }
      return h
        .response(await refreshSession(request.server, text, request))
        .header('Cache-Control', 'no-store')
    },
  },
  {
    method: 'POST',
    path: '/api/v1/auth/logout',
    options: {
      ...access.sessionLimited,
      description: 'End this session',
      tags,
      validate: { payload: schemas.nothing, query: schemas.none },
    },
    async handler(request, h) {
      const { companyId, sessionId } = caller(request)
      await request.server.db.company(companyId, trx => endSessions(trx, { id: sessionId as string }))
      return h.response().code(204)
    },
  },
  {
    method: 'GET',
    path: '/api/v1/auth/me',
    options: {
      ...access.session,
      description: 'The signed-in user',
      tags,
      validate: { query: schemas.none },
    },
    handler: request => updateSelf(request, {}),
  },
  {
    method: 'PATCH',
    path: '/api/v1/auth/me',
    options: {
      ...access.sessionLimited,
      description: 'Change name or time zone',
      tags,
      validate: { payload: schemas.profile, query: schemas.none },
    },
    handler(request) {
      const { full_name: fullName, timezone } = request.payload as {
        full_name?: string | null
        timezone?: string
      }
      return updateSelf(request, {
        ...(fullName !== undefined && { fullName }),
        ...(timezone !== undefined && { timezone }),
      })
    },
  },
  {
    method: 'POST',
    path: '/api/v1/auth/change-password',
    options: {
      ...access.sessionLimited,
      description: 'Change the password and end all sessions',
      tags,
      validate: { payload: schemas.changePassword, query: schemas.none },
    },
    async handler(request, h) {
      await changePassword(request)
      return h.response().code(204)
    },
  },
]

async function updateSelf(request: Request, changes: Partial<Pick<User, 'fullName' | 'timezone'>>) {
  const { companyId, userId } = caller(request)
  return request.server.db.company(companyId, async trx => {
    const query = User.query(trx).findById(userId as string)
    if (Object.keys(changes).length > 0) await query.clone().patch(changes)
    const user = await query
    if (!user) throw userGone()
    return presentUser(user, await Company.query(trx).first().throwIfNotFound())
  })
}

async function changePassword(request: Request): Promise<void> {
  const { companyId, userId } = caller(request)
  const { old_password: oldPassword, new_password: newPassword } = request.payload as Record<string, string>
  const { db } = request.server
  const user = await db.company(companyId, async trx => User.query(trx).findById(userId as string))
  if (!user) throw userGone()
  const passwordHash = await inTurn(async () => {
    if (!(await isPassword(oldPassword as string, user.passwordHash))) throw wrongPassword()
    refuseWeak(newPassword as string, user.email)
    return hashPassword(newPassword as string)
  })
  await db.company(companyId, async trx => {
    // By the old hash, so that of two changes at once the second fails instead of winning.
    const changed = await User.query(trx)
      .where({ id: user.id, passwordHash: user.passwordHash })
      .patch({ passwordHash })
    if (changed === 0) throw wrongPassword()
    await endSessions(trx, { userId: user.id })
  })
}

function wrongPassword() {
  return apiError('INVALID_PASSWORD', 'The old password is wrong: check it and try again', {
    field: 'old_password',
  })
}

function userGone() {
  return apiError('USER_NOT_FOUND', 'This user is gone: sign in as another')
}
