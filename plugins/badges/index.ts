import type { Plugin } from '@hapi/hapi'
import type { BadgesApi } from './api.ts'
import { ensureBadge } from './badges.ts'
import { pictureRoutes } from './picture-routes.ts'
import { routes } from './routes.ts'

/** Status pictures for other web pages: whether the checks of an asset pass. */
export const badges: Plugin<undefined> = {
  name: 'badges',
  dependencies: ['auth', 'catalog'],
  register(server) {
    Object.assign(server.apiTags, { badges: 'Status images of assets, for other pages.' })
    server.route([...routes, ...pictureRoutes])
    server.expose({
      ensureBadge: (companyId, input) => ensureBadge(server, companyId, input),
    } satisfies BadgesApi)
  },
}
