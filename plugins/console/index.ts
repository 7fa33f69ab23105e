import type { Plugin } from '@hapi/hapi'
import type { ApiTag } from '../../server/openapi/tags.ts'
import { pageRoutes } from './pages.ts'
import { moduleRoute } from './modules.ts'
import { sessionRoutes } from './session.ts'

/** The web console: pages for people, which read and write by the public API only. */
export const consolePages: Plugin<undefined> = {
  name: 'console',
  dependencies: ['auth', 'public'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      console: {
        title: 'Console',
        group: 'Service',
        order: 430,
        description: 'The pages of the web console and its sign-in.',
        page: '/api/public/docs/console.md',
      },
    } satisfies Record<string, ApiTag>)
    const { config, plugins } = server
    server.route([
      ...pageRoutes(config),
      moduleRoute(),
      ...sessionRoutes({ auth: plugins.auth, baseUrl: config.baseUrl }),
    ])
  },
}
