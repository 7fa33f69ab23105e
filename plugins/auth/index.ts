import type { Plugin } from '@hapi/hapi'
import { installAfterwards } from './deferred-audit.ts'
import './api.ts'
import { auditRoutes } from './audit-routes.ts'
import { authApi } from './auth-api.ts'
import { demoRoutes } from './demo.ts'
import { sweep } from './jobs.ts'
import { keyRoutes } from './key-routes.ts'
import { oauthRoutes } from './oauth/routes.ts'
import { routes } from './routes.ts'
import { addStrategies } from './sign-in/strategies.ts'
import { ticketRoutes } from './sign-in/one-time-token-routes.ts'
import { userRoutes } from './user-routes.ts'

/** Companies, users, sessions and API keys. */
export const auth: Plugin<undefined> = {
  name: 'auth',
  async register(server) {
    await addStrategies(server)
    installAfterwards(server)
    server.route(routes)
    server.route(userRoutes)
    server.route(keyRoutes)
    server.route(auditRoutes)
    server.route(oauthRoutes(server))
    server.route(ticketRoutes)
    server.route(demoRoutes)
    server.jobs.add(sweep)
    server.expose({ ...authApi(server) })
  },
}
