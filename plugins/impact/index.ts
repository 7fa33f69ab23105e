import type { Plugin } from '@hapi/hapi'
import { routes } from './routes.ts'

/** What planned changes, schema changes and alerts do to those who depend on a table. */
export const impact: Plugin<undefined> = {
  name: 'impact',
  dependencies: ['auth', 'alerts', 'catalog', 'owners', 'lineage', 'scans', 'contracts'],
  register(server) {
    server.route(routes)
  },
}
