import { feature } from '../../server/feature.ts'
import { makeAuth } from './api.ts'
import { keyRoutes } from './api-keys/routes.ts'
import { makeDeferredWork } from './after-response.ts'
import { auditRoutes } from './audit-log/routes.ts'
import { oauthRoutes } from './oauth/routes.ts'
import { retention } from './retention.ts'
import { passwordResetRoutes } from './sign-in/password-reset-routes.ts'
import { demoRoutes } from './sign-in/demo-sessions.ts'
import { routes } from './sign-in/routes.ts'
import { apiKeyScheme, jwtOptions, jwtPlugin } from './sign-in/strategies.ts'
import { invitationLookUp } from './users/invitation-look-up.ts'
import { userRoutes } from './users/routes.ts'

export const auth = feature({
  name: 'auth',
  tags: {
    auth: {
      title: 'Sign-in',
      group: 'Accounts',
      order: 310,
      description: 'Registration, sign-in and the caller.',
      page: '/guide/access',
    },
    oauth: {
      title: 'Sign-in through a provider',
      group: 'Accounts',
      order: 320,
      description: 'Sign-in through another provider.',
      page: '/guide/access',
    },
    'api-keys': {
      title: 'API keys',
      group: 'Accounts',
      order: 330,
      description: 'Keys for programs, shown once when they are created.',
      page: '/guide/access',
    },
    users: {
      title: 'Users and invitations',
      group: 'Accounts',
      order: 340,
      description: 'The users of the company, their roles, and who is invited.',
      page: '/guide/access',
    },
    demo: {
      title: 'Demo',
      group: 'Accounts',
      order: 370,
      description: 'The demo company, without signing up.',
      page: '/guide/access',
    },
    'audit-log': {
      title: 'Audit log',
      group: 'Accounts',
      order: 380,
      description: 'Who did what, in a log that cannot be changed.',
      page: '/guide/access',
    },
  },
  api: makeAuth,
  async setUp(server) {
    await server.register(jwtPlugin)
    server.auth.strategy('jwt', 'jwt', jwtOptions(server))
    server.auth.scheme('api-key', apiKeyScheme)
    server.auth.strategy('api-key', 'api-key')
    const deferredWork = makeDeferredWork(server)
    server.events.on('response', deferredWork.start)
    server.ext('onPostStop', deferredWork.finish)
  },
  retention,
  routes: (api, server) => [
    ...routes,
    ...passwordResetRoutes,
    invitationLookUp,
    ...userRoutes(api),
    ...keyRoutes,
    ...auditRoutes,
    ...demoRoutes,
    ...oauthRoutes(server),
  ],
})
