import type { ServerRoute } from '@hapi/hapi'
import type Joi from 'joi'
import { access, actorOf, caller, inCompany, routesOf } from '../../../../server/http/access.ts'
import { auditRequest, fieldsOf } from '../../../../server/http/audit.ts'
import { idParams, param } from '../../../../server/http/input.ts'
import type { StatusBody, StatusRequest } from '../../lifecycle/status-body.ts'
import { timelineRoutes } from '../../people/timeline-routes.ts'
import type { Deps } from '../../deps.ts'
import { addComment, changeIncident, patchIncident } from './actions.ts'
import { mergeIncident, splitIncident } from './arrange.ts'
import { listActivities, listIncidents } from './lists.ts'
import { incidentReplies } from './replies.ts'
import { incidentSchemas } from './schemas.ts'
import { sendIncident } from './send.ts'
import { showIncident } from './show.ts'
import { summarizeIncidents } from './summary.ts'

const route = routesOf('incidents')
const base = '/api/v1/sdk/incidents'
const POLLING =
  'To poll, send the `ETag` of the last reply as `If-None-Match`: an unchanged reply is 304 without a body.'

export function incidentRoutes(deps: Deps): ServerRoute[] {
  const { kinds } = deps
  const schemas = incidentSchemas(kinds)
  const replies = incidentReplies(kinds.all())
  return [
    route('GET', base, access.read, {
      description: 'List incidents: alerts that belong together, with their cause',
      notes: [
        'Newest first, also those that are over. `status=open,acknowledged,snoozed` has those that are not.',
        'Every alert is in `GET /api/v1/sdk/alerts` too.',
        POLLING,
      ],
      validate: { query: schemas.list },
      response: replies.incidents,
      app: { isPolled: true },
      async handler(request) {
        const { items, page } = await listIncidents(deps, request)
        return { data: { incidents: items, pagination: page } }
      },
    }),
    route('GET', `${base}/summary`, access.read, {
      id: 'getIncidentSummary',
      description: 'Count incidents, and how long it took to detect, acknowledge and resolve them',
      notes: 'Medians and means in minutes. Incidents that were merged into others do not count.',
      validate: { query: schemas.summary },
      response: replies.summary,
      handler: request =>
        inCompany(request, async trx => ({
          data: await summarizeIncidents(trx, request.query.days),
        })),
    }),
    route('GET', `${base}/{id}`, access.read, {
      description: 'Get an incident with its cause, its alerts and its timeline',
      notes: ['Where it was merged, `merged_into` names the incident that has its alerts.', POLLING],
      validate: { params: idParams },
      response: replies.incident,
      app: { isPolled: true },
      handler: request =>
        inCompany(request, async trx => ({
          data: await showIncident(deps, trx, param(request, 'id')),
        })),
    }),
    route('PATCH', `${base}/{id}`, access.write, {
      description: 'Assign an incident, or write its post-mortem',
      notes: 'Fields that are left out keep their values. Incidents that are over can be changed, too.',
      validate: { params: idParams, payload: schemas.patch },
      response: replies.incident,
      app: { errors: ['INCIDENT_NOT_FOUND', 'USER_NOT_FOUND'] },
      handler: request =>
        inCompany(request, async trx => {
          const id = param(request, 'id')
          const patch = request.payload
          await patchIncident(trx, id, patch, actorOf(caller(request)))
          const data = await showIncident(deps, trx, id)
          await auditRequest(request, trx, {
            action: 'incident.updated',
            target: { type: 'incident', id },
            details: { fields: fieldsOf(patch) },
          })
          return { data }
        }),
    }),
    ...timelineRoutes({
      kind: 'incident',
      one: 'an incident',
      notes: 'What happened, by whom, and what people wrote.',
      replies,
      list: listActivities,
      add: addComment,
    }),
    route('POST', `${base}/{id}/split`, access.write, {
      id: 'splitIncident',
      description: 'Move alerts of an incident into a new one',
      notes:
        'For two problems in one incident. Grouping never puts them together again. Replies the new incident.',
      validate: { params: idParams, payload: schemas.split },
      response: replies.newIncident,
      app: { errors: ['INCIDENT_NOT_FOUND', 'ALERT_NOT_FOUND', 'CONFLICT'] },
      async handler(request, h) {
        const id = await splitIncident(deps, request, param(request, 'id'), request.payload.alert_ids)
        const data = await inCompany(request, trx => showIncident(deps, trx, id))
        return h.response({ data }).code(201)
      },
    }),
    route('POST', `${base}/{id}/merge`, access.write, {
      id: 'mergeIncident',
      description: 'Give the alerts of an incident to another one',
      notes:
        'For one problem in two incidents. The first ends, and its `merged_into` names the other one, which is replied and which grouping never takes apart again.',
      validate: { params: idParams, payload: schemas.merge },
      response: replies.incident,
      app: { errors: ['INCIDENT_NOT_FOUND', 'CONFLICT'] },
      async handler(request) {
        const { into } = request.payload
        await mergeIncident(deps, request, param(request, 'id'), into)
        return inCompany(request, async trx => ({ data: await showIncident(deps, trx, into) }))
      },
    }),
    route('POST', `${base}/{id}/send`, access.write, {
      id: 'sendIncident',
      description: 'Send an incident to a destination now, whatever its rules say',
      notes:
        'Once; from then on the destination gets what happens to the incident, and its end. At most 10 per minute and incident.',
      validate: { params: idParams, payload: schemas.send },
      response: replies.incident,
      app: { errors: ['INCIDENT_NOT_FOUND', 'DESTINATION_NOT_FOUND', 'CONFLICT'] },
      async handler(request) {
        const id = param(request, 'id')
        await sendIncident(deps, request, id, request.payload.destination_id)
        return inCompany(request, async trx => ({ data: await showIncident(deps, trx, id) }))
      },
    }),
    statusRoute(
      'acknowledge',
      'acknowledged',
      'Acknowledge an incident and its open alerts',
      'States that a person takes care of it. Alerts that join later leave it acknowledged.',
      schemas.note,
    ),
    statusRoute(
      'resolve',
      'resolved',
      'Resolve an incident and its open alerts',
      'For a problem that is mended; one that fails again within the window opens it again. Without it, an incident is resolved when all of its alerts are over.',
      schemas.end,
    ),
    statusRoute(
      'dismiss',
      'dismissed',
      'Dismiss an incident and its open alerts',
      'For what is no problem. To add values to the expected ones, dismiss the alert itself with the reason "expected".',
      schemas.end,
    ),
    statusRoute(
      'snooze',
      'snoozed',
      'Snooze an incident and its open alerts',
      'Puts them off until a time, for at most a year; then those that are still open are triggered again.',
      schemas.snooze,
    ),
  ]

  function statusRoute(
    verb: string,
    to: StatusRequest['to'],
    description: string,
    notes: string,
    payload: Joi.AnySchema<StatusBody | null>,
  ): ServerRoute {
    return route('POST', `${base}/{id}/${verb}`, access.write, {
      description,
      notes,
      validate: { params: idParams, payload },
      response: replies.incident,
      async handler(request) {
        const id = param(request, 'id')
        await changeIncident(deps, request, id, to, request.payload)
        return inCompany(request, async trx => ({ data: await showIncident(deps, trx, id) }))
      },
    })
  }
}
