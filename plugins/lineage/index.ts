import type { Plugin } from '@hapi/hapi'
import type { LineageApi } from './api.ts'
import { connect } from './edges.ts'
import { assetFacts } from './facts.ts'
import { routes } from './routes.ts'

/** Which tables are made from which. */
export const lineage: Plugin<undefined> = {
  name: 'lineage',
  dependencies: ['auth', 'catalog'],
  register(server) {
    server.plugins.catalog.describeAssets(assetFacts)
    server.route(routes)
    server.expose({ connect } satisfies LineageApi)
  },
}
