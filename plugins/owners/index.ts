import type { Plugin } from '@hapi/hapi'
import type { ApiTag } from '../../server/openapi/tags.ts'
import type { OwnersApi } from './api.ts'
import { ownerFields, presentOwner, readOwners } from './effective-owners.ts'
import { ownerLookup } from './owner-lookup.ts'
import { readCommentOwners, replaceFrom } from './reported-owners.ts'
import { forgetUser } from './removed-users.ts'
import { ownerRoutes } from './routes.ts'
import { teamRoutes } from './team-routes.ts'

/** Who owns sources, schemas, tables and tags. */
export const owners: Plugin<undefined> = {
  name: 'owners',
  dependencies: ['auth', 'alerts', 'catalog'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      owners: {
        title: 'Owners and teams',
        group: 'Catalog',
        order: 45,
        description: 'Who owns sources, schemas, tables and tags.',
        page: '/api/public/docs/owners.md',
      },
    } satisfies Record<string, ApiTag>)
    const { alerts, auth, catalog } = server.plugins
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
    server.route([...teamRoutes(alerts), ...ownerRoutes(catalog)])
    server.expose({ replaceFrom, ownersOf: readOwners } satisfies OwnersApi)
  },
}
