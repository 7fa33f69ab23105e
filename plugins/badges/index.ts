import type { Plugin } from '@hapi/hapi'
import type { BadgesApi } from './api.ts'
import { ensureBadge } from './badges.ts'
import { pictureRoutes } from './picture-routes.ts'
import { routes } from './routes.ts'

/** Pictures for pages of others that tell whether the checks of an asset pass. */
export const badges: Plugin<undefined> = {
  name: 'badges',
  dependencies: ['auth', 'catalog'],
  register(server) {
    server.route([...routes, ...pictureRoutes])
    server.expose({
      ensure: (companyId, wanted) => ensureBadge(server, companyId, wanted),
    } satisfies BadgesApi)
  },
}
