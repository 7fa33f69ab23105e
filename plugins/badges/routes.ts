import type { ServerRoute } from '@hapi/hapi'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { crud } from '../../server/http/crud.ts'
import { reply } from '../../server/http/envelopes.ts'
import { param } from '../../server/http/input.ts'
import type { BadgesApi } from './api.ts'
import { badgeChange, badgeList, badgeParams, newBadge, pictureParams, replies } from './schemas.ts'

const path = '/api/v1/sdk/badges'
const route = routesOf('badges')

export const routes = (badges: BadgesApi): ServerRoute[] => [
  ...crud({
    tag: 'badges',
    path,
    params: badgeParams,
    record: replies.badge,
    listName: 'badges',
    kind: 'badge',
    auditDetails: ({ assetId }) => ({ asset_id: assetId }),
    present: badges.presentBadges,
    list: {
      description: 'List badges',
      notes: 'All badges of the company, with their status and the URL of their picture.',
      query: badgeList,
      read: badges.listBadges,
    },
    create: {
      description: 'Create a badge for a source or a table',
      notes:
        'Its picture is public to everyone who knows the URL, and shows whether the last results of the active checks passed.',
      body: newBadge,
      write: badges.createBadge,
    },
    get: {
      description: 'Get a badge and its status',
      notes: 'Use `status` for the status alone.',
      read: badges.findBadge,
    },
    change: {
      id: 'updateBadge',
      method: 'PUT',
      description: 'Change a badge',
      notes: 'Fields that are left out keep their values, and the URL of the picture stays.',
      body: badgeChange,
      write: badges.changeBadge,
    },
    remove: {
      description: 'Remove a badge; pages that show it get a grey picture',
      notes: 'Use `is_active: false` to hide it for a while.',
      message: 'The badge was removed',
      write: badges.removeBadge,
    },
  }),
  route('GET', `${path}/{id}/status`, access.read, {
    description: 'Get the status of a badge alone',
    notes: 'The same status that the picture shows, for programs.',
    validate: { params: badgeParams },
    response: reply(replies.status),
    handler: request =>
      inCompany(request, async trx => ({ data: await badges.readStatus(trx, param(request, 'id')) })),
  }),
  route('GET', '/badges/{public_id}.svg', access.open, {
    id: 'getBadgePicture',
    description: 'The picture of a badge',
    notes:
      'It shows passing, failing or unknown. An unknown id, or that of an inactive badge, gets a grey picture with status 404, so that pages show something.',
    tags: ['api', 'badges', 'public'],
    validate: { params: pictureParams },
    response: { status: { 200: replies.picture, 404: replies.picture }, sample: 0 },
    handler: async (request, h) =>
      badges.answerPicture(h, await badges.readPicture(param(request, 'public_id'))),
  }),
]
