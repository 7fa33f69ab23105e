import type { ServerRoute } from '@hapi/hapi'
import {
  access,
  caller,
  inCompany,
  routesOf,
  type AnyRequest,
  type ValidRequest,
} from '../../../server/http/access.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { param } from '../../../server/http/input.ts'
import { pagination } from '../../../server/http/page.ts'
import { envelope } from '../../../server/http/replies.ts'
import { findAsset, UUID } from './assets.ts'
import { listAssets, listChanges, type AssetListQuery } from './lists.ts'
import type { CatalogDeps } from '../deps.ts'
import { readExtensionFields, tableRecordReadings } from './table-record.ts'
import {
  presentChange,
  presentSource,
  presentSources,
  presentListedTable,
  presentTable,
  qualifiedName,
} from './present.ts'
import { replies } from './replies.ts'
import { tableConditions, type TableFilterQuery } from './table-filters.ts'
import * as schemas from '../schemas.ts'

const route = routesOf('assets')

/** What tables are sorted by as they need attention, the worst first. */
const WORST_FIRST: readonly TableFilterQuery[] = [
  { quality_status: ['failing', 'error'] },
  { freshness_status: ['stale', 'error'] },
  { has_open_alerts: true },
]

/** The routes that read sources, tables and their changes. */
export function assetRoutes({ connectors, alerts, extensions }: CatalogDeps): ServerRoute[] {
  async function record(request: ValidRequest<unknown, { include_columns: boolean }>) {
    const { include_columns: withColumns } = request.query
    const { companyId } = caller(request)
    const assetId = param(request, 'asset_id')
    const read = UUID.test(assetId) && (await readRecord(request, companyId, assetId))
    if (read) return presentTable(connectors, read.source, read.table, { ...read, withColumns })
    return inCompany(request, async trx => {
      const { source, table } = await findAsset(trx, assetId)
      if (!table) return presentSource(connectors, trx, source, extensions)
      const fields = await readExtensionFields(trx, extensions, [table.id], { isSingle: true })
      const extensionFields = fields.get(table.id) ?? {}
      return presentTable(connectors, source, table, { extensionFields, withColumns })
    })
  }

  async function readRecord(request: AnyRequest, companyId: string, assetId: string) {
    const { readings, recordOf } = tableRecordReadings(companyId, assetId, extensions)
    return recordOf(await request.server.db.read(companyId, readings))
  }

  async function list(request: ValidRequest<unknown, AssetListQuery & TableFilterQuery>) {
    const given = request.query
    const { source } = given
    const query = { ...given, isEngine: source !== undefined && connectors.has(source) }
    const conditionsOf = (asked: TableFilterQuery) =>
      tableConditions(extensions, asked, alerts.openAlertsQuery)
    const worstFirst = given.sort === 'status' ? WORST_FIRST.flatMap(conditionsOf) : []
    return inCompany(request, async trx => {
      const { companyId } = caller(request)
      const conditions = conditionsOf(given)
      const { sources, tables, total } = await listAssets(trx, companyId, query, conditions, worstFirst)
      const ids = tables.map(({ table }) => table.id)
      const fieldsById = await readExtensionFields(trx, extensions, ids)
      const data = [
        ...(await presentSources(connectors, trx, sources, extensions)),
        ...tables.map(({ source, table }) =>
          presentListedTable(connectors, source, table, fieldsById.get(table.id) ?? {}),
        ),
      ]
      return { data, pagination: pagination(total, query) }
    })
  }

  return [
    route('GET', '/api/v1/assets', access.read, {
      id: 'listAssetRecords',
      description: 'List assets at the top level of the reply',
      notes:
        'The same assets as `GET /api/v1/sdk/assets`, with `data` and `pagination` at the top level. Bad input is 422 with `detail`. New programs use `GET /api/v1/sdk/assets`.',
      validate: { query: schemas.assetList },
      response: replies.assets,
      handler: list,
    }),
    route('GET', '/api/v1/assets/{asset_id}', access.read, {
      id: 'getAssetRecord',
      description: 'Get an asset at the top level of the reply',
      notes:
        'The same asset as `GET /api/v1/sdk/assets/{asset_id}`, without `data` around it. New programs use that.',
      validate: { params: schemas.assetParams, query: schemas.assetQuery },
      response: replies.bareAsset,
      handler: record,
    }),
    route('GET', '/api/v1/assets/{asset_id}/schema-changes', access.read, {
      description: 'List the schema changes of an asset',
      notes:
        'Changes of the last `days_back` days, with counts by impact. Use `GET /api/v1/sdk/schema/changes` for changes of all sources and for paging.',
      validate: { params: schemas.assetParams, query: schemas.changesQuery },
      response: replies.changes,
      handler: request => inCompany(request, trx => changes(trx, request)),
    }),
    route('GET', '/api/v1/sdk/assets', access.read, {
      description: 'List assets',
      notes:
        'Sources and their tables, by name. Use it to find the id of an asset. Filters combine; `search` looks in names.',
      validate: { query: schemas.assetList },
      response: replies.nestedAssets,
      handler: async request => ({ data: await list(request) }),
    }),
    route('GET', '/api/v1/sdk/assets/{asset_id}', access.read, {
      description: 'Get an asset',
      notes:
        'A source comes with its connection and its state, a table with its columns. `asset_type` says which of the two it is.',
      validate: { params: schemas.assetParams, query: schemas.assetQuery },
      response: replies.asset,
      handler: async request => ({ data: await record(request) }),
    }),
  ]
}

async function changes(trx: Transaction, request: ValidRequest<unknown, schemas.AssetChangesQuery>) {
  const { days_back: days, change_type: type, ...page } = request.query
  const asset = await findAsset(trx, param(request, 'asset_id'))
  const { changes: listed, total } = await listChanges(trx, asset, { days, type, ...page })
  return envelope({
    asset: qualifiedName(asset),
    changes: listed.map(presentChange),
    ...pagination(total, page),
  })
}
