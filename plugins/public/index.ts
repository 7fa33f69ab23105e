import inert from '@hapi/inert'
import { feature } from '../../server/feature.ts'
import { betaRoutes } from './beta.ts'
import { eventRoutes } from './events.ts'
import { magicRoutes } from './magic-login.ts'
import { showNotFoundPage } from './not-found.ts'
import { refuseTraversal } from './doc-pages.ts'
import { routes } from './routes.ts'

/** Routes that need no sign-in: health, API description, documentation, magic login, events and the beta. */
export const publicPages = feature({
  name: 'public',
  tags: {
    public: {
      title: 'Public endpoints',
      group: 'Service',
      order: 420,
      description:
        'Endpoints without a credential: health, this description, documentation, pages linked from emails.',
      page: '/guide/index',
    },
  },
  async setUp(server) {
    server.apiParts.docsPath = '/guide/index'
    // Another feature may have registered it before.
    await server.register(inert, { once: true })
    server.ext('onRequest', refuseTraversal)
    server.ext('onPreResponse', showNotFoundPage)
  },
  retention: [{ table: 'anonymous_events', column: 'at', days: 90 }],
  routes: (_api, server) => [...routes(server), ...magicRoutes, ...eventRoutes, ...betaRoutes],
})
