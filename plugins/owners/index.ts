import { feature } from '../../server/feature.ts'
import type { OwnersApi } from './api.ts'
import { ownerFields, presentOwner, readOwners } from './effective-owners.ts'
import { ownerLookup } from './owner-lookup.ts'
import { readCommentOwners, replaceFrom } from './reported-owners.ts'
import { forgetUser } from './removed-users.ts'
import { ownerRoutes } from './routes.ts'
import { teamRoutes } from './team-routes.ts'

/** Who owns sources, schemas, tables and tags. */
export const owners = feature({
  name: 'owners',
  needs: ['auth', 'alerts', 'catalog'],
  tags: {
    owners: {
      title: 'Owners and teams',
      group: 'Catalog',
      order: 45,
      description: 'Who owns sources, schemas, tables and tags.',
      page: '/guide/owners',
    },
  },
  api: (): OwnersApi => ({ replaceFrom, ownersOf: readOwners }),
  setUp({ plugins: { alerts, auth, catalog } }) {
    alerts.connect({ owners: ownerLookup })
    auth.onUserRemoved((trx, user) => forgetUser(alerts, trx, user))
    catalog.afterDiscovery(readCommentOwners)
    catalog.extendAssets({
      tableFields: ownerFields,
      async sourceFields(trx, sources) {
        const ids = sources.map(({ id }) => id)
        const owners = await readOwners(trx, ids)
        return new Map(ids.map(id => [id, { owners: (owners.get(id) ?? []).map(presentOwner) }]))
      },
    })
  },
  routes: (_, { plugins: { alerts, catalog } }) => [...teamRoutes(alerts), ...ownerRoutes(catalog)],
})
