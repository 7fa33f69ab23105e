import type { Request, ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany } from '../../server/http/access.ts'
import { auditRequest } from '../../server/http/audit.ts'
import type { Transaction } from '../../server/database/database.ts'
import { bodyOf, param } from '../../server/http/input.ts'
import { envelope } from '../../server/http/replies.ts'
import {
  changePreferences,
  readPreferences,
  resetPreferences,
  pickPreference,
  type PreferencesPatch,
} from './preferences.ts'
import { replies } from './replies.ts'
import { schemas } from './schemas.ts'

const tags = ['api', 'preferences']
const path = '/api/v1/auth/preferences'

export const preferenceRoutes: ServerRoute[] = [
  {
    method: 'GET',
    path,
    options: {
      ...access.session,
      description: "Get the user's preferences",
      notes: 'Fields that were never changed have their defaults.',
      tags,
      validate: { query: schemas.none },
      response: replies.preferences,
    },
    handler: request => replyWithPreferences(request, async () => undefined),
  },
  {
    method: 'PATCH',
    path,
    options: {
      ...access.session,
      description: 'Change some preferences',
      notes: 'Absent fields stay unchanged; `custom` is replaced as a whole.',
      tags,
      validate: { payload: schemas.patch, query: schemas.none },
      response: replies.preferences,
    },
    handler: request =>
      replyWithPreferences(request, async (trx, userId) => {
        const patch = bodyOf<PreferencesPatch>(request)
        const fields = Object.keys(patch)
        if (fields.length === 0) return
        await changePreferences(request.server, trx, userId, patch)
        await auditPreferences(request, trx, 'preferences.updated', { fields })
      }),
  },
  {
    method: 'DELETE',
    path,
    options: {
      ...access.session,
      description: 'Reset all preferences to their defaults',
      notes: 'Includes the time zone. Progress in the tour is kept.',
      tags,
      validate: { payload: schemas.nothing, query: schemas.none },
      response: replies.preferences,
    },
    handler: request =>
      replyWithPreferences(request, async (trx, userId) => {
        await resetPreferences(request.server, trx, userId)
        await auditPreferences(request, trx, 'preferences.reset', {})
      }),
  },
  {
    method: 'GET',
    path: `${path}/{preference_key}`,
    options: {
      ...access.session,
      description: 'Get one preference by name',
      notes:
        'A field of the preferences, or a key of `custom`, also written `custom.<key>`; null if there is none.',
      tags,
      validate: { params: schemas.keyParams, query: schemas.none },
      response: replies.value,
    },
    handler: request =>
      inCompany(request, async trx => {
        const record = await readPreferences(request.server, trx, caller(request).userId as string)
        return envelope(pickPreference(record, param(request, 'preference_key')))
      }),
  },
]

/** Changes the caller's preferences and replies with all of them. */
function replyWithPreferences(request: Request, work: (trx: Transaction, userId: string) => Promise<void>) {
  const userId = caller(request).userId as string
  return inCompany(request, async trx => {
    await work(trx, userId)
    return envelope(await readPreferences(request.server, trx, userId))
  })
}

async function auditPreferences(
  request: Request,
  trx: Transaction,
  action: string,
  details: object,
): Promise<void> {
  const target = { type: 'user', id: caller(request).userId as string }
  await auditRequest(request, trx, { action, target, details: { ...details } })
}
