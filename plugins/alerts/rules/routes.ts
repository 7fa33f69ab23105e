import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany } from '../../../server/http/access.ts'
import { auditorOf, fieldsOf } from '../../../server/http/audit.ts'
import { bodyOf, param, queryOf } from '../../../server/http/input.ts'
import { pageOf, pagination, type Page } from '../../../server/http/page.ts'
import type { Registry } from '../../../server/registry.ts'
import type { AlertKind } from '../api.ts'
import { idParams } from '../lifecycle/schemas.ts'
import { AlertRule, NEWEST_FIRST } from '../models.ts'
import { previewRule, type PreviewInput } from './preview.ts'
import { ruleReplies } from './replies.ts'
import { changeRule, createRule, deleteRule, findRule, presentRule, type RuleInput } from './rules.ts'
import { ruleSchemas } from './schemas.ts'

const tags = ['api', 'alerts']

/** The routes of alert rules, which select the destinations of alerts. */
export function ruleRoutes(kinds: Registry<AlertKind>): ServerRoute[] {
  const schemas = ruleSchemas(kinds.all().map(({ name }) => name))
  const replies = ruleReplies(kinds.all())
  return [
    {
      method: 'GET',
      path: '/api/v1/sdk/alerts/rules',
      options: {
        ...access.read,
        description: 'List alert rules',
        tags,
        validate: { query: schemas.rules },
        response: replies.rules,
      },
      handler(request) {
        const {
          is_active: isActive,
          destination_id: destinationId,
          ...page
        } = queryOf<Page & { is_active?: boolean; destination_id?: string }>(request)
        return inCompany(request, async trx => {
          const matching = AlertRule.query(trx).orderBy(NEWEST_FIRST)
          if (isActive !== undefined) void matching.where({ isActive })
          if (destinationId) void matching.whereRaw('cast(? as uuid) = any(destination_ids)', [destinationId])
          const { results, total } = await pageOf(matching, page)
          return { data: { data: results.map(presentRule), pagination: pagination(total, page) } }
        })
      },
    },
    {
      method: 'POST',
      path: '/api/v1/sdk/alerts/rules',
      options: {
        ...access.write,
        description: 'Create an alert rule',
        tags,
        validate: { payload: schemas.newRule },
        response: replies.newRule,
        app: { errors: ['NOT_FOUND', 'ASSET_NOT_FOUND', 'DESTINATION_NOT_FOUND'] },
      },
      async handler(request, h) {
        const input = bodyOf<RuleInput>(request)
        const rule = await inCompany(request, async trx => {
          const created = await createRule(request.server, trx, input)
          await auditRule(request, trx, 'created', created, { name: created.name })
          return created
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
        response: replies.rule,
        app: { errors: ['NOT_FOUND'] },
        validate: { params: idParams },
      },
      async handler(request) {
        const id = param(request, 'id')
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
        validate: { params: idParams, payload: schemas.rulePatch },
        response: replies.rule,
        app: { errors: ['NOT_FOUND', 'ASSET_NOT_FOUND', 'DESTINATION_NOT_FOUND'] },
      },
      async handler(request) {
        const id = param(request, 'id')
        const input = bodyOf<RuleInput>(request)
        const rule = await inCompany(request, async trx => {
          const changed = await changeRule(request.server, trx, id, input)
          await auditRule(request, trx, 'updated', changed, { fields: fieldsOf(input) })
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
        response: replies.ruleRemoved,
        app: { errors: ['NOT_FOUND'] },
        validate: { params: idParams },
      },
      async handler(request) {
        const id = param(request, 'id')
        await inCompany(request, async trx => {
          const removed = await deleteRule(trx, id)
          await auditRule(request, trx, 'removed', removed, { name: removed.name })
        })
        return { data: { success: true, message: 'The alert rule was deleted' } }
      },
    },
    {
      method: 'POST',
      path: '/api/v1/sdk/alerts/preview',
      options: {
        ...access.read,
        description: 'Preview a rule on past alerts: which it would have sent at once, later or not at all',
        notes: [
          'A cooldown postpones an alert until it ends, and holds back what is over by then.',
          'Takes the fields of a rule, or the id of one; fields beside an id replace those of the rule.',
          'The rule counts as active. Nothing is sent or stored.',
        ],
        tags,
        validate: { payload: schemas.preview },
        response: replies.preview,
        app: { errors: ['NOT_FOUND', 'ASSET_NOT_FOUND', 'DESTINATION_NOT_FOUND'] },
      },
      async handler(request) {
        const input = bodyOf<PreviewInput>(request)
        return { data: await inCompany(request, trx => previewRule(request.server, trx, input)) }
      },
    },
  ]
}

const auditRule = auditorOf('alert_rule', ({ id }: AlertRule) => id)
