import type { Plugin } from '@hapi/hapi'
import type { LineageApi } from './api.ts'
import { connectTables } from './edges.ts'
import { lineageExtension } from './asset-extension.ts'
import { routes } from './routes.ts'

/** Which tables are made from which. */
export const lineage: Plugin<undefined> = {
  name: 'lineage',
  dependencies: ['auth', 'catalog'],
  register(server) {
    Object.assign(server.apiTags, { lineage: 'Which tables are derived from which.' })
    server.plugins.catalog.extendAssets(lineageExtension)
    server.route(routes)
    server.expose({ connect: connectTables } satisfies LineageApi)
  },
}
