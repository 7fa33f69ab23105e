import inert from '@hapi/inert'
import type { Plugin } from '@hapi/hapi'
import { refuseTraversal } from './pages.ts'
import { routes } from './routes.ts'

/** What anyone may read: health, the description of the interface, documentation. */
export const publicPages: Plugin<undefined> = {
  name: 'public',
  async register(server) {
    // It serves files; another feature may have asked for it before.
    await server.register(inert, { once: true })
    server.ext('onRequest', refuseTraversal)
    server.route(routes(server))
  },
}
