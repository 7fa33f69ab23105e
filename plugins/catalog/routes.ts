import type { Request, ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany } from '../../server/access.ts'
import { rows, type Transaction } from '../../server/database.ts'
import { param, queryOf } from '../../server/input.ts'
import { pagination, type Page } from '../../server/page.ts'
import { envelope } from '../../server/replies.ts'
import { findAsset } from './assets.ts'
import { SchemaChange, Source, Table } from './models.ts'
import {
  factsOf,
  presentChange,
  presentSource,
  presentTable,
  qualifiedName,
  type AssetFacts,
} from './present.ts'
import * as schemas from './schemas.ts'

interface ListQuery extends Page {
  source?: string
  asset_type?: string
  search?: string
}

/** The routes that read sources, tables and their changes. */
export function routes(facts: readonly AssetFacts[]): ServerRoute[] {
  const present = (request: Request, trx: Transaction, source: Source) =>
    presentSource(request.server, trx, source, facts)

  async function record(request: Request): Promise<object> {
    const { include_columns: withColumns } = queryOf<{ include_columns: boolean }>(request)
    return inCompany(request, async trx => {
      const { source, table } = await findAsset(trx, param(request, 'asset_id'))
      if (!table) return present(request, trx, source)
      const known = await factsOf(trx, facts, [table.id])
      return presentTable(source, table, known.get(table.id) ?? {}, withColumns)
    })
  }

  async function list(request: Request) {
    const query = queryOf<ListQuery>(request)
    return inCompany(request, async trx => {
      const { ids, total } = await listIds(trx, caller(request).companyId, query)
      const sources = new Map((await Source.query(trx)).map(source => [source.id, source]))
      const tables = new Map((await Table.query(trx).whereIn('id', ids)).map(table => [table.id, table]))
      const known = await factsOf(trx, facts, [...tables.keys()])
      const data: object[] = []
      for (const id of ids) {
        const table = tables.get(id)
        const source = sources.get(table?.sourceId ?? id)
        // Removed since the ids were listed.
        if (!source) continue
        data.push(
          table
            ? presentTable(source, table, known.get(id) ?? {}, false)
            : await present(request, trx, source),
        )
      }
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
      },
      handler: async request => ({ data: await record(request) }),
    },
  ]
}

/** The ids of one page of sources and tables, sources first, each newest first. */
async function listIds(
  trx: Transaction,
  companyId: string,
  query: ListQuery,
): Promise<{ ids: string[]; total: number }> {
  const found = await rows<{ id: string; total: number }>(
    trx,
    `select id, count(*) over ()::int as total from (
       select id, 0 as level, created_at, name, 'source' as kind, name as source from sources
         where company_id = :companyId
       union all
       select t.id, 1, t.created_at, t.name, t.kind, s.name from tables t join sources s on s.id = t.source_id
         where t.company_id = :companyId and t.is_active
     ) assets
     where (cast(:source as text) is null or source = :source)
       and (cast(:kind as text) is null or kind = :kind)
       and (cast(:search as text) is null or position(lower(:search) in lower(name)) > 0)
     order by level, created_at desc, id desc limit :limit offset :offset`,
    {
      companyId,
      source: query.source ?? null,
      kind: query.asset_type ?? null,
      search: query.search ?? null,
      limit: query.limit,
      offset: query.offset,
    },
  )
  // A page past the end has no row to tell the total.
  if (found.length === 0 && query.offset > 0) {
    const { total } = await listIds(trx, companyId, { ...query, limit: 1, offset: 0 })
    return { ids: [], total }
  }
  return { ids: found.map(({ id }) => id), total: found[0]?.total ?? 0 }
}

interface ChangesQuery extends Page {
  days_back: number
  change_type?: string
}

async function changes(trx: Transaction, request: Request): Promise<object> {
  const { days_back: days, change_type: type, limit, offset } = queryOf<ChangesQuery>(request)
  const asset = await findAsset(trx, param(request, 'asset_id'))
  const query = SchemaChange.query(trx)
    .where(asset.table ? { tableId: asset.table.id } : { sourceId: asset.source.id })
    .whereRaw('detected_at >= now() - make_interval(days => ?)', [days])
  if (type !== undefined) void query.where('changeType', type)
  const { results, total } = await query
    .orderBy([
      { column: 'detectedAt', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .range(offset, offset + limit - 1)
  return envelope({
    asset: qualifiedName(asset),
    changes: results.map(presentChange),
    ...pagination(total, { limit, offset }),
  })
}
