import type { ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany, routesOf, type AnyRequest } from '../../server/http/access.ts'
import { auditRequest } from '../../server/http/audit.ts'
import type { Transaction } from '../../server/database/database.ts'
import { param } from '../../server/http/input.ts'
import { envelope } from '../../server/http/replies.ts'
import { changePreferences, pickPreference, readPreferences, resetPreferences } from './preferences.ts'
import { replies } from './replies.ts'
import { schemas } from './schemas.ts'

const route = routesOf('preferences')
const path = '/api/v1/auth/preferences'

export const preferenceRoutes: ServerRoute[] = [
  route('GET', path, access.session, {
    id: 'getPreferences',
    description: "Get the user's preferences",
    notes: 'Fields that were never changed have their defaults.',
    validate: { query: schemas.none },
    response: replies.preferences,
    handler: request => replyWithPreferences(request, async () => undefined),
  }),
  route('PATCH', path, access.session, {
    id: 'updatePreferences',
    description: 'Change some preferences',
    notes: 'Absent fields stay unchanged; `custom` is replaced as a whole.',
    validate: { payload: schemas.patch, query: schemas.none },
    response: replies.preferences,
    handler: request =>
      replyWithPreferences(request, async (trx, userId) => {
        const patch = request.payload
        const fields = Object.keys(patch)
        if (fields.length === 0) return
        await changePreferences(request.server.plugins, trx, userId, patch)
        await auditPreferences(request, trx, 'preferences.updated', { fields })
      }),
  }),
  route('DELETE', path, access.session, {
    id: 'resetPreferences',
    description: 'Reset all preferences to their defaults',
    notes: 'Includes the time zone. Progress in the tour is kept.',
    validate: { payload: schemas.nothing, query: schemas.none },
    response: replies.preferences,
    handler: request =>
      replyWithPreferences(request, async (trx, userId) => {
        await resetPreferences(request.server.plugins, trx, userId)
        await auditPreferences(request, trx, 'preferences.reset', {})
      }),
  }),
  route('GET', `${path}/{preference_key}`, access.session, {
    id: 'getPreference',
    description: 'Get one preference by name',
    notes:
      'A field of the preferences, or a key of `custom`, also written `custom.<key>`; null if there is none.',
    validate: { params: schemas.keyParams, query: schemas.none },
    response: replies.value,
    handler: request =>
      inCompany(request, async trx => {
        const record = await readPreferences(request.server.plugins, trx, caller(request).userId as string)
        return envelope(pickPreference(record, param(request, 'preference_key')))
      }),
  }),
]

function replyWithPreferences(
  request: AnyRequest,
  work: (trx: Transaction, userId: string) => Promise<void>,
) {
  const userId = caller(request).userId as string
  return inCompany(request, async trx => {
    await work(trx, userId)
    return envelope(await readPreferences(request.server.plugins, trx, userId))
  })
}

async function auditPreferences(request: AnyRequest, trx: Transaction, action: string, details: object) {
  const target = { type: 'user', id: caller(request).userId as string }
  await auditRequest(request, trx, { action, target, details: { ...details } })
}
