import type { Plugin } from '@hapi/hapi'
import { authApi } from './api.ts'
import { keyRoutes } from './api-keys/routes.ts'
import { installDeferredAudit } from './audit-log/deferred-audit.ts'
import { auditRoutes } from './audit-log/routes.ts'
import { sweep } from './jobs.ts'
import { oauthRoutes } from './oauth/routes.ts'
import { demoRoutes } from './sign-in/demo-sessions.ts'
import { routes } from './sign-in/routes.ts'
import { addStrategies } from './sign-in/strategies.ts'
import { userRoutes } from './users/routes.ts'

/** Companies, users, sessions and API keys. */
export const auth: Plugin<undefined> = {
  name: 'auth',
  async register(server) {
    await addStrategies(server)
    installDeferredAudit(server)
    server.route([...routes, ...userRoutes, ...keyRoutes, ...auditRoutes, ...demoRoutes])
    server.route(oauthRoutes(server))
    server.jobs.add(sweep)
    server.expose({ ...authApi(server) })
  },
}
