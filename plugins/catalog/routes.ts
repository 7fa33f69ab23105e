import type { Request, ServerRoute } from '@hapi/hapi'
import { access, caller } from '../../server/access.ts'
import { rows, type Transaction } from '../../server/database.ts'
import { apiError } from '../../server/errors.ts'
import { bodyOf, param, queryOf } from '../../server/input.ts'
import { pagination, type Page } from '../../server/page.ts'
import { envelope } from '../../server/replies.ts'
import { findAsset } from './assets.ts'
import { Run, SchemaChange, Source, Table } from './models.ts'
import {
  factsOf,
  presentChange,
  presentRun,
  presentSource,
  presentTable,
  qualifiedName,
  type AssetFacts,
} from './present.ts'
import * as schemas from './schemas.ts'
import {
  createSource,
  patchSource,
  requestDiscovery,
  testSource,
  type NewSource,
  type SourcePatch,
} from './sources.ts'

interface ListQuery extends Page {
  source?: string
  asset_type?: string
  search?: string
}

/** Of one source, whoever asks. */
const DISCOVERIES_AN_HOUR = 10

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The routes of sources, tables, their changes and the jobs on them. */
export function routes(facts: readonly AssetFacts[]): ServerRoute[] {
  const inCompany = <T>(request: Request, work: (trx: Transaction) => Promise<T>) =>
    request.server.db.company(caller(request).companyId, work)
  const assetId = (request: Request) => param(request, 'asset_id')
  const sourceOf = async (trx: Transaction, request: Request): Promise<Source> => {
    const { source, table } = await findAsset(trx, assetId(request))
    if (!table) return source
    throw apiError('VALIDATION_ERROR', 'This takes a source, not a table', {
      field: 'asset_id',
      error: 'is a table',
      asset_id: source.id,
    })
  }
  const present = (request: Request, trx: Transaction, source: Source) =>
    presentSource(request.server, trx, source, facts)

  async function record(request: Request): Promise<object> {
    const { include_columns: withColumns } = queryOf<{ include_columns: boolean }>(request)
    return inCompany(request, async trx => {
      const { source, table } = await findAsset(trx, assetId(request))
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
        if (!source) throw new Error(`Asset ${id} was listed and is gone`)
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
      method: 'POST',
      path: '/api/v1/sdk/assets',
      options: {
        ...access.write,
        description: 'Add a source',
        tags,
        validate: { payload: schemas.newSource },
      },
      handler: async (request, h) => {
        const { companyId } = caller(request)
        const data = await inCompany(request, async trx =>
          present(
            request,
            trx,
            await createSource(request.server, trx, companyId, bodyOf<NewSource>(request)),
          ),
        )
        return h.response({ data }).code(201)
      },
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
    {
      method: 'PATCH',
      path: '/api/v1/sdk/assets/{asset_id}',
      options: {
        ...access.write,
        description: 'Change a source, or a table’s description',
        tags,
        validate: { params: schemas.assetParams, payload: schemas.sourcePatch },
      },
      handler: request =>
        inCompany(request, async trx => {
          const patch = bodyOf<SourcePatch>(request)
          const { source, table } = await findAsset(trx, assetId(request))
          if (!table)
            return {
              data: await present(request, trx, await patchSource(request.server, trx, source, patch)),
            }
          return { data: await describeTable(trx, source, table, patch) }
        }),
    },
    {
      method: 'DELETE',
      path: '/api/v1/sdk/assets/{asset_id}',
      options: {
        ...access.write,
        description: 'Remove a source and all that hangs on it',
        tags,
        validate: { params: schemas.assetParams },
      },
      handler: request =>
        inCompany(request, async trx => {
          const source = await sourceOf(trx, request)
          await Source.query(trx).deleteById(source.id)
          return { data: { success: true, message: `Source ${source.name} was removed` } }
        }),
    },
    {
      method: 'POST',
      path: '/api/v1/sdk/assets/{asset_id}/test-connection',
      options: {
        ...access.write,
        description: 'Try the connection stage by stage',
        tags,
        validate: { params: schemas.assetParams },
      },
      handler: async request => {
        const source = await inCompany(request, trx => sourceOf(trx, request))
        return { data: await testSource(request.server, source) }
      },
    },
    {
      method: 'POST',
      path: '/api/v1/sdk/assets/{asset_id}/discover',
      options: {
        ...access.write,
        description: 'Read the catalog and record what changed',
        tags,
        validate: { params: schemas.assetParams },
      },
      handler: async (request, h) => {
        const source = await inCompany(request, trx => sourceOf(trx, request))
        await request.server.limits.take(`discovery:${source.id}`, DISCOVERIES_AN_HOUR, 3_600, request)
        const run = await inCompany(request, trx => requestDiscovery(request.server, trx, source))
        const message = `Discovery is ${run.status}: GET /api/v1/sdk/jobs/${run.id} tells how it goes`
        return h
          .response({
            data: {
              job_id: run.id,
              asset_id: run.assetId,
              status: run.status,
              message,
              started_at: run.createdAt,
            },
          })
          .code(202)
      },
    },
    {
      method: 'GET',
      path: '/api/v1/sdk/jobs/{job_id}',
      options: {
        ...access.read,
        description: 'How a job goes',
        tags: ['api', 'jobs'],
        validate: { params: schemas.jobParams },
      },
      handler: request =>
        inCompany(request, async trx => ({ data: presentRun(await findRun(trx, request)) })),
    },
    {
      method: 'POST',
      path: '/api/v1/sdk/jobs/{job_id}/cancel',
      options: {
        ...access.write,
        description: 'Cancel a job',
        tags: ['api', 'jobs'],
        validate: { params: schemas.jobParams },
      },
      handler: request =>
        inCompany(request, async trx => {
          const run = await findRun(trx, request)
          if (run.status !== 'pending' && run.status !== 'running') {
            throw apiError('CONFLICT', `The job is ${run.status} already`, { status: run.status })
          }
          return {
            data: presentRun(
              await Run.query(trx).patchAndFetchById(run.id, {
                status: 'cancelled',
                completedAt: new Date(),
              }),
            ),
          }
        }),
    },
  ]
}

async function findRun(trx: Transaction, request: Request): Promise<Run> {
  const id = param(request, 'job_id')
  const run = UUID.test(id) ? await Run.query(trx).findById(id) : undefined
  if (!run) throw apiError('JOB_NOT_FOUND', 'There is no such job', { job_id: id })
  return run
}

async function describeTable(
  trx: Transaction,
  source: Source,
  table: Table,
  patch: SourcePatch,
): Promise<object> {
  const others = Object.keys(patch).filter(field => field !== 'description')
  if (others.length > 0) {
    throw apiError(
      'VALIDATION_ERROR',
      `Of a table only the description can be changed, not ${others.join(', ')}`,
      {
        field: others[0],
        error: 'belongs to the source',
      },
    )
  }
  const changed = await Table.query(trx).patchAndFetchById(table.id, {
    description: patch.description ?? null,
    updatedAt: new Date(),
  })
  return presentTable(source, changed, {}, true)
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
