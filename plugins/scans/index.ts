import type { Plugin } from '@hapi/hapi'
import type { Contribution, ScansApi } from './api.ts'
import { configure } from './configure.ts'
import { dispatchScans, scanJob } from './jobs.ts'
import { quality } from './quality.ts'
import { runScan, type Load } from './run.ts'

/** One pass over a table for every check that is due on it, whoever owns the check. */
export const scans: Plugin<undefined> = {
  name: 'scans',
  dependencies: ['catalog'],
  register(server) {
    const contributions: Contribution[] = []
    server.plugins.catalog.describeAssets({ source: (trx, source) => quality(trx, source, contributions) })
    server.jobs.add(scanJob, dispatchScans(contributions))
    server.expose({
      contribute: contribution => void contributions.push(contribution),
      run: async (companyId, tableId, load, choice) => {
        const { results } = await runScan(server, companyId, tableId, [load], choice)
        return results[0] as never
      },
      runTable: async (companyId, tableId, which, choice) => {
        const loads = contributions.map(
          (contribution): Load =>
            (trx, table) =>
              contribution.load(trx, table, which),
        )
        const { checks, statements } = await runScan(server, companyId, tableId, loads, choice)
        return { checks, statements }
      },
      configure: (companyId, assetId, request) => configure(server, companyId, assetId, request),
    } satisfies ScansApi)
  },
}
