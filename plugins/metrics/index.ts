import type { Plugin } from '@hapi/hapi'
import { summarize } from './metrics.ts'
import { Metric } from './models.ts'
import { batchOf } from './record.ts'
import { routes } from './routes.ts'

/** Numbers taken of tables again and again, each judged against its own history. */
export const metrics: Plugin<undefined> = {
  name: 'metrics',
  dependencies: ['catalog', 'scans', 'alerts'],
  register(server) {
    server.route(routes(server))
    server.plugins.scans.contribute({
      name: 'metrics',
      table: 'metrics',
      load: async (trx, table, which) => {
        const active = Metric.query(trx).where({ tableId: table.table.id, isActive: true })
        const due = await (which === 'claimed' ? active.whereNotNull('runningSlot') : active)
        return batchOf(server, table, due, which === 'claimed')
      },
      tally: (trx, source) => summarize(trx, source.companyId, { source }),
    })
  },
}
