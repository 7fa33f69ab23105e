import type { ServerRoute } from '@hapi/hapi'
import type Joi from 'joi'
import type { Registry } from '../../../server/registry.ts'
import type { AlertKind } from '../api.ts'
import { access, actorOf, caller, inCompany } from '../../../server/http/access.ts'
import { auditRequest } from '../../../server/http/audit.ts'
import { param } from '../../../server/http/input.ts'
import { listAlerts, listTransitions, summarizeAlerts } from './lists.ts'
import { Alert } from '../models.ts'
import { transitionAlert, noAlert, type TransitionRequest } from './transitions.ts'
import { presentAlert } from './present.ts'
import { alertReplies } from './replies.ts'
import { alertSchemas, idParams } from './schemas.ts'
import { showTrends } from './trends.ts'

const tags = ['api', 'alerts']

/** The routes of alerts. */
export function alertRoutes(kinds: Registry<AlertKind>): ServerRoute[] {
  const schemas = alertSchemas(kinds.all().map(({ name }) => name))
  const replies = alertReplies(kinds.all())
  return [
    {
      method: 'GET',
      path: '/api/v1/sdk/alerts',
      options: {
        ...access.read,
        description: 'List alerts',
        tags,
        validate: { query: schemas.alerts },
        response: replies.alerts,
      },
      async handler(request) {
        const { items, page } = await listAlerts(request)
        return { data: { data: items, pagination: page } }
      },
    },
    {
      method: 'GET',
      path: '/api/v1/sdk/alerts/inbox',
      options: {
        ...access.read,
        description: 'List alerts that need attention: triggered and acknowledged ones',
        tags,
        validate: { query: schemas.inbox },
        response: replies.inbox,
      },
      async handler(request) {
        const { items, page } = await listAlerts(request)
        return { data: { alerts: items, pagination: page } }
      },
    },
    {
      method: 'GET',
      path: '/api/v1/sdk/alerts/summary',
      options: {
        ...access.read,
        description: 'Count alerts',
        tags,
        validate: { query: schemas.none },
        response: replies.summary,
      },
      handler: summarizeAlerts,
    },
    {
      method: 'GET',
      path: '/api/v1/sdk/alerts/trends',
      options: {
        ...access.read,
        description:
          'Count alerts day by day: how many were opened and closed, how long people took, and what is noisiest',
        notes: [
          'Means cover the alerts that were acknowledged for the first time, or resolved, within these days.',
          'An alert that got worse is resolved and opened anew. Notices of finished discoveries do not count.',
        ],
        tags,
        validate: { query: schemas.trends },
        response: replies.trends,
      },
      handler: showTrends,
    },
    {
      method: 'GET',
      path: '/api/v1/sdk/alerts/{id}',
      options: {
        ...access.read,
        description: 'Show an alert',
        tags,
        validate: { params: idParams },
        response: replies.alert,
      },
      async handler(request) {
        const id = param(request, 'id')
        const alert = await inCompany(request, async trx => Alert.query(trx).findById(id))
        if (!alert) throw noAlert(id)
        return { data: presentAlert(request.server, alert) }
      },
    },
    {
      method: 'GET',
      path: '/api/v1/sdk/alerts/{id}/history',
      options: {
        ...access.read,
        description: 'List the transitions of an alert, newest first',
        tags,
        validate: { params: idParams, query: schemas.page },
        response: replies.transitions,
      },
      handler: listTransitions,
    },
    transitionRoute('acknowledge', 'acknowledged', 'Acknowledge an alert'),
    transitionRoute('resolve', 'resolved', 'Resolve an alert'),
    transitionRoute(
      'dismiss',
      'dismissed',
      'Dismiss an alert; with the reason "expected", its values become part of what is expected',
    ),
    transitionRoute('snooze', 'snoozed', 'Snooze an alert', schemas.snooze),
  ]

  function transitionRoute(
    verb: string,
    to: TransitionRequest['to'],
    description: string,
    payload: Joi.Schema = schemas.transition,
  ): ServerRoute {
    return {
      method: 'POST',
      path: `/api/v1/sdk/alerts/{id}/${verb}`,
      options: {
        ...access.write,
        description,
        tags,
        validate: { params: idParams, payload },
        response: replies.alert,
      },
      async handler(request) {
        const { server } = request
        const who = caller(request)
        const id = param(request, 'id')
        const body = (request.payload ?? {}) as {
          reason?: string | null
          snoozed_until?: Date
          duration_minutes?: number
        }
        const until = body.snoozed_until ?? new Date(Date.now() + (body.duration_minutes ?? 0) * 60_000)
        const requested = { to, actor: actorOf(who), reason: body.reason ?? null, until }
        const alert = await server.db.company(who.companyId, async trx => {
          const changed = await transitionAlert(server, trx, id, requested)
          await auditRequest(request, trx, { action: `alert.${to}`, target: { type: 'alert', id } })
          return changed
        })
        return { data: presentAlert(server, alert) }
      },
    }
  }
}
