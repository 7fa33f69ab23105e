import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../../server/http/access.ts'
import { auditorOf, fieldsOf } from '../../../server/http/audit.ts'
import { idParams, param } from '../../../server/http/input.ts'
import { pageOf, pagination } from '../../../server/http/page.ts'
import { presentDestinations } from '../delivery/present.ts'
import type { Deps } from '../deps.ts'
import { presentKind } from '../kinds.ts'
import { AlertRule, NEWEST_FIRST } from '../models.ts'
import { linkDestinations, listRuleDestinations, unlinkDestination } from './links.ts'
import { previewRule } from './preview.ts'
import { ruleReplies } from './replies.ts'
import { changeRule, createRule, deleteRule, findRule, presentRule } from './rules.ts'
import { ruleSchemas } from './schemas.ts'

const route = routesOf('alert-rules')

export function ruleRoutes(deps: Deps): ServerRoute[] {
  const { kinds, lookUps } = deps
  const schemas = ruleSchemas(kinds.all())
  const replies = ruleReplies(kinds.all())
  return [
    route('GET', '/api/v1/sdk/alerts/rules', access.read, {
      description: 'List alert rules',
      notes:
        'Newest first. A company without rules sends warnings and critical alerts to all its destinations.',
      validate: { query: schemas.rules },
      response: replies.rules,
      handler(request) {
        const {
          is_active: isActive,
          enabled_only: isEnabledOnly,
          destination_id: destinationId,
          ...page
        } = request.query
        return inCompany(request, async trx => {
          const matching = AlertRule.query(trx).orderBy(NEWEST_FIRST)
          if (isActive !== undefined) void matching.where({ isActive })
          if (isEnabledOnly) void matching.where({ isActive: true })
          if (destinationId) void matching.whereRaw('cast(? as uuid) = any(destination_ids)', [destinationId])
          const { results, total } = await pageOf(matching, page)
          return {
            data: {
              data: results.map(presentRule),
              pagination: pagination(total, page),
              event_types: kinds.all().map(presentKind),
            },
          }
        })
      },
    }),
    route('POST', '/api/v1/sdk/alerts/rules', access.write, {
      description: 'Create an alert rule',
      notes:
        'Chooses by event type, severity, asset and tags which alerts go to which destinations. Preview it first with `POST /api/v1/sdk/alerts/preview`.',
      validate: { payload: schemas.newRule },
      response: replies.newRule,
      app: { errors: ['NOT_FOUND', 'ASSET_NOT_FOUND', 'DESTINATION_NOT_FOUND'] },
      async handler(request, h) {
        const input = request.payload
        const rule = await inCompany(request, async trx => {
          const created = await createRule(lookUps, trx, input)
          await auditRule(request, trx, 'created', created, { name: created.name })
          return created
        })
        return h.response({ data: presentRule(rule) }).code(201)
      },
    }),
    route('GET', '/api/v1/sdk/alerts/rules/{id}', access.read, {
      description: 'Get an alert rule',
      notes: 'With its conditions and the ids of its destinations.',
      response: replies.rule,
      app: { errors: ['NOT_FOUND'] },
      validate: { params: idParams },
      async handler(request) {
        const id = param(request, 'id')
        const rule = await inCompany(request, trx => findRule(trx, id))
        return { data: presentRule(rule) }
      },
    }),
    ...(['PATCH', 'PUT'] as const).map(method =>
      route(method, '/api/v1/sdk/alerts/rules/{id}', access.write, {
        description: method === 'PUT' ? 'Change an alert rule, as PATCH does' : 'Change an alert rule',
        notes:
          'Fields that are left out keep their values.' +
          (method === 'PUT' ? ' For clients that send PUT; others use PATCH.' : ''),
        validate: { params: idParams, payload: schemas.rulePatch },
        response: replies.rule,
        app: { errors: ['NOT_FOUND', 'ASSET_NOT_FOUND', 'DESTINATION_NOT_FOUND'] },
        async handler(request) {
          const id = param(request, 'id')
          const input = request.payload
          const rule = await inCompany(request, async trx => {
            const changed = await changeRule(lookUps, trx, await findRule(trx, id, true), input)
            await auditRule(request, trx, 'updated', changed, { fields: fieldsOf(input) })
            return changed
          })
          return { data: presentRule(rule) }
        },
      }),
    ),
    route('DELETE', '/api/v1/sdk/alerts/rules/{id}', access.write, {
      description: 'Delete an alert rule',
      notes: 'Alerts stay. When the last rule is gone, the default applies again.',
      response: replies.ruleRemoved,
      app: { errors: ['NOT_FOUND'] },
      validate: { params: idParams },
      async handler(request) {
        const id = param(request, 'id')
        await inCompany(request, async trx => {
          const removed = await deleteRule(trx, id)
          await auditRule(request, trx, 'removed', removed, { name: removed.name })
        })
        return { data: { success: true, message: 'The alert rule was deleted' } }
      },
    }),
    route('GET', '/api/v1/sdk/alerts/rules/{id}/destinations', access.read, {
      description: 'List the destinations of an alert rule',
      notes: 'The whole destinations; the rule itself has their ids.',
      validate: { params: idParams },
      response: replies.destinations,
      app: { errors: ['NOT_FOUND'] },
      async handler(request) {
        const id = param(request, 'id')
        const destinations = await inCompany(request, async trx =>
          presentDestinations(trx, await listRuleDestinations(trx, id)),
        )
        return { data: { destinations } }
      },
    }),
    route('POST', '/api/v1/sdk/alerts/rules/{id}/destinations', access.write, {
      id: 'addAlertRuleDestinations',
      description: 'Add destinations to an alert rule',
      notes: 'Those that it has already do not count.',
      validate: { params: idParams, payload: schemas.links },
      response: replies.linked,
      app: { errors: ['NOT_FOUND', 'DESTINATION_NOT_FOUND'] },
      async handler(request) {
        const id = param(request, 'id')
        const { destination_ids: added } = request.payload
        const linkedCount = await inCompany(request, async trx => {
          const { rule, linkedCount: count } = await linkDestinations(lookUps, trx, id, added)
          await auditRule(request, trx, 'updated', rule, { fields: ['destination_ids'] })
          return count
        })
        return { data: { rule_id: id, linked_count: linkedCount } }
      },
    }),
    route('DELETE', '/api/v1/sdk/alerts/rules/{id}/destinations/{destination_id}', access.write, {
      id: 'removeAlertRuleDestination',
      description: 'Remove a destination from an alert rule',
      notes: 'The only destination of an active rule cannot be removed.',
      validate: { params: schemas.linkParams },
      response: replies.unlinked,
      app: { errors: ['NOT_FOUND', 'DESTINATION_NOT_FOUND', 'CONFLICT'] },
      async handler(request) {
        const [id, destinationId] = [param(request, 'id'), param(request, 'destination_id')]
        await inCompany(request, async trx => {
          const rule = await unlinkDestination(lookUps, trx, id, destinationId)
          await auditRule(request, trx, 'updated', rule, { fields: ['destination_ids'] })
        })
        return { data: { success: true, message: 'The destination was removed from the alert rule' } }
      },
    }),
    route('POST', '/api/v1/sdk/alerts/preview', access.read, {
      id: 'previewAlertRule',
      description: 'Preview a rule on past alerts: which it would have sent at once, later or not at all',
      notes: [
        'A cooldown postpones an alert until it ends, and holds back what is over by then.',
        'Takes the fields of a rule, or the id of one; fields beside an id replace those of the rule.',
        'The rule counts as active. Nothing is sent or stored.',
      ],
      validate: { payload: schemas.preview },
      response: replies.preview,
      app: { isHeavy: true, errors: ['NOT_FOUND', 'ASSET_NOT_FOUND', 'DESTINATION_NOT_FOUND'] },
      async handler(request) {
        const input = request.payload
        return { data: await inCompany(request, trx => previewRule(deps, trx, input)) }
      },
    }),
  ]
}

const auditRule = auditorOf('alert_rule', ({ id }: AlertRule) => id)
