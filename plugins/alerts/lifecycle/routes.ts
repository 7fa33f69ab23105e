import type { ServerRoute } from '@hapi/hapi'
import type Joi from 'joi'
import type { Deps } from '../deps.ts'
import { access, actorOf, caller, inCompany, routesOf } from '../../../server/http/access.ts'
import { auditRequest, fieldsOf } from '../../../server/http/audit.ts'
import { idParams, param } from '../../../server/http/input.ts'
import { listAlerts, listInbox, listTransitions, summarizeAlerts } from './lists.ts'
import { addAlertComment, assignAlert, listAlertActivities } from '../people/alert-timeline.ts'
import { timelineRoutes } from '../people/timeline-routes.ts'
import { showAlertInContext } from '../context/alert-context.ts'
import { findAlert } from './find-alert.ts'
import { transitionAlert } from './transitions.ts'
import { showAlert } from '../present.ts'
import { alertReplies } from '../replies.ts'
import { alertSchemas } from './schemas.ts'
import { readStatusBody, type StatusBody, type StatusRequest } from './status-body.ts'
import { showTrends } from './trends.ts'

const route = routesOf('alerts')
const POLLING =
  'To poll, send the `ETag` of the last reply as `If-None-Match`: an unchanged reply is 304 without a body.'

export function alertRoutes(deps: Deps): ServerRoute[] {
  const { kinds } = deps
  const schemas = alertSchemas(kinds.all())
  const replies = alertReplies(kinds.all())
  return [
    route('GET', '/api/v1/sdk/alerts', access.read, {
      description: 'List alerts',
      notes: [
        'All alerts, newest first, also those that are over. Use `inbox` for those that need attention.',
        POLLING,
      ],
      validate: { query: schemas.alerts },
      response: replies.alerts,
      app: { isPolled: true },
      async handler(request) {
        const { items, page } = await listAlerts(deps, request)
        return { data: { data: items, pagination: page } }
      },
    }),
    route('GET', '/api/v1/sdk/alerts/inbox', access.read, {
      id: 'listOpenAlerts',
      description: 'List alerts that need attention: triggered and acknowledged ones',
      notes: [
        'Newest first, with the names of asset and destinations. Use `GET /api/v1/sdk/alerts` for all of them.',
        POLLING,
      ],
      validate: { query: schemas.inbox },
      response: replies.inbox,
      app: { isPolled: true },
      async handler(request) {
        const { items, page } = await listInbox(deps, request)
        return { data: { alerts: items, pagination: page } }
      },
    }),
    route('GET', '/api/v1/sdk/alerts/summary', access.read, {
      description: 'Count alerts by status and severity',
      notes: ['Use it for an overview; `trends` has the numbers by day.', POLLING],
      validate: { query: schemas.none },
      response: replies.summary,
      app: { isPolled: true },
      handler: summarizeAlerts,
    }),
    route('GET', '/api/v1/sdk/alerts/trends', access.read, {
      id: 'getAlertTrends',
      description:
        'Count alerts day by day: how many were opened and closed, how long people took, and what is noisiest',
      notes: [
        'Means cover the alerts that were acknowledged for the first time, or resolved, within these days.',
        'An alert that got worse is resolved and opened anew. Notices of finished discoveries do not count.',
      ],
      validate: { query: schemas.trends },
      response: replies.trends,
      handler: request => showTrends(deps, request),
    }),
    route('GET', '/api/v1/sdk/alerts/{id}', access.read, {
      description: 'Get an alert',
      notes:
        'With its event, its asset and links for people; what it hits, what is wrong upstream, and its timeline.',
      validate: { params: idParams },
      response: replies.alertInContext,
      async handler(request) {
        const id = param(request, 'id')
        return inCompany(request, async trx => ({
          data: await showAlertInContext(deps, trx, await findAlert(trx, id)),
        }))
      },
    }),
    route('PATCH', '/api/v1/sdk/alerts/{id}', access.write, {
      description: 'Assign an alert to a user, or to none',
      notes: 'Alerts that are over can be assigned, too. Its status stays.',
      validate: { params: idParams, payload: schemas.patch },
      response: replies.alert,
      app: { errors: ['ALERT_NOT_FOUND', 'USER_NOT_FOUND'] },
      handler: request =>
        inCompany(request, async trx => {
          const id = param(request, 'id')
          const alert = await assignAlert(trx, id, {
            assigneeId: request.payload.assignee_id,
            actor: actorOf(caller(request)),
          })
          await auditRequest(request, trx, {
            action: 'alert.updated',
            target: { type: 'alert', id },
            details: { fields: fieldsOf(request.payload) },
          })
          return { data: await showAlert(deps, trx, alert) }
        }),
    }),
    ...timelineRoutes({
      kind: 'alert',
      one: 'an alert',
      notes: 'Its transitions, and what people wrote. `history` has the transitions alone, with more fields.',
      replies,
      list: listAlertActivities,
      add: addAlertComment,
    }),
    route('GET', '/api/v1/sdk/alerts/{id}/history', access.read, {
      id: 'listAlertTransitions',
      description: 'List the transitions of an alert, newest first',
      notes: 'Who or what changed its status, when and why.',
      validate: { params: idParams, query: schemas.page },
      response: replies.transitions,
      handler: listTransitions,
    }),
    transitionRoute(
      'acknowledge',
      'acknowledged',
      'Acknowledge an alert',
      'States that a person takes care of it. It stays open and is resolved by itself when the problem is over.',
    ),
    transitionRoute(
      'resolve',
      'resolved',
      'Resolve an alert',
      'For a problem that is mended. It may state cause and action. If the problem goes on, the next check opens a new alert.',
      schemas.ending,
    ),
    transitionRoute(
      'dismiss',
      'dismissed',
      'Dismiss an alert',
      'For an alert that is no problem. With the reason "expected", its values become part of what is expected.',
      schemas.ending,
    ),
    transitionRoute(
      'snooze',
      'snoozed',
      'Snooze an alert',
      'Puts it off until a time, for at most a year; then it is triggered again if it is still open.',
      schemas.snooze,
    ),
  ]

  function transitionRoute(
    verb: string,
    to: StatusRequest['to'],
    description: string,
    notes: string,
    payload: Joi.AnySchema<StatusBody | null> = schemas.transition,
  ): ServerRoute {
    return route('POST', `/api/v1/sdk/alerts/{id}/${verb}`, access.write, {
      description,
      notes,
      validate: { params: idParams, payload },
      response: replies.alert,
      async handler(request) {
        const who = caller(request)
        const id = param(request, 'id')
        const asked = readStatusBody(request.payload)
        const requested = { to, actor: actorOf(who), ...asked }
        const data = await deps.db.company(who.companyId, async trx => {
          const changed = await transitionAlert(deps, trx, id, requested)
          await auditRequest(request, trx, { action: `alert.${to}`, target: { type: 'alert', id } })
          return showAlert(deps, trx, changed)
        })
        return { data }
      },
    })
  }
}
