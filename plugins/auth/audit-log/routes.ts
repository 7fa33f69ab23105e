import type { ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, caller, inCompany, routesOf } from '../../../server/http/access.ts'
import { queryInteger } from '../../../server/http/page.ts'
import { timeInput } from '../../../server/times/time-input.ts'
import { listAudit, verifyAudit, type AuditQuery } from './audit-log.ts'
import { replies } from '../replies.ts'

const route = routesOf('audit-log')
const VERIFICATIONS_PER_HOUR = 30
const word = Joi.string().max(200)
const time = timeInput

const query = Joi.object<AuditQuery>({
  limit: queryInteger(1, 500).default(50).description('How many entries.'),
  before: queryInteger(1, 1_000_000_000_000).description(
    'Only entries before this number: `next_before` of the previous page.',
  ),
  action: word.description('Such as `source.updated`.'),
  actor: word.description('`user:<id>`, `key:<id>`, `system` or `cli`.'),
  target_type: word.description('Such as `source`.'),
  target_id: word.description('The id of the target.'),
  from: time.description('Only entries at or after this time.'),
  to: time.description('Only entries at or before this time.'),
})

/** The audit log, for admins. It is append-only. */
export const auditRoutes: ServerRoute[] = [
  route('GET', '/api/v1/audit-log', access.admin, {
    id: 'listAuditEntries',
    description: 'List the audit log: what users and API keys did, newest first',
    notes: 'For admins. Ask with `before` for the next page.',
    validate: { query },
    response: replies.auditLog,
    handler: request =>
      inCompany(request, async trx => {
        const page = request.query
        const { entries, nextBefore } = await listAudit(trx, page)
        const pagination = { limit: page.limit, has_more: nextBefore !== null, next_before: nextBefore }
        return { data: entries, pagination }
      }),
  }),
  route('GET', '/api/v1/audit-log/verify', access.admin, {
    id: 'verifyAuditLog',
    description: 'Verify the hash chain of the audit log',
    notes:
      "Computes every entry's hash again and names the first that does not match. Use it to prove that nothing was changed.",
    validate: { query: Joi.object({}) },
    response: replies.auditVerdict,
    async handler(request) {
      const { companyId } = caller(request)
      // Reads the whole log, which may be long.
      await request.server.limits.take(`audit-verify:${companyId}`, VERIFICATIONS_PER_HOUR, 3_600, request)
      return { data: await verifyAudit(work => inCompany(request, work)) }
    },
  }),
]
