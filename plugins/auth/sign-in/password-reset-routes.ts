import type { ServerRoute } from '@hapi/hapi'
import { access, routesOf } from '../../../server/http/access.ts'
import { replies } from '../replies.ts'
import { schemas } from '../schemas.ts'
import { requestPasswordReset, resetPassword } from './password-resets.ts'

const route = routesOf('auth')

/** Choosing a new password with a link that is mailed. */
export const passwordResetRoutes: ServerRoute[] = [
  route('POST', '/api/v1/auth/password-resets', access.byAddress({ name: 'password-resets', perHour: 10 }), {
    id: 'sendPasswordReset',
    description: 'Mail a link to choose a new password',
    notes:
      'The reply is the same whether or not there is such a user. The link works once, within one hour, and replaces the one before. At most 3 an hour for an email, and 10 from an address. Needs the setting `SMTP_URL`.',
    validate: { payload: schemas.requestReset, query: schemas.none },
    response: replies.nothing,
    app: { errors: ['CONFLICT'] },
    async handler(request, h) {
      await requestPasswordReset(request, request.payload.email)
      return h.response().code(204)
    },
  }),
  route(
    'POST',
    '/api/v1/auth/reset-password',
    access.byAddress({ name: 'reset-password', perMinute: 5, isCountedFirst: true }),
    {
      id: 'resetPassword',
      description: 'Choose a new password with the token of a link, and end all sessions of the user',
      notes:
        'It does not sign in: call login next. Linked sign-in providers and API keys stay. A mail says that the password was changed.',
      validate: { payload: schemas.resetPassword, query: schemas.none },
      response: replies.passwordReset,
      app: { errors: ['INVALID_TOKEN', 'WEAK_PASSWORD'] },
      async handler(request, h) {
        const { token, new_password: password } = request.payload
        return h
          .response(await resetPassword(request, { token, password }))
          .header('Cache-Control', 'no-store')
      },
    },
  ),
]
