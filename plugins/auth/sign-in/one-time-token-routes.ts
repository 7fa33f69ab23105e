import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access } from '../../../server/http/access.ts'
import { requestOrigin } from '../../../server/http/audit.ts'
import { presentUser } from '../present.ts'
import { replies } from '../replies.ts'
import { schemas } from '../schemas.ts'
import { redeemTicket } from './one-time-tokens.ts'

const exchange = Joi.object({ ticket: Joi.string().min(1).max(200).required() })
  .required()
  .example({ ticket: 'k7Qd0mZ4Vd8Yw2Kc6Nf1Hs9Lp3Xa5Jg7Ue0QxT0' })
  .label('ExchangeTicketRequest')

/** Exchanging tickets for sessions. */
export const ticketRoutes: ServerRoute[] = [
  {
    method: 'POST',
    path: '/api/v1/auth/tickets',
    options: {
      ...access.tickets,
      description: 'Exchange a ticket for a session',
      notes: 'A ticket is good once: of a sign-in through a provider for 2 minutes.',
      tags: ['api', 'auth'],
      validate: { payload: exchange, query: schemas.none },
      response: replies.login,
      app: { errors: ['INVALID_TOKEN'] },
    },
    async handler(request, h) {
      const { ticket } = request.payload as { ticket: string }
      const { user, company, ...tokens } = await redeemTicket(request.server, ticket, requestOrigin(request))
      return h.response({ ...tokens, user: presentUser(user, company) }).header('Cache-Control', 'no-store')
    },
  },
]
