import type { ServerRoute } from '@hapi/hapi'
import { access, actorOf, caller, inCompany } from '../../../server/http/access.ts'
import { auditRequest } from '../../../server/http/audit.ts'
import { param } from '../../../server/http/input.ts'
import { listAlerts, listTransitions, summarizeAlerts } from './lists.ts'
import { Alert } from '../models.ts'
import { transitionAlert, noAlert, type TransitionRequest } from './transitions.ts'
import { presentAlert } from './present.ts'
import { replies } from './replies.ts'
import { schemas } from '../schemas.ts'
import { showTrends } from './trends.ts'

const tags = ['api', 'alerts']

/** Alerts: reading them and moving them on. */
export const alertRoutes: ServerRoute[] = [
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
      description: 'List alerts that wait for someone: triggered and acknowledged ones',
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
        'Count alerts day by day: how they came and went, how long people took, and what is noisiest',
      notes: [
        'Means are of the alerts that were acknowledged for the first time, or resolved, within these days.',
        'An alert that got worse is resolved and opened anew. News of finished discoveries do not count.',
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
      validate: { params: schemas.idParams },
      response: replies.alert,
    },
    async handler(request) {
      const id = param(request, 'id')
      const alert = await inCompany(request, async trx => Alert.query(trx).findById(id))
      if (!alert) throw noAlert(id)
      return { data: presentAlert(alert, request.server.config.baseUrl) }
    },
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/alerts/{id}/history',
    options: {
      ...access.read,
      description: 'List the moves of an alert, newest first',
      tags,
      validate: { params: schemas.idParams, query: schemas.page },
      response: replies.moves,
    },
    handler: listTransitions,
  },
  transitionRoute('acknowledge', 'acknowledged', 'Take an alert on'),
  transitionRoute('resolve', 'resolved', 'Resolve an alert'),
  transitionRoute(
    'dismiss',
    'dismissed',
    'Dismiss an alert; with the reason "expected", the values it spoke of become part of what is expected',
  ),
  transitionRoute('snooze', 'snoozed', 'Silence an alert for a while', schemas.snooze),
]

function transitionRoute(
  verb: string,
  to: TransitionRequest['to'],
  description: string,
  payload = schemas.move,
): ServerRoute {
  return {
    method: 'POST',
    path: `/api/v1/sdk/alerts/{id}/${verb}`,
    options: {
      ...access.write,
      description,
      tags,
      validate: { params: schemas.idParams, payload },
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
      const asked = { to, actor: actorOf(who), reason: body.reason ?? null, until }
      const alert = await server.db.company(who.companyId, async trx => {
        const moved = await transitionAlert(server, trx, id, asked)
        await auditRequest(request, trx, { action: `alert.${to}`, target: { type: 'alert', id } })
        return moved
      })
      return { data: presentAlert(alert, server.config.baseUrl) }
    },
  }
}
