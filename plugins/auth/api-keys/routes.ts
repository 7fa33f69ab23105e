import type { ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany, routesOf } from '../../../server/http/access.ts'
import { auditRequest } from '../../../server/http/audit.ts'
import { invalidField } from '../../../server/http/errors.ts'
import { param } from '../../../server/http/input.ts'
import { PLAN_LIMITS } from '../../../server/http/limits.ts'
import { pagination } from '../../../server/http/page.ts'
import { countActiveKeys, createKey, findKey, keyAuditEvent, listKeys, revokeKey } from './api-keys.ts'
import { presentKey } from '../present.ts'
import { replies } from '../replies.ts'
import { schemas } from '../schemas.ts'
import { lockCompanyForCaller } from '../locks.ts'

const route = routesOf('api-keys')
const key = '/api/v1/api-keys/{key_id}'

/** API keys, for sessions and keys of scope admin. */
export const keyRoutes: ServerRoute[] = [
  route('POST', '/api/v1/api-keys', access.keys, {
    description: 'Create an API key; it is shown once',
    notes: 'The key is in this reply and nowhere else. Give it the smallest scope that suffices.',
    validate: { payload: schemas.createKey, query: schemas.none },
    response: replies.newKey,
    app: { errors: ['KEY_LIMIT'] },
    async handler(request, h) {
      const body = request.payload
      if (body.expires_at && body.expires_at <= new Date())
        throw invalidField('expires_at', 'must be in the future')
      const made = await inCompany(request, async trx => {
        await lockCompanyForCaller(trx, caller(request))
        const key = await createKey(trx, { name: body.name, scope: body.scope, expiresAt: body.expires_at })
        await auditRequest(request, trx, keyAuditEvent('created', key.row))
        return key
      })
      const record = { ...presentKey(made.row, made.plan), key: made.key }
      return h.response({ data: record }).code(201).header('Cache-Control', 'no-store')
    },
  }),
  route('GET', '/api/v1/api-keys', access.keys, {
    description: 'List the API keys, newest first',
    notes: 'Without the keys themselves: a key is known by its prefix.',
    validate: { query: schemas.listKeys },
    response: replies.keys,
    async handler(request) {
      const { companyId, plan } = caller(request)
      const page = request.query
      const { rows, total } = await request.server.db.company(companyId, trx =>
        listKeys(trx, { page, isRevokedIncluded: page.include_revoked }),
      )
      return { data: { keys: rows.map(row => presentKey(row, plan)), pagination: pagination(total, page) } }
    },
  }),
  route('GET', '/api/v1/api-keys/usage', access.keys, {
    description: 'Get the number of API keys, and how many the plan allows',
    notes: 'Use it before creating a key: the limit answers with 409.',
    validate: { query: schemas.none },
    response: replies.usage,
    async handler(request) {
      const { companyId, plan } = caller(request)
      const { perMinute, burst, maxKeys } = PLAN_LIMITS[plan]
      const count = await request.server.db.company(companyId, trx => countActiveKeys(trx))
      return {
        data: {
          current_count: count,
          max_keys: maxKeys,
          rate_limit_per_min: perMinute,
          burst_limit: burst,
          can_create: maxKeys === null || count < maxKeys,
        },
      }
    },
  }),
  route('GET', key, access.keys, {
    description: 'Get an API key',
    notes: 'Its name, scope, prefix and last use, not the key itself.',
    validate: { params: schemas.keyParams, query: schemas.none },
    response: replies.key,
    app: { errors: ['API_KEY_NOT_FOUND'] },
    async handler(request) {
      const { companyId, plan } = caller(request)
      const id = param(request, 'key_id')
      return { data: presentKey(await request.server.db.company(companyId, trx => findKey(trx, id)), plan) }
    },
  }),
  route('DELETE', key, access.keys, {
    description: 'Revoke an API key',
    notes: 'Requests with it are refused from now on. It stays in the list as revoked.',
    validate: { params: schemas.keyParams, query: schemas.none },
    response: replies.key,
    app: { errors: ['API_KEY_NOT_FOUND'] },
    async handler(request) {
      const id = param(request, 'key_id')
      const revoked = await inCompany(request, trx =>
        revokeKey(trx, id, event => auditRequest(request, trx, event)),
      )
      return { data: presentKey(revoked, caller(request).plan) }
    },
  }),
]
