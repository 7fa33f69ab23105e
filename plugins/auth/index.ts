import type { Plugin } from '@hapi/hapi'
import { installDeferredAudit } from './audit-log/deferred-audit.ts'
import './api.ts'
import { auditRoutes } from './audit-log/routes.ts'
import { authApi } from './auth-api.ts'
import { demoRoutes } from './sign-in/demo-sessions.ts'
import { sweep } from './jobs.ts'
import { keyRoutes } from './api-keys/routes.ts'
import { oauthRoutes } from './oauth/routes.ts'
import { routes } from './sign-in/routes.ts'
import { addStrategies } from './sign-in/strategies.ts'
import { ticketRoutes } from './sign-in/one-time-token-routes.ts'
import { userRoutes } from './users/routes.ts'

/** Companies, users, sessions and API keys. */
export const auth: Plugin<undefined> = {
  name: 'auth',
  async register(server) {
    await addStrategies(server)
    installDeferredAudit(server)
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
