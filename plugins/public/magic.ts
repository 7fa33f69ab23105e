import type { Lifecycle, ServerRoute } from '@hapi/hapi'
import { isbot } from 'isbot'
import Joi from 'joi'
import { access } from '../../server/access.ts'
import { placeOf } from '../../server/audit.ts'
import { failure, record, reply } from '../../server/envelopes.ts'
import { apiError } from '../../server/errors.ts'
import { bodyOf } from '../../server/input.ts'

const path = '/api/public/magic-login'
const tags = ['api', 'public']

/** What mail programs and their guards call themselves, beside what isbot knows. */
const SCANNERS = /preview|scan|barracuda|proofpoint|mimecast/i

const body = Joi.object({
  token: Joi.string().min(1).max(200).required().description('The token of the link that was sent.'),
})
  .required()
  .example({ token: 'k7Qd0mZ4Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0QxT0Rb2' })
  .label('MagicLoginRequest')

const ticket = record(
  {
    ticket: Joi.string().description('Exchange it at POST /api/v1/auth/tickets, once.'),
    expires_in: Joi.number().integer().description('Seconds until the ticket ends.'),
    redirect_url: Joi.string().uri().description('Where to go on, with the ticket in the query.'),
  },
  {
    ticket: 'Zt5Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0QxT0Rb2q3Yk0',
    expires_in: 300,
    redirect_url: 'http://127.0.0.1:8000/?ticket=Zt5Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0QxT0Rb2q3Yk0',
  },
).label('MagicLoginResponse')

const refusal = () =>
  apiError(
    'BOT_REFUSED',
    'Programs that look at links are not signed in: send the token by POST, from a browser',
  )

/** A link that was looked at is not used up: programs that do so are told apart by what they call themselves. */
const refuseScanners: Lifecycle.Method = (request, h) => {
  const agent = String(request.headers['user-agent'] ?? '')
  if (isbot(agent) || SCANNERS.test(agent)) throw refusal()
  return h.continue
}

/** Signing in by a link that was sent. */
export const magicRoutes: ServerRoute[] = [
  {
    method: 'GET',
    path,
    options: {
      ...access.open,
      description: 'Refused: programs that look at links in mails ask by GET',
      tags,
      response: reply(failure, 403),
    },
    handler() {
      throw refusal()
    },
  },
  {
    method: 'POST',
    path,
    options: {
      ...access.magic,
      description: 'Exchange the token of a link for a sign-in ticket',
      notes:
        'Makes the user at the first time. The token is good for 7 days, as often as its owner likes; the ticket once, for 5 minutes.',
      tags,
      validate: { payload: body },
      // Before the body is judged, so that a scanner is told nothing of what it has sent.
      ext: { onPostAuth: { method: refuseScanners } },
      app: { errors: ['INVALID_TOKEN', 'FORBIDDEN', 'BOT_REFUSED', 'USER_EXISTS'] },
      response: reply(ticket),
    },
    async handler(request, h) {
      const { token } = bodyOf<{ token: string }>(request)
      const made = await request.server.plugins.auth.admitProspect(token, placeOf(request))
      return h
        .response({ ticket: made.ticket, expires_in: made.expiresIn, redirect_url: made.redirectUrl })
        .header('Cache-Control', 'no-store')
    },
  },
]
