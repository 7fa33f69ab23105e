import type { ServerRoute } from '@hapi/hapi'
import { formatName } from '../../connectors/catalog.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { CatalogApi } from '../catalog/api.ts'
import { access, inCompany, routesOf } from '../../server/http/access.ts'
import { auditRequest } from '../../server/http/audit.ts'
import { param } from '../../server/http/input.ts'
import { pagination } from '../../server/http/page.ts'
import { listApplicable, presentOwner, readOwners, toOwner } from './effective-owners.ts'
import { listOwnedAssets } from './owned-assets.ts'
import { listOwnerships, readManualOwnerships, removeOwnership, setOwners } from './ownerships.ts'
import * as schemas from './schemas.ts'

const base = '/api/v1/sdk/owners'
const route = routesOf('owners')

export const ownerRoutes = (catalog: CatalogApi): ServerRoute[] => [
  route('GET', base, access.read, {
    id: 'listOwnerships',
    description: 'List what is set: owners of sources, schemas, tables and tags, newest first',
    notes:
      'By people, by dbt and by comments. `GET /api/v1/sdk/assets/{asset_id}/owners` says what is in force.',
    validate: { query: schemas.ownershipList },
    response: schemas.replies.ownerships,
    handler: request =>
      inCompany(request, async trx => {
        const { query } = request
        const { ownerships, total } = await listOwnerships(catalog, trx, query)
        return { data: { ownerships, pagination: pagination(total, query) } }
      }),
  }),
  route('PUT', base, access.write, {
    id: 'putOwners',
    description: 'Set the owners of a source, a schema, a table or a tag',
    notes:
      'Replaces those that people set before; an empty list removes them. They go before what dbt and comments say of the same object.',
    validate: { payload: schemas.newOwners },
    response: schemas.replies.set,
    handler: request =>
      inCompany(request, async trx => {
        const body = request.payload
        const { subject, isChanged } = await setOwners(catalog, trx, body)
        const ownerships = await readManualOwnerships(trx, subject)
        if (isChanged)
          await auditRequest(request, trx, {
            action: 'owners.set',
            target: targetOf(subject),
            details: { ...(await nameOf(catalog, trx, body)), ...body },
          })
        return { data: { ownerships } }
      }),
  }),
  route('DELETE', `${base}/{id}`, access.write, {
    id: 'removeOwner',
    description: 'Remove an owner that a person set',
    notes: 'One that dbt or a comment names would come back, and is 409: change it there.',
    validate: { params: schemas.ownershipParams },
    response: schemas.replies.removed,
    app: { errors: ['NOT_FOUND', 'CONFLICT'] },
    handler: request =>
      inCompany(request, async trx => {
        const id = param(request, 'id')
        const removed = await removeOwnership(trx, id)
        await auditRequest(request, trx, {
          action: 'owners.removed',
          target: targetOf(removed),
          details: { ownership_id: id },
        })
        return { data: { success: true, message: 'The owner was removed' } }
      }),
  }),
  route('GET', `${base}/assets`, access.read, {
    id: 'listOwnedAssets',
    description: 'List what someone owns: tables and sources, by name',
    notes:
      'As it is in force. A user owns what they own themselves, by their address, and as a member of a team. An asset that someone owns twice is listed once.',
    validate: { query: schemas.ownedList },
    response: schemas.replies.owned,
    handler: request =>
      inCompany(request, async trx => {
        const { query } = request
        const { assets, total } = await listOwnedAssets(trx, query)
        return { data: { assets, pagination: pagination(total, query) } }
      }),
  }),
  route('GET', '/api/v1/sdk/assets/{asset_id}/owners', access.read, {
    id: 'getAssetOwners',
    description: 'Get the owners of an asset, with what they are inherited from',
    notes:
      'The most specific object that has owners decides: the table, its tags, its schema, its source, the tags of that. For the same object, a person goes before dbt, and dbt before comments.',
    validate: { params: schemas.assetParams },
    response: schemas.replies.assetOwners,
    handler: request =>
      inCompany(request, async trx => {
        const { source, table } = await catalog.findAsset(trx, param(request, 'asset_id'))
        const { id } = table ?? source
        const owners = (await readOwners(trx, [id])).get(id) ?? []
        const applicable = (await listApplicable(trx, id)).map(each => ({
          ...presentOwner(toOwner(each)),
          ownership_id: each.ownershipId,
          is_in_force: each.place === 1,
        }))
        const qualified_name = table?.qualifiedName ?? formatName([source.name])
        return { data: { asset_id: id, qualified_name, owners: owners.map(presentOwner), applicable } }
      }),
  }),
]

/** What the log calls what is owned: an id names nothing to its readers. */
async function nameOf(catalog: CatalogApi, trx: Transaction, { asset_id: id, schema }: schemas.SubjectInput) {
  if (id === undefined) return {}
  const { source, table } = await catalog.findAsset(trx, id)
  return { name: [table?.qualifiedName ?? source.name, schema].filter(Boolean).join('.') }
}

function targetOf({ tableId, sourceId, tag }: Record<'tableId' | 'sourceId' | 'tag', string | null>) {
  return tag === null ? { type: 'asset', id: tableId ?? sourceId ?? '' } : { type: 'tag', id: tag }
}
