import type { Plugin } from '@hapi/hapi'
import { makeBadges } from './badges.ts'
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
    const api = makeBadges({
      db: server.db,
      catalog: server.plugins.catalog,
      baseUrl: server.config.baseUrl,
    })
    server.expose(api)
    server.route(routes(api))
  },
}
