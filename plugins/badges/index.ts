import type { Plugin } from '@hapi/hapi'
import type { BadgesApi } from './api.ts'
import { ensureBadge } from './badges.ts'
import { answerPicture, pictureRoutes } from './picture-routes.ts'
import { routes } from './routes.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Status pictures for other web pages: whether the checks of an asset pass. */
export const badges: Plugin<undefined> = {
  name: 'badges',
  dependencies: ['auth', 'catalog'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      badges: {
        title: 'Badges',
        group: 'Notifications',
        order: 240,
        description: 'Status images of assets, for other pages.',
        page: '/api/public/docs/badges.md',
      },
    } satisfies Record<string, ApiTag>)
    server.route([...routes, ...pictureRoutes])
    server.expose({
      ensureBadge: (companyId, input) => ensureBadge(server, companyId, input),
      answerPicture,
    } satisfies BadgesApi)
  },
}
