/** The timeline of an alert or an incident in the API: its entries, and what people write. */
import type { RouteOptionsResponse, ServerRoute } from '@hapi/hapi'
import Joi from 'joi'
import { access, actorOf, caller, inCompany, routesOf } from '../../../server/http/access.ts'
import { auditRequest } from '../../../server/http/audit.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { idParams, param } from '../../../server/http/input.ts'
import { pageQuery, type Page, type pagination } from '../../../server/http/page.ts'
import { commentBody, type presentActivities } from './timeline.ts'

interface TimelinePage {
  activities: Awaited<ReturnType<typeof presentActivities>>
  pagination: ReturnType<typeof pagination>
}

interface TimelineResource {
  kind: 'alert' | 'incident'
  /** `an alert`, as sentences name one. */
  one: string
  /** What the list has. */
  notes: string
  replies: Record<'activities' | 'activity', RouteOptionsResponse>
  list(trx: Transaction, id: string, page: Page): Promise<TimelinePage>
  /** Adds a comment. @returns the entry as replies show it */
  add(trx: Transaction, id: string, entry: { actor: string; comment: string }): Promise<{ id: string }>
}

/** The routes of one timeline, at `/api/v1/sdk/alerts/{id}` or `/api/v1/sdk/incidents/{id}`. */
export function timelineRoutes({ kind, one, notes, replies, list, add }: TimelineResource): ServerRoute[] {
  const route = routesOf(`${kind}s`)
  const path = `/api/v1/sdk/${kind}s/{id}`
  const name = kind === 'alert' ? 'Alert' : 'Incident'
  return [
    route('GET', `${path}/activities`, access.read, {
      id: `list${name}Activities`,
      description: `List the timeline of ${one}, newest first`,
      notes,
      validate: { params: idParams, query: Joi.object<Page>(pageQuery()) },
      response: replies.activities,
      handler: request =>
        inCompany(request, async trx => ({ data: await list(trx, param(request, 'id'), request.query) })),
    }),
    route('POST', `${path}/comment`, access.write, {
      id: `add${name}Comment`,
      description: `Add a comment to the timeline of ${one}`,
      notes: 'Plain text. It stays as it is.',
      validate: { params: idParams, payload: commentBody },
      response: replies.activity,
      async handler(request, h) {
        const data = await inCompany(request, async trx => {
          const id = param(request, 'id')
          const { comment } = request.payload
          const added = await add(trx, id, { actor: actorOf(caller(request)), comment })
          await auditRequest(request, trx, {
            action: `${kind}.commented`,
            target: { type: kind, id },
            details: { activity_id: added.id },
          })
          return added
        })
        return h.response({ data }).code(201)
      },
    }),
  ]
}
