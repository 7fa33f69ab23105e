import type { Request, ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { auditorOf, fieldsOf } from '../../server/http/audit.ts'
import type { Transaction } from '../../server/database/database.ts'
import { reply } from '../../server/http/envelopes.ts'
import { bodyOf, param, queryOf } from '../../server/http/input.ts'
import { pagination } from '../../server/http/page.ts'
import type { BadgeInput } from './api.ts'
import {
  changeBadge,
  createBadge,
  findBadge,
  listBadges,
  removeBadge,
  type BadgeListQuery,
} from './badges.ts'
import type { Badge } from './models.ts'
import { badgeUrl, presentBadge } from './present.ts'
import { badgeChange, badgeList, badgeParams, newBadge, replies } from './schemas.ts'
import { readStatuses } from './status.ts'

const base = '/api/v1/sdk/badges'

const route = routesOf('badges')

export const routes: ServerRoute[] = [
  route('GET', base, access.read, {
    description: 'List badges',
    notes: 'All badges of the company, with their status and the URL of their picture.',
    validate: { query: badgeList },
    response: reply(replies.badges),
    handler: request =>
      inCompany(request, async trx => {
        const page = queryOf<BadgeListQuery>(request)
        const { results, total } = await listBadges(request.server, trx, page)
        const badges = await presentBadges(request, trx, results)
        return { data: { badges, pagination: pagination(total, page) } }
      }),
  }),
  route('POST', base, access.write, {
    description: 'Create a badge for a source or a table',
    notes:
      'Its picture is public to everyone who knows the URL, and shows whether the last results of the active checks passed.',
    validate: { payload: newBadge },
    response: reply(replies.badge, 201),
    handler: async (request, h) => {
      const data = await inCompany(request, async trx => {
        const badge = await createBadge(request.server, trx, bodyOf<BadgeInput>(request))
        const [record] = await presentBadges(request, trx, [badge])
        await audit(request, trx, 'created', badge, { asset_id: badge.assetId })
        return record
      })
      return h.response({ data }).code(201)
    },
  }),
  route('GET', `${base}/{id}`, access.read, {
    description: 'Get a badge and its status',
    notes: 'Use `status` for the status alone.',
    validate: { params: badgeParams },
    response: reply(replies.badge),
    handler: request =>
      inCompany(request, async trx => {
        const [data] = await presentBadges(request, trx, [await findBadge(trx, param(request, 'id'))])
        return { data }
      }),
  }),
  route('GET', `${base}/{id}/status`, access.read, {
    description: 'Get the status of a badge alone',
    notes: 'The same status that the picture shows, for programs.',
    validate: { params: badgeParams },
    response: reply(replies.status),
    handler: request =>
      inCompany(request, async trx => {
        const badge = await findBadge(trx, param(request, 'id'))
        const statuses = await readStatuses(request.server, trx, [badge])
        const url = badgeUrl(badge, request.server.config.baseUrl)
        return { data: { badge_id: badge.id, status: statuses.get(badge.id), badge_url: url } }
      }),
  }),
  route('PUT', `${base}/{id}`, access.write, {
    id: 'updateBadge',
    description: 'Change a badge',
    notes: 'Fields that are left out keep their values, and the URL of the picture stays.',
    validate: { params: badgeParams, payload: badgeChange },
    response: reply(replies.badge),
    handler: request =>
      inCompany(request, async trx => {
        const change = bodyOf<Partial<BadgeInput>>(request)
        const badge = await changeBadge(request.server, trx, param(request, 'id'), change)
        const [data] = await presentBadges(request, trx, [badge])
        await audit(request, trx, 'updated', badge, { fields: fieldsOf(change) })
        return { data }
      }),
  }),
  route('DELETE', `${base}/{id}`, access.write, {
    description: 'Remove a badge; pages that show it get a grey picture',
    notes: 'Use `is_active: false` to hide it for a while.',
    validate: { params: badgeParams },
    response: reply(replies.removed),
    handler: request =>
      inCompany(request, async trx => {
        const badge = await removeBadge(trx, param(request, 'id'))
        await audit(request, trx, 'removed', badge, { asset_id: badge.assetId })
        return { data: { success: true, message: 'The badge was removed' } }
      }),
  }),
]

const audit = auditorOf('badge', ({ id }: Badge) => id)

async function presentBadges(request: Request, trx: Transaction, badges: readonly Badge[]) {
  const statuses = await readStatuses(request.server, trx, badges)
  return badges.map(badge => presentBadge(badge, statuses.get(badge.id), request.server.config.baseUrl))
}
