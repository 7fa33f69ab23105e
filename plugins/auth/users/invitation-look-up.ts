import type { ServerRoute } from '@hapi/hapi'
import { access, routesOf } from '../../../server/http/access.ts'
import { replies } from '../replies.ts'
import { schemas } from '../schemas.ts'
import { lookUpInvitation } from './invitations.ts'

const route = routesOf('auth')

/** For the invited person, who has no user yet. The token is in the body, since addresses are logged. */
export const invitationLookUp: ServerRoute = route(
  'POST',
  '/api/v1/auth/invitation',
  access.byAddress({ name: 'invitation', perMinute: 10, isCountedFirst: true }),
  {
    id: 'findInvitation',
    description: 'Look an invitation up by its token',
    notes: 'For the page where the invited person registers. Does not use the token up.',
    validate: { payload: schemas.lookUpInvitation, query: schemas.none },
    response: replies.foundInvitation,
    app: { errors: ['INVALID_INVITATION'] },
    async handler(request, h) {
      const { invitation_token: token } = request.payload
      const found = await request.server.db.system(trx => lookUpInvitation(trx, token))
      const { email, companyName, invitedBy, expiresAt } = found
      return h
        .response({ email, company_name: companyName, invited_by: invitedBy, expires_at: expiresAt })
        .header('Cache-Control', 'no-store')
    },
  },
)
