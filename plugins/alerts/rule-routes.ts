import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany } from '../../server/access.ts'
import { auditorOf, fieldsOf } from '../../server/audit.ts'
import { pagination, type Page } from '../../server/page.ts'
import { AlertRule } from './models.ts'
import { presentRule } from './present.ts'
import { changeRule, createRule, deleteRule, findRule, type RuleInput } from './rules.ts'
import { schemas } from './schemas.ts'

const tags = ['api', 'alerts']

/** Alert rules: which events reach which destinations. */
export const ruleRoutes: ServerRoute[] = [
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts/rules',
    options: { ...access.read, description: 'List alert rules', tags, validate: { query: schemas.page } },
    handler(request) {
      const page = request.query as unknown as Page
      return inCompany(request, async trx => {
        const total = await AlertRule.query(trx).resultSize()
        const found = await AlertRule.query(trx)
          .orderBy([
            { column: 'createdAt', order: 'desc' },
            { column: 'id', order: 'desc' },
          ])
          .limit(page.limit)
          .offset(page.offset)
        return { data: { data: found.map(presentRule), pagination: pagination(total, page) } }
      })
    },
  },
  {
    method: 'POST',
    path: '/api/v1/sdk/alerts/rules',
    options: {
      ...access.write,
      description: 'Make an alert rule',
      tags,
      validate: { payload: schemas.newRule },
    },
    async handler(request, h) {
      const input = request.payload as RuleInput
      const rule = await inCompany(request, async trx => {
        const made = await createRule(trx, input)
        await tell(request, trx, 'created', made, { name: made.name })
        return made
      })
      return h.response({ data: presentRule(rule) }).code(201)
    },
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts/rules/{id}',
    options: {
      ...access.read,
      description: 'Show an alert rule',
      tags,
      validate: { params: schemas.idParams },
    },
    async handler(request) {
      const { id } = request.params as { id: string }
      const rule = await inCompany(request, trx => findRule(trx, id))
      return { data: presentRule(rule) }
    },
  },
  {
    method: 'PATCH',
    path: '/api/v1/sdk/alerts/rules/{id}',
    options: {
      ...access.write,
      description: 'Change an alert rule',
      tags,
      validate: { params: schemas.idParams, payload: schemas.rulePatch },
    },
    async handler(request) {
      const { id } = request.params as { id: string }
      const input = request.payload as RuleInput
      const rule = await inCompany(request, async trx => {
        const changed = await changeRule(trx, id, input)
        await tell(request, trx, 'updated', changed, { fields: fieldsOf(input) })
        return changed
      })
      return { data: presentRule(rule) }
    },
  },
  {
    method: 'DELETE',
    path: '/api/v1/sdk/alerts/rules/{id}',
    options: {
      ...access.write,
      description: 'Delete an alert rule',
      tags,
      validate: { params: schemas.idParams },
    },
    async handler(request) {
      const { id } = request.params as { id: string }
      await inCompany(request, async trx => {
        const removed = await deleteRule(trx, id)
        await tell(request, trx, 'removed', removed, { name: removed.name })
      })
      return { data: { success: true, message: 'The alert rule was deleted' } }
    },
  },
]

const tell = auditorOf('alert_rule', ({ id }: AlertRule) => id)
