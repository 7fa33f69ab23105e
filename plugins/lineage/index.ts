import type { Server } from '@hapi/hapi'
import { feature } from '../../server/feature.ts'
import type { LineageApi } from './api.ts'
import { lineageExtension } from './asset-extension.ts'
import { connectTables } from './connect.ts'
import { adoptDatasets } from './datasets/move-nodes.ts'
import { externalCheckFailed } from './dbt/alert-kind.ts'
import type { LineageDeps } from './deps.ts'
import { feedsExtension } from './feeds/extension.ts'
import { pruneRunsJob } from './feeds/prune-job.ts'
import { feedRoutes } from './feeds/routes.ts'
import { countDownstream } from './graph/count.ts'
import { pruneJob } from './graph/fading.ts'
import { readNodes } from './graph/nodes.ts'
import { recordEdges } from './graph/record.ts'
import { walkEdges } from './graph/walk.ts'
import { listRunsOf } from './openlineage/runs.ts'
import { routes } from './routes.ts'
import { lineageReader } from './views/discovered.ts'

const depsOf = ({ db, textPool, pino, plugins: { alerts, catalog, owners } }: Server): LineageDeps => ({
  db,
  textPool,
  pino,
  alerts,
  catalog,
  owners,
})

/** Which tables are made from which. */
export const lineage = feature({
  name: 'lineage',
  needs: ['auth', 'alerts', 'catalog', 'owners'],
  tags: {
    lineage: {
      title: 'Lineage',
      group: 'Catalog',
      order: 50,
      description: 'Which tables are derived from which.',
      page: '/guide/lineage',
    },
  },
  make(server) {
    const deps = depsOf(server)
    const { alerts, catalog, owners } = deps
    const api: LineageApi = {
      connect: connectTables,
      recordEdges,
      walk: walkEdges,
      countDownstream,
      readNodes,
      runsOf: (trx, tableIds, since) => listRunsOf(trx, { tableIds }, since),
    }
    alerts.addKind(externalCheckFailed)
    alerts.connect({ lineage: { walk: walkEdges, countDownstream, runsOf: api.runsOf } })
    catalog.extendAssets(lineageExtension)
    catalog.extendAssets(feedsExtension)
    catalog.readAtDiscovery(lineageReader(deps))
    catalog.afterDiscovery(async (trx, source) => void (await adoptDatasets(owners, trx, source.id)))
    return { api, routes: [...routes(deps), ...feedRoutes(deps)] }
  },
  jobs: [pruneJob, pruneRunsJob],
})
