import type { Plugin } from '@hapi/hapi'
import { routes } from './routes.ts'

/** Which tables are watched by which checks, and which are not. */
export const coverage: Plugin<undefined> = {
  name: 'coverage',
  dependencies: ['auth', 'catalog'],
  register(server) {
    Object.assign(server.apiTags, { coverage: 'Which tables are watched by which checks.' })
    server.route(routes)
  },
}
