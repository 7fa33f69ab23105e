import type { Plugin } from '@hapi/hapi'
import { routes } from './routes.ts'

/** Whether anything is wrong in a company, in one reply. */
export const health: Plugin<undefined> = {
  name: 'health',
  dependencies: ['auth', 'alerts', 'catalog'],
  register(server) {
    Object.assign(server.apiTags, {
      health: 'The state of the service itself, and what is wrong with the data that it monitors.',
    })
    server.route(routes)
  },
}
