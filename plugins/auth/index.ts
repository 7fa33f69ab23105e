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

export const auth: Plugin<undefined> = {
  name: 'auth',
  async register(server) {
    Object.assign(server.apiTags, {
      'api-keys': 'Keys for programs, shown once when they are created.',
      'audit-log': 'Who did what, in a log that cannot be changed.',
      auth: 'Registration, sign-in and the caller.',
      demo: 'The demo company, without signing up.',
      invitations: 'Invitations into the company.',
      keys: 'Keys for programs, shown once when they are created.',
      oauth: 'Sign-in through another provider.',
      users: 'The users of the company and their roles.',
    })
    await addStrategies(server)
    installDeferredAudit(server)
    server.route([...routes, ...userRoutes, ...keyRoutes, ...auditRoutes, ...demoRoutes])
    server.route(oauthRoutes(server))
    server.jobs.add(sweep)
    server.expose({ ...authApi(server) })
  },
}
