import type { Plugin } from '@hapi/hapi'
import type { LineageApi } from './api.ts'
import { connectTables } from './connect.ts'
import { registerFeeds } from './feeds/register-feeds.ts'
import { pruneJob } from './graph/fading.ts'
import { readNodes } from './graph/nodes.ts'
import { recordEdges } from './graph/record.ts'
import { walkEdges } from './graph/walk.ts'
import { lineageExtension } from './asset-extension.ts'
import { listRunsOf } from './openlineage/runs.ts'
import { lineageReader } from './views/discovered.ts'
import { routes } from './routes.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Which tables are made from which. */
export const lineage: Plugin<undefined> = {
  name: 'lineage',
  dependencies: ['auth', 'alerts', 'catalog', 'owners'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      lineage: {
        title: 'Lineage',
        group: 'Catalog',
        order: 50,
        description: 'Which tables are derived from which.',
        page: '/api/public/docs/lineage.md',
      },
    } satisfies Record<string, ApiTag>)
    server.plugins.catalog.extendAssets(lineageExtension)
    server.jobs.add(pruneJob)
    server.plugins.catalog.readAtDiscovery(lineageReader(server))
    const runsOf: LineageApi['runsOf'] = (trx, tableIds, since) => listRunsOf(trx, { tableIds }, since)
    server.plugins.alerts.connect({ lineage: { walk: walkEdges, runsOf } })
    server.route(routes)
    registerFeeds(server)
    server.expose({
      connect: connectTables,
      recordEdges,
      walk: walkEdges,
      readNodes,
      runsOf,
    } satisfies LineageApi)
  },
}
