import type { Request, ServerRoute } from '@hapi/hapi'
import { formatName } from '../../connectors/catalog.ts'
import { access, caller, inCompany } from '../../server/access.ts'
import type { Transaction } from '../../server/database.ts'
import { unprocessable } from '../../server/errors.ts'
import { bodyOf, param, queryOf } from '../../server/input.ts'
import type { Page } from '../../server/page.ts'
import { envelope } from '../../server/replies.ts'
import { refreshJob } from './jobs.ts'
import { countReadiness, listSchedules, listTables, summarize, type Filters, type Scope } from './lists.ts'
import { monitoredTables, type MonitoredTable } from './models.ts'
import { presentFreshness, presentMeta, presentMonitored, presentSchedule, readinessOf } from './present.ts'
import * as schemas from './schemas.ts'
import {
  checkAtOnce,
  createSchedule,
  deleteSchedule,
  patchSchedule,
  type NewSchedule,
  type ScheduleFields,
} from './schedules.ts'

const tags = ['api', 'freshness']

/** The routes of freshness records and schedules. */
export const routes: ServerRoute[] = [
  {
    method: 'GET',
    path: '/api/v1/freshness',
    options: {
      ...access.read,
      description: 'How fresh a table, or a source, is',
      tags,
      validate: { query: schemas.namedAssetQuery },
    },
    handler: request => {
      const { asset } = queryOf<{ asset: string }>(request)
      return inCompany(request, trx =>
        freshnessOf(request, trx, asset, ['query', 'asset'], { limit: 50, offset: 0 }),
      )
    },
  },
  {
    method: 'GET',
    path: '/api/v1/assets/{asset_id}/freshness',
    options: {
      ...access.read,
      description: 'How fresh a table, or the tables of a source, are',
      tags,
      validate: { params: schemas.assetParams, query: schemas.freshnessQuery },
    },
    handler: request =>
      inCompany(request, trx =>
        freshnessOf(
          request,
          trx,
          param(request, 'asset_id'),
          ['path', 'asset_id'],
          queryOf<Filters & Page>(request),
        ),
      ),
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/freshness',
    options: {
      ...access.read,
      description: 'List monitored tables',
      tags,
      validate: { query: schemas.monitoredQuery },
    },
    handler: request => {
      const { asset_id: asset, ...query } = queryOf<Filters & Page & { asset_id?: string }>(request)
      return inCompany(request, async trx => {
        const { tables, pagination } = await listTables(trx, await scopeOf(request, trx, asset), query, query)
        return { data: { data: tables.map(presentMonitored), pagination } }
      })
    },
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/freshness/summary',
    options: {
      ...access.read,
      description: 'Counts of monitored tables',
      tags,
      validate: { query: schemas.summaryQuery },
    },
    handler: request => {
      const { asset_id: asset } = queryOf<{ asset_id?: string }>(request)
      return inCompany(request, async trx => ({
        data: await summarize(trx, await scopeOf(request, trx, asset)),
      }))
    },
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/freshness/{asset_id}',
    options: {
      ...access.read,
      description: 'How fresh a table, or the tables of a source, are',
      tags,
      validate: { params: schemas.assetParams },
    },
    handler: request =>
      inCompany(request, async trx => {
        const asset = await configured(request, trx, param(request, 'asset_id'), ['path', 'asset_id'])
        if (asset.table) return { data: presentMonitored(asset.table) }
        const page = { limit: 100, offset: 0 }
        return { data: await sourceFreshness(trx, asset, {}, page, presentMonitored) }
      }),
  },
  {
    method: 'POST',
    path: '/api/v1/sdk/freshness/{asset_id}/refresh',
    options: {
      ...access.write,
      description: 'Check a table, or all tables of a source, now',
      tags,
      validate: { params: schemas.assetParams },
    },
    handler: async (request, h) => {
      const run = await inCompany(request, trx => requestRefresh(request, trx))
      const message = `Refresh is ${run.status}: GET /api/v1/sdk/jobs/${run.id} tells how it goes`
      return h.response({ data: { job_id: run.id, status: run.status, message } }).code(202)
    },
  },
  {
    method: 'GET',
    path: '/api/v1/sdk/freshness/schedules',
    options: {
      ...access.read,
      description: 'List freshness schedules',
      tags,
      validate: { query: schemas.schedulesQuery },
    },
    handler: request => {
      const {
        asset_id: asset,
        is_active: isActive,
        ...page
      } = queryOf<Page & { asset_id?: string; is_active?: boolean }>(request)
      return inCompany(request, async trx => {
        const scope = await scopeOf(request, trx, asset)
        const { tables, pagination } = await listSchedules(trx, scope, { ...page, isActive })
        return { data: { data: tables.map(presentSchedule), pagination } }
      })
    },
  },
  {
    method: 'POST',
    path: '/api/v1/sdk/freshness/schedules',
    options: {
      ...access.write,
      description: 'Watch a table: make its schedule and run the first check',
      tags,
      validate: { payload: schemas.newSchedule },
    },
    handler: async (request, h) => {
      const made = await inCompany(request, trx =>
        createSchedule(request.server, trx, bodyOf<NewSchedule>(request)),
      )
      return h.response({ data: presentSchedule(await checkAtOnce(request.server, made)) }).code(201)
    },
  },
  {
    method: 'PATCH',
    path: '/api/v1/sdk/freshness/schedules/{id}',
    options: {
      ...access.write,
      description: 'Change a freshness schedule and check its table',
      tags,
      validate: { params: schemas.scheduleParams, payload: schemas.schedulePatch },
    },
    handler: async request => {
      const changed = await inCompany(request, trx =>
        patchSchedule(request.server, trx, param(request, 'id'), bodyOf<ScheduleFields>(request)),
      )
      return { data: presentSchedule(await checkAtOnce(request.server, changed)) }
    },
  },
  {
    method: 'DELETE',
    path: '/api/v1/sdk/freshness/schedules/{id}',
    options: {
      ...access.write,
      description: 'Stop watching a table and forget its history',
      tags,
      validate: { params: schemas.scheduleParams },
    },
    handler: request =>
      inCompany(request, async trx => {
        const { qualifiedName } = await deleteSchedule(request.server, trx, param(request, 'id'))
        return {
          data: { success: true, message: `The freshness of ${qualifiedName} is not watched any more` },
        }
      }),
  },
]

/** The reply for a table (its record) or a source (a summary and its tables), in the standard envelope. */
async function freshnessOf(
  request: Request,
  trx: Transaction,
  assetId: string,
  loc: string[],
  query: Filters & Page,
): Promise<object> {
  const asset = await configured(request, trx, assetId, loc)
  if (asset.table) return envelope(presentFreshness(asset.table), '', presentMeta(asset.table))
  const present = (table: MonitoredTable) => ({ ...presentFreshness(table), readiness: readinessOf(table) })
  return envelope(await sourceFreshness(trx, asset, query, query, present))
}

interface ConfiguredAsset {
  sourceId: string
  name: string
  /** Present when the asset is a table. */
  table?: MonitoredTable
}

async function sourceFreshness(
  trx: Transaction,
  { sourceId, name }: ConfiguredAsset,
  filters: Filters,
  page: Page,
  present: (table: MonitoredTable) => object,
): Promise<object> {
  const { tables, pagination } = await listTables(trx, { sourceId }, filters, page)
  const summary = await countReadiness(trx, { sourceId }, filters)
  return { asset: name, summary, tables: tables.map(present), ...pagination }
}

/** An asset with its schedules. @throws 422 when it has none */
async function configured(
  request: Request,
  trx: Transaction,
  assetId: string,
  loc: string[],
): Promise<ConfiguredAsset> {
  const { source, table } = await request.server.plugins.catalog.findAsset(trx, assetId)
  const [first] = await monitoredTables(trx)
    .where(
      table ? { 'freshness_schedules.tableId': table.id } : { 'freshness_schedules.sourceId': source.id },
    )
    .limit(1)
  if (!first) {
    const msg = `Freshness is not configured for ${table?.qualifiedName ?? source.name}: POST /api/v1/sdk/freshness/schedules`
    throw unprocessable([{ loc, msg, type: 'freshness.not_configured' }])
  }
  return { sourceId: source.id, name: formatName([source.name]), ...(table && { table: first }) }
}

async function scopeOf(request: Request, trx: Transaction, assetId: string | undefined): Promise<Scope> {
  if (assetId === undefined) return {}
  const { source, table } = await request.server.plugins.catalog.findAsset(trx, assetId)
  return table ? { tableId: table.id } : { sourceId: source.id }
}

async function requestRefresh(request: Request, trx: Transaction) {
  const { companyId } = caller(request)
  const { sourceId, table } = await configured(request, trx, param(request, 'asset_id'), ['path', 'asset_id'])
  const run = await request.server.plugins.catalog.startRun(trx, {
    workflowName: 'freshness_refresh',
    sourceId,
    assetId: table?.tableId ?? sourceId,
  })
  const data = {
    company_id: companyId,
    source_id: sourceId,
    run_id: run.id,
    ...(table && { table_id: table.tableId }),
  }
  await request.server.jobs.send(refreshJob, data, { trx, group: companyId })
  return run
}
