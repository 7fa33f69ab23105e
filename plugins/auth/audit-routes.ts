import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, caller, inCompany } from '../../server/access.ts'
import { queryOf } from '../../server/input.ts'
import { queryInteger } from '../../server/page.ts'
import { listAudit, verifyAudit, type AuditQuery } from './audit-log.ts'

const tags = ['api', 'audit-log']
const VERIFIED_AN_HOUR = 30
const word = Joi.string().max(200)
const time = Joi.date().iso()

const query = Joi.object({
  limit: queryInteger(1, 500).default(50).description('How many entries.'),
  before: queryInteger(1, 1_000_000_000_000).description(
    'Only entries before this number: `next_before` of the page before.',
  ),
  action: word.description('Such as `source.updated`.'),
  actor: word.description('`user:<id>`, `key:<id>`, `system` or `cli`.'),
  target_type: word.description('Such as `source`.'),
  target_id: word,
  from: time.description('Entries of this time and after.'),
  to: time.description('Entries of this time and before.'),
})

const entry = Joi.object({
  id: Joi.number().integer().description('Counted from 1 in each company, without gaps.'),
  at: Joi.date().iso(),
  actor: Joi.string(),
  actor_name: Joi.string().allow(null).description('What the user or the key is called now.'),
  action: Joi.string(),
  target: Joi.object({ type: Joi.string(), id: Joi.string() }).allow(null),
  details: Joi.object(),
  request_id: Joi.string().allow(null),
  address: Joi.string().allow(null),
  hash: Joi.string().description('Of this entry and, through the one before it, of all before.'),
}).label('AuditEntry')

const page = Joi.object({
  data: Joi.array().items(entry),
  pagination: Joi.object({
    limit: Joi.number().integer(),
    has_more: Joi.boolean(),
    next_before: Joi.number().integer().allow(null),
  }),
})

const verdict = Joi.object({
  data: Joi.object({
    is_whole: Joi.boolean(),
    entries: Joi.number().integer().description('Entries that are right, from the first on.'),
    broken_at: Joi.number().integer().allow(null).description('The first entry that is wrong or missing.'),
    problem: Joi.string().allow(null),
    head_id: Joi.number().integer(),
    head_hash: Joi.string().description('Written down elsewhere, it shows whether all was made anew.'),
  }),
})

/** The audit log, for admins. It is only ever added to. */
export const auditRoutes: ServerRoute[] = [
  {
    method: 'GET',
    path: '/api/v1/audit-log',
    options: {
      ...access.admin,
      description: 'What people and keys did, newest first',
      tags,
      validate: { query },
      response: { schema: page, sample: 0 },
    },
    handler: request =>
      inCompany(request, async trx => {
        const asked = queryOf<AuditQuery>(request)
        const { entries, nextBefore } = await listAudit(trx, asked)
        const pagination = { limit: asked.limit, has_more: nextBefore !== null, next_before: nextBefore }
        return { data: entries, pagination }
      }),
  },
  {
    method: 'GET',
    path: '/api/v1/audit-log/verify',
    options: {
      ...access.admin,
      description: 'Whether the audit log is whole, or where it breaks',
      tags,
      validate: { query: Joi.object({}) },
      response: { schema: verdict, sample: 0 },
    },
    async handler(request) {
      const { companyId } = caller(request)
      // It reads the whole log, which may be long.
      await request.server.limits.take(`audit-verify:${companyId}`, VERIFIED_AN_HOUR, 3_600, request)
      return { data: await verifyAudit(work => inCompany(request, work)) }
    },
  },
]
