import type { Server } from '@hapi/hapi'
import { adoptDatasets } from '../datasets/move-nodes.ts'
import { externalCheckFailed } from '../dbt/alert-kind.ts'
import { feedsExtension } from './extension.ts'
import { pruneRunsJob } from './prune-job.ts'
import { feedRoutes } from './routes.ts'

/** Registers what takes lineage from other tools: dbt and OpenLineage. */
export function registerFeeds(server: Server): void {
  const { alerts, catalog } = server.plugins
  alerts.addKind(externalCheckFailed)
  catalog.extendAssets(feedsExtension)
  catalog.afterDiscovery(async (trx, source) => {
    await adoptDatasets(server, trx, source.id)
  })
  server.jobs.add(pruneRunsJob)
  server.route(feedRoutes(server))
}
