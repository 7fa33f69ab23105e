import type { Plugin } from '@hapi/hapi'
import { authApi } from './api.ts'
import { keyRoutes } from './api-keys/routes.ts'
import { installDeferredAudit } from './audit-log/deferred-audit.ts'
import { auditRoutes } from './audit-log/routes.ts'
import { oauthRoutes } from './oauth/routes.ts'
import { retention } from './retention.ts'
import { demoRoutes } from './sign-in/demo-sessions.ts'
import { routes } from './sign-in/routes.ts'
import { addStrategies } from './sign-in/strategies.ts'
import { userRoutes } from './users/routes.ts'
import type { UserRemovalListener } from './users/users.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

export const auth: Plugin<undefined> = {
  name: 'auth',
  async register(server) {
    Object.assign(server.apiParts.tags, {
      auth: {
        title: 'Sign-in',
        group: 'Accounts',
        order: 310,
        description: 'Registration, sign-in and the caller.',
        page: '/api/public/docs/access.md',
      },
      oauth: {
        title: 'Sign-in through a provider',
        group: 'Accounts',
        order: 320,
        description: 'Sign-in through another provider.',
        page: '/api/public/docs/access.md',
      },
      'api-keys': {
        title: 'API keys',
        group: 'Accounts',
        order: 330,
        description: 'Keys for programs, shown once when they are created.',
        page: '/api/public/docs/access.md',
      },
      users: {
        title: 'Users and invitations',
        group: 'Accounts',
        order: 340,
        description: 'The users of the company, their roles, and who is invited.',
        page: '/api/public/docs/access.md',
      },
      demo: {
        title: 'Demo',
        group: 'Accounts',
        order: 370,
        description: 'The demo company, without signing up.',
        page: '/api/public/docs/access.md',
      },
      'audit-log': {
        title: 'Audit log',
        group: 'Accounts',
        order: 380,
        description: 'Who did what, in a log that cannot be changed.',
        page: '/api/public/docs/access.md',
      },
    } satisfies Record<string, ApiTag>)
    await addStrategies(server)
    installDeferredAudit(server)
    const removalListeners: UserRemovalListener[] = []
    server.route([...routes, ...userRoutes(removalListeners), ...keyRoutes, ...auditRoutes, ...demoRoutes])
    server.route(oauthRoutes(server))
    server.retention.push(...retention)
    server.expose({ ...authApi(server, removalListeners) })
  },
}
