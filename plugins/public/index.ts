import inert from '@hapi/inert'
import type { Plugin } from '@hapi/hapi'
import { betaRoutes } from './beta.ts'
import { eventRoutes } from './events.ts'
import { pruneEvents } from './jobs.ts'
import { magicRoutes } from './magic-login.ts'
import { showNotFoundPage } from './not-found.ts'
import { refuseTraversal } from './doc-pages.ts'
import { routes } from './routes.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Routes that need no sign-in: health, API description, documentation, magic login, events and the beta. */
export const publicPages: Plugin<undefined> = {
  name: 'public',
  async register(server) {
    server.apiParts.docsPath = '/api/public/docs/index.md'
    Object.assign(server.apiParts.tags, {
      public: {
        title: 'Public endpoints',
        group: 'Service',
        order: 420,
        description:
          'Endpoints without a credential: health, this description, documentation, pages linked from emails.',
        page: '/api/public/docs/index.md',
      },
    } satisfies Record<string, ApiTag>)
    // Another feature may have registered it before.
    await server.register(inert, { once: true })
    server.ext('onRequest', refuseTraversal)
    server.ext('onPreResponse', showNotFoundPage)
    server.route(routes(server))
    server.route([...magicRoutes, ...eventRoutes, ...betaRoutes])
    server.jobs.add(pruneEvents)
  },
}
