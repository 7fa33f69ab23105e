import inert from '@hapi/inert'
import type { Plugin } from '@hapi/hapi'
import { betaRoutes } from './beta.ts'
import { eventRoutes } from './events.ts'
import { pruneEvents } from './jobs.ts'
import { magicRoutes } from './magic-login.ts'
import { showNotFoundPage } from './not-found.ts'
import { refuseTraversal } from './doc-pages.ts'
import { routes } from './routes.ts'

/** Routes that need no sign-in: health, API description, documentation, magic login, events and the beta. */
export const publicPages: Plugin<undefined> = {
  name: 'public',
  async register(server) {
    Object.assign(server.apiTags, {
      beta: 'Registration for the beta.',
      public:
        'Endpoints without a credential: health, this description, documentation, pages linked from emails.',
    })
    // Another feature may have registered it before.
    await server.register(inert, { once: true })
    server.ext('onRequest', refuseTraversal)
    server.ext('onPreResponse', showNotFoundPage)
    server.route(routes(server))
    server.route([...magicRoutes, ...eventRoutes, ...betaRoutes])
    server.jobs.add(pruneEvents)
  },
}
