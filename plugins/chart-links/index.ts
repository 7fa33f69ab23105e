import type { Plugin } from '@hapi/hapi'
import type { ApiTag } from '../../server/openapi/tags.ts'
import { makeChartLinks } from './links.ts'
import { routes } from './routes.ts'

/** Links that show the chart of one check without signing in, until they expire. */
export const chartLinks: Plugin<undefined> = {
  name: 'chart-links',
  dependencies: ['auth', 'checks'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      'chart-links': {
        title: 'Links to charts',
        group: 'Notifications',
        order: 245,
        description: 'Read-only links to the chart of a check, which expire.',
        page: '/api/public/docs/badges.md',
      },
    } satisfies Record<string, ApiTag>)
    const { catalog, checks } = server.plugins
    const links = makeChartLinks({ db: server.db, catalog, checks, baseUrl: server.config.baseUrl })
    server.route(routes(links))
  },
}
