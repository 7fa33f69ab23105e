import type { Request, ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany } from '../../../server/http/access.ts'
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
    const query = queryOf<AssetListQuery>(request)
    return inCompany(request, async trx => {
      const { sources, tables, total } = await listAssets(trx, caller(request).companyId, query)
      const known = await readExtensionFields(
        trx,
        extensions,
        tables.map(({ table }) => table.id),
      )
      const data = [
        ...(await presentSources(request.server, trx, sources, extensions)),
        ...tables.map(({ source, table }) => presentTable(source, table, known.get(table.id) ?? {}, false)),
      ]
      return { data, pagination: pagination(total, query) }
    })
  }

  const tags = ['api', 'assets']
  return [
    {
      method: 'GET',
      path: '/api/v1/assets',
      options: {
        ...access.read,
        description: 'List sources and tables',
        tags,
        validate: { query: schemas.assetList },
        response: replies.assets,
      },
      handler: list,
    },
    {
      method: 'GET',
      path: '/api/v1/assets/{asset_id}',
      options: {
        ...access.read,
        description: 'A source or a table',
        tags,
        validate: { params: schemas.assetParams, query: schemas.assetQuery },
        response: replies.bareAsset,
      },
      handler: record,
    },
    {
      method: 'GET',
      path: '/api/v1/assets/{asset_id}/schema-changes',
      options: {
        ...access.read,
        description: 'Schema changes of a source or a table',
        tags,
        validate: { params: schemas.assetParams, query: schemas.changesQuery },
        response: replies.changes,
      },
      handler: request => inCompany(request, trx => changes(trx, request)),
    },
    {
      method: 'GET',
      path: '/api/v1/sdk/assets',
      options: {
        ...access.read,
        description: 'List sources and tables',
        tags,
        validate: { query: schemas.assetList },
        response: replies.nestedAssets,
      },
      handler: async request => ({ data: await list(request) }),
    },
    {
      method: 'GET',
      path: '/api/v1/sdk/assets/{asset_id}',
      options: {
        ...access.read,
        description: 'A source or a table',
        tags,
        validate: { params: schemas.assetParams, query: schemas.assetQuery },
        response: replies.asset,
      },
      handler: async request => ({ data: await record(request) }),
    },
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
