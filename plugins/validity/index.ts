import type { Plugin } from '@hapi/hapi'
import { ValidityRule } from './models.ts'
import { batchOf } from './record.ts'
import { summarize } from './rules.ts'
import { routes } from './routes.ts'

/** Rules that say which values are valid, checked on schedule and on demand. */
export const validity: Plugin<undefined> = {
  name: 'validity',
  dependencies: ['catalog', 'scans', 'alerts'],
  register(server) {
    server.route(routes(server))
    server.plugins.scans.contribute({
      name: 'validity',
      table: 'validity_rules',
      load: async (trx, table, which) => {
        const active = ValidityRule.query(trx).where({ tableId: table.table.id, isActive: true })
        const rules = await (which === 'claimed' ? active.whereNotNull('runningSlot') : active)
        return batchOf(server, table, rules, which === 'claimed')
      },
      tally: (trx, source) => summarize(trx, source.companyId, { source }),
    })
  },
}
