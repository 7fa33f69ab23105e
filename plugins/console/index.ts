import { feature } from '../../server/feature.ts'
import { pageRoutes } from './pages.ts'
import { moduleRoute } from './modules.ts'
import { sessionRoutes } from './session.ts'

/** The web console: pages for people, which read and write by the public API only. */
export const consolePages = feature({
  name: 'console',
  needs: ['auth', 'public'],
  tags: {
    console: {
      title: 'Console',
      group: 'Service',
      order: 430,
      description: 'The pages of the web console and its sign-in.',
      page: '/guide/console',
    },
  },
  routes: (_, { config, plugins: { auth } }) => [
    ...pageRoutes(config, auth),
    moduleRoute(),
    ...sessionRoutes({ auth, baseUrl: config.baseUrl }),
  ],
})
