import { feature } from '../../server/feature.ts'
import { makeReachLookup } from './recorded.ts'
import { routes } from './routes.ts'

/** What planned changes, schema changes and alerts do to those who depend on a table. */
export const impact = feature({
  name: 'impact',
  needs: ['auth', 'alerts', 'catalog', 'owners', 'lineage', 'checks', 'contracts'],
  setUp({ db, plugins: { alerts, catalog, owners, lineage, checks, contracts } }) {
    alerts.connect({ reach: makeReachLookup({ db, alerts, catalog, owners, lineage, checks, contracts }) })
  },
  routes: (_, { db, plugins: { alerts, catalog, owners, lineage, checks, contracts } }) =>
    routes({ db, alerts, catalog, owners, lineage, checks, contracts }),
})
