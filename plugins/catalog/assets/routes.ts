import type { Request, ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany, routesOf } from '../../../server/http/access.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { param, queryOf } from '../../../server/http/input.ts'
import { pagination, type Page } from '../../../server/http/page.ts'
import { envelope } from '../../../server/http/replies.ts'
import { findAsset, UUID } from './assets.ts'
import { listAssets, listChanges, type AssetListQuery } from './lists.ts'
import type { AssetExtension } from './asset-extensions.ts'
import { readExtensionFields, readTableRecord } from './table-record.ts'
import { presentChange, presentSource, presentSources, presentTable, qualifiedName } from './present.ts'
import { replies } from './replies.ts'
import * as schemas from '../schemas.ts'

const route = routesOf('assets')

/** The routes that read sources, tables and their changes. */
export function routes(extensions: readonly AssetExtension[]): ServerRoute[] {
  async function record(request: Request): Promise<object> {
    const { include_columns: withColumns } = queryOf<{ include_columns: boolean }>(request)
    const { companyId } = caller(request)
    const assetId = param(request, 'asset_id')
    const known =
      UUID.test(assetId) && (await readTableRecord(request.server.db, companyId, assetId, extensions))
    if (known) return presentTable(known.source, known.table, known.extensionFields, withColumns)
    return inCompany(request, async trx => {
      const { source, table } = await findAsset(trx, assetId)
      if (!table) return presentSource(request.server, trx, source, extensions)
      const fields = await readExtensionFields(trx, extensions, [table.id])
      return presentTable(source, table, fields.get(table.id) ?? {}, withColumns)
    })
  }

  async function list(request: Request) {
    const given = queryOf<AssetListQuery>(request)
    const { source } = given
    const query = { ...given, isEngine: source !== undefined && request.server.connectors.has(source) }
    return inCompany(request, async trx => {
      const { sources, tables, total } = await listAssets(trx, caller(request).companyId, query)
      const ids = tables.map(({ table }) => table.id)
      const known = await readExtensionFields(trx, extensions, ids)
      const data = [
        ...(await presentSources(request.server, trx, sources, extensions)),
        ...tables.map(({ source, table }) => presentTable(source, table, known.get(table.id) ?? {}, false)),
      ]
      return { data, pagination: pagination(total, query) }
    })
  }

  return [
    route('GET', '/api/v1/assets', access.read, {
      id: 'listAssetRecords',
      description: 'List sources and tables',
      validate: { query: schemas.assetList },
      response: replies.assets,
      handler: list,
    }),
    route('GET', '/api/v1/assets/{asset_id}', access.read, {
      id: 'getAssetRecord',
      description: 'A source or a table',
      validate: { params: schemas.assetParams, query: schemas.assetQuery },
      response: replies.bareAsset,
      handler: record,
    }),
    route('GET', '/api/v1/assets/{asset_id}/schema-changes', access.read, {
      description: 'Schema changes of a source or a table',
      validate: { params: schemas.assetParams, query: schemas.changesQuery },
      response: replies.changes,
      handler: request => inCompany(request, trx => changes(trx, request)),
    }),
    route('GET', '/api/v1/sdk/assets', access.read, {
      description: 'List sources and tables',
      validate: { query: schemas.assetList },
      response: replies.nestedAssets,
      handler: async request => ({ data: await list(request) }),
    }),
    route('GET', '/api/v1/sdk/assets/{asset_id}', access.read, {
      description: 'A source or a table',
      validate: { params: schemas.assetParams, query: schemas.assetQuery },
      response: replies.asset,
      handler: async request => ({ data: await record(request) }),
    }),
  ]
}

interface ChangesQuery extends Page {
  days_back: number
  change_type?: string
}

async function changes(trx: Transaction, request: Request): Promise<object> {
  const { days_back: days, change_type: type, ...page } = queryOf<ChangesQuery>(request)
  const asset = await findAsset(trx, param(request, 'asset_id'))
  const { changes: found, total } = await listChanges(trx, asset, { days, type, ...page })
  return envelope({
    asset: qualifiedName(asset),
    changes: found.map(presentChange),
    ...pagination(total, page),
  })
}
