import type { Plugin } from '@hapi/hapi'
import type { ProfilesApi } from './api.ts'
import { readLatest } from './store.ts'

/** What the columns of tables hold: counts, extremes, quantiles, frequent values and patterns, with their history. */
export const profiles: Plugin<undefined> = {
  name: 'profiles',
  dependencies: ['catalog', 'scans'],
  register(server) {
    server.expose({
      latest: (trx, tableIds) => readLatest(server, trx, tableIds),
    } satisfies ProfilesApi)
  },
}
