import type { Plugin } from '@hapi/hapi'
import type { Feature, ScansApi } from './api.ts'
import { checkAsset, targetOf } from './check.ts'
import { checkJob, checkRoute } from './check-job.ts'
import { checkRoutes } from './check-routes.ts'
import { configure } from './configure.ts'
import { dispatch, dispatchJob, scanJob } from './jobs.ts'
import { backfill, tryOut } from './past.ts'
import { qualityExtension } from './quality.ts'
import { runRow, runTable } from './select.ts'

/** One pass over a table for every check that is due on it, whoever owns the check. */
export const scans: Plugin<undefined> = {
  name: 'scans',
  dependencies: ['catalog'],
  register(server) {
    const features: Feature[] = []
    server.plugins.catalog.extendAssets(qualityExtension(features))
    server.jobs.add(scanJob, dispatchJob, checkJob)
    server.route(checkRoute)
    server.expose({
      contribute(feature) {
        features.push(feature as unknown as Feature)
        return (row, choice) => runRow(server, feature, row, choice)
      },
      routesOf: resource => checkRoutes(server, resource),
      runTable: (companyId, tableId, which, choice) =>
        runTable(server, features, { companyId, tableId, which }, choice),
      targetOf: (trx, companyId, assetId, tablePath) =>
        targetOf(server, features, trx, { companyId, assetId, tablePath }),
      check: (target, options) => checkAsset(server, features, target, options),
      dispatch: () => dispatch(server, features),
      configure: (companyId, assetId, request) => configure(server, companyId, assetId, request),
      backfill: (configured, choice) => backfill(server, configured, choice),
      tryOut: (configured, choice) => tryOut(server, configured, choice),
    } satisfies ScansApi)
  },
}
