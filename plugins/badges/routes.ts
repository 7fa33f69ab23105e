import type { Request, ServerRoute } from '@hapi/hapi'
import { access, inCompany } from '../../server/http/access.ts'
import { auditorOf, fieldsOf } from '../../server/http/audit.ts'
import type { Transaction } from '../../server/database/database.ts'
import { reply } from '../../server/http/envelopes.ts'
import { bodyOf, param, queryOf } from '../../server/http/input.ts'
import { pagination, type Page } from '../../server/http/page.ts'
import type { BadgeInput } from './api.ts'
import { changeBadge, createBadge, findBadge, listBadges, removeBadge } from './badges.ts'
import type { Badge } from './models.ts'
import { presentBadge, type BadgeRecord } from './present.ts'
import { badgeChange, badgeList, badgeParams, newBadge, replies } from './schemas.ts'
import { readStatuses } from './status.ts'

const base = '/api/v1/sdk/badges'
const tags = ['api', 'badges']

/** The routes that manage badges. */
export const routes: ServerRoute[] = [
  {
    method: 'GET',
    path: base,
    options: {
      ...access.read,
      description: 'List badges',
      tags,
      validate: { query: badgeList },
      response: reply(replies.badges),
    },
    handler: request =>
      inCompany(request, async trx => {
        const page = queryOf<Page & { asset_id?: string }>(request)
        const { results, total } = await listBadges(request.server, trx, page)
        const badges = await presentBadges(request, trx, results)
        return { data: { badges, pagination: pagination(total, page) } }
      }),
  },
  {
    method: 'POST',
    path: base,
    options: {
      ...access.write,
      description: 'Create a badge for a source or a table',
      notes:
        'Its picture is public to everyone who knows the URL, and shows whether the last results of the active checks passed.',
      tags,
      validate: { payload: newBadge },
      response: reply(replies.badge, 201),
    },
    handler: async (request, h) => {
      const data = await inCompany(request, async trx => {
        const badge = await createBadge(request.server, trx, bodyOf<BadgeInput>(request))
        const [record] = await presentBadges(request, trx, [badge])
        await audit(request, trx, 'created', badge, { asset_id: badge.assetId })
        return record
      })
      return h.response({ data }).code(201)
    },
  },
  {
    method: 'GET',
    path: `${base}/{id}`,
    options: {
      ...access.read,
      description: 'Get a badge and its status',
      tags,
      validate: { params: badgeParams },
      response: reply(replies.badge),
    },
    handler: request =>
      inCompany(request, async trx => {
        const [data] = await presentBadges(request, trx, [await findBadge(trx, param(request, 'id'))])
        return { data }
      }),
  },
  {
    method: 'PUT',
    path: `${base}/{id}`,
    options: {
      ...access.write,
      description: 'Change a badge',
      notes: 'Fields that are left out keep their values, and the URL of the picture stays.',
      tags,
      validate: { params: badgeParams, payload: badgeChange },
      response: reply(replies.badge),
    },
    handler: request =>
      inCompany(request, async trx => {
        const change = bodyOf<Partial<BadgeInput>>(request)
        const badge = await changeBadge(request.server, trx, param(request, 'id'), change)
        const [data] = await presentBadges(request, trx, [badge])
        await audit(request, trx, 'updated', badge, { fields: fieldsOf(change) })
        return { data }
      }),
  },
  {
    method: 'DELETE',
    path: `${base}/{id}`,
    options: {
      ...access.write,
      description: 'Remove a badge; pages that show it get a grey picture',
      tags,
      validate: { params: badgeParams },
      response: reply(replies.removed),
    },
    handler: request =>
      inCompany(request, async trx => {
        const badge = await removeBadge(trx, param(request, 'id'))
        await audit(request, trx, 'removed', badge, { asset_id: badge.assetId })
        return { data: { success: true, message: 'The badge was removed' } }
      }),
  },
]

const audit = auditorOf('badge', ({ id }: Badge) => id)

async function presentBadges(
  request: Request,
  trx: Transaction,
  badges: readonly Badge[],
): Promise<BadgeRecord[]> {
  const ids = badges.map(({ id }) => id)
  const statuses = await readStatuses(request.server, trx, ids)
  return badges.map(badge => presentBadge(badge, statuses.get(badge.id), request.server.config.baseUrl))
}
