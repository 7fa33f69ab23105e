import type { ServerRoute } from '@hapi/hapi'
import { formatName } from '../../connectors/catalog.ts'
import { access, caller, inCompany, routesOf, type AnyRequest } from '../../server/http/access.ts'
import type { Transaction } from '../../server/database/database.ts'
import { invalidField, unprocessable } from '../../server/http/errors.ts'
import { param } from '../../server/http/input.ts'
import type { Page } from '../../server/http/page.ts'
import { envelope } from '../../server/http/replies.ts'
import { waitHeaders } from '../../server/http/run-accepted.ts'
import type { CatalogApi } from '../catalog/api.ts'
import type { FreshnessDeps } from './deps.ts'
import { dryRunFreshness } from './dry-run.ts'
import { listChecks } from './history.ts'
import { refreshJob } from './jobs.ts'
import { countReadiness, listTables, rollUp, scopeOf, summarize, type FreshnessFilters } from './lists.ts'
import { Schedule } from './models.ts'
import { presentFreshness, presentMeta, presentMonitored, presentRollup } from './present.ts'
import { judgedTables, type JudgedTable } from './readiness.ts'
import { replies } from './replies.ts'
import * as schemas from './schemas.ts'
import { readUpdateClock } from './update-clock.ts'

const route = routesOf('freshness')

/** Routes that read freshness and refresh it. */
export const routes = (
  deps: Pick<FreshnessDeps, 'catalog' | 'jobs' | 'operatingSchedules'>,
): ServerRoute[] => [
  route('GET', '/api/v1/freshness', access.read, {
    id: 'findFreshness',
    description: 'Get the freshness of an asset by its name',
    notes:
      'The same reply as `GET /api/v1/assets/{asset_id}/freshness`, for callers that have a name in a query. New programs use `GET /api/v1/sdk/freshness/{asset_id}`.',
    validate: { query: schemas.namedAssetQuery },
    response: replies.bare,
    handler: request => {
      const { asset, ...query } = request.query
      const named = { asset, loc: ['query', 'asset'] }
      return inCompany(request, trx => freshnessEnvelope(deps.catalog, trx, named, query))
    },
  }),
  route('GET', '/api/v1/assets/{asset_id}/freshness', access.read, {
    description: 'Get the freshness of an asset in the standard envelope',
    notes:
      'The record of a table, or counts and the tables of a source, within `success`, `data` and `error`. New programs use `GET /api/v1/sdk/freshness/{asset_id}`.',
    validate: { params: schemas.assetParams, query: schemas.freshnessQuery },
    response: replies.bare,
    handler: request =>
      inCompany(request, trx => freshnessEnvelope(deps.catalog, trx, assetOfPath(request), request.query)),
  }),
  route('GET', '/api/v1/sdk/freshness', access.read, {
    id: 'listFreshness',
    description: 'List the freshness of monitored tables',
    notes:
      'All tables with a freshness schedule, with the result of their last check. Use `asset_id` for those of one source.',
    validate: { query: schemas.monitoredQuery },
    response: replies.monitored,
    handler: request => {
      const { asset_id: asset, ...query } = request.query
      return inCompany(request, async trx => {
        const scope = await scopeOf(deps.catalog, trx, asset)
        const { tables, pagination } = await listTables(trx, scope, query, query)
        return { data: { data: tables.map(presentMonitored), pagination } }
      })
    },
  }),
  route('GET', '/api/v1/sdk/freshness/summary', access.read, {
    description: 'Count monitored tables by their freshness',
    notes: 'Use it for an overview; `GET /api/v1/sdk/freshness` lists them.',
    validate: { query: schemas.summaryQuery },
    response: replies.summary,
    handler: request =>
      inCompany(request, async trx => ({
        data: await summarize(trx, await scopeOf(deps.catalog, trx, request.query.asset_id)),
      })),
  }),
  route('POST', '/api/v1/sdk/freshness/dry-run', access.read, {
    id: 'dryRunFreshness',
    description: 'Judge the stored checks of a table by another threshold',
    notes: 'Nothing is stored, and the source is not queried.',
    validate: { payload: schemas.dryRun },
    response: replies.dryRun,
    handler: request =>
      inCompany(request, async trx => ({
        data: await dryRunFreshness(deps.catalog, trx, request.payload),
      })),
  }),
  route('GET', '/api/v1/sdk/freshness/{asset_id}', access.read, {
    description: 'Get the freshness of an asset',
    notes:
      'The last result of a table; of a source, its tables and one status for all of them. Pipelines that wait for data ask this. The source is not queried: `refresh` checks it now.',
    validate: { params: schemas.assetParams, query: schemas.detailQuery },
    response: replies.detail,
    handler: request =>
      inCompany(request, async trx => {
        const { clock_timezone: zone, ...query } = request.query
        const asset = await findConfigured(deps.catalog, trx, assetOfPath(request))
        if (!asset.table) {
          if (zone !== undefined)
            throw invalidField('clock_timezone', 'is for tables, but the asset is a source')
          const { shown, states } = await readSourceTables(
            trx,
            asset,
            { ...query, isRolledUp: true },
            presentMonitored,
          )
          return { data: { ...shown, ...presentRollup(asset, rollUp(states)) } }
        }
        const [filter] = filtersIn(query)
        if (filter) throw invalidField(filter, ONLY_FOR_SOURCES)
        if (zone === undefined) return { data: presentMonitored(asset.table) }
        const clock = await readUpdateClock(trx, asset.table.id, zone)
        return { data: { ...presentMonitored(asset.table), update_clock: clock } }
      }),
  }),
  route('GET', '/api/v1/sdk/freshness/{asset_id}/history', access.read, {
    id: 'listFreshnessChecks',
    description: 'List the freshness checks of a table, newest first',
    notes: 'What each check found, with the age and the threshold at that time.',
    validate: { params: schemas.assetParams, query: schemas.historyQuery },
    response: replies.history,
    handler: request =>
      inCompany(request, async trx => {
        const { table, name } = await findConfigured(deps.catalog, trx, assetOfPath(request))
        if (!table)
          throw invalidField(
            'asset_id',
            `is a source, and only tables have a history: GET /api/v1/sdk/freshness?asset_id=${name} lists them`,
          )
        const checks = await listChecks(trx, table, request.query)
        const hours = await deps.operatingSchedules.loadHoursOfTable(trx, table.tableId)
        return { data: { ...checks, operating_hours: hours } }
      }),
  }),
  route('POST', '/api/v1/sdk/freshness/{asset_id}/refresh', access.write, {
    description: 'Check the freshness of an asset now',
    notes:
      'Starts a job that queries the source. Replies 202 with the job at once; with `Prefer: wait=N` 200 with the finished job.',
    validate: { params: schemas.assetParams, headers: waitHeaders },
    response: replies.refresh,
    handler: async (request, h) => {
      const run = await inCompany(request, trx => requestRefresh(deps, request, trx))
      return deps.catalog.answerStarted(request, h, 'Refresh', run)
    },
  }),
]

/** The record of a table, or counts and tables of a source, in the standard envelope. */
async function freshnessEnvelope(
  catalog: CatalogApi,
  trx: Transaction,
  named: NamedAsset,
  query: FreshnessFilters & Page,
) {
  const asset = await findConfigured(catalog, trx, named)
  if (!asset.table) {
    const present = (table: JudgedTable) => ({ ...presentFreshness(table), readiness: table.readiness })
    const { shown } = await readSourceTables(trx, asset, query, present)
    return envelope(shown)
  }
  const detail = filtersIn(query).map(name => ({
    loc: ['query', name],
    msg: `${name} ${ONLY_FOR_SOURCES}`,
    type: 'freshness.of_table',
  }))
  if (detail.length > 0) throw unprocessable(detail)
  return envelope(presentFreshness(asset.table), '', presentMeta(asset.table))
}

const ONLY_FOR_SOURCES = 'filters the tables of a source, but the asset is a table: omit it'

function filtersIn(query: FreshnessFilters): string[] {
  return (['status', 'schema', 'tag', 'search'] as const).filter(name => query[name] !== undefined)
}

/** An asset named in a request, and where. */
interface NamedAsset {
  asset: string
  loc: string[]
}

function assetOfPath(request: AnyRequest): NamedAsset {
  return { asset: param(request, 'asset_id'), loc: ['path', 'asset_id'] }
}

interface ConfiguredAsset {
  sourceId: string
  /** The qualified name. */
  name: string
  /** Set if the asset is a table. */
  table?: JudgedTable
}

async function readSourceTables<Shown>(
  trx: Transaction,
  { sourceId, name }: ConfiguredAsset,
  query: FreshnessFilters & Page & { isRolledUp?: boolean },
  present: (table: JudgedTable) => Shown,
) {
  const { tables, states, pagination } = await listTables(trx, { sourceId }, query, query)
  const shown = { asset: name, summary: countReadiness(states), tables: tables.map(present), ...pagination }
  return { shown, states }
}

/** Finds an asset with at least one schedule. @throws 422 if it has none */
async function findConfigured(
  catalog: CatalogApi,
  trx: Transaction,
  { asset, loc }: NamedAsset,
): Promise<ConfiguredAsset> {
  const { source, table } = await catalog.findAsset(trx, asset)
  if (table) {
    const [judged] = await judgedTables(trx).where('checks.tableId', table.id)
    if (judged) return { sourceId: source.id, name: table.qualifiedName, table: judged }
  } else if (await Schedule.query(trx).findOne('sourceId', source.id).select('id')) {
    return { sourceId: source.id, name: formatName([source.name]) }
  }
  const msg = `Freshness is not configured for ${table?.qualifiedName ?? source.name}: POST /api/v1/sdk/freshness/schedules`
  throw unprocessable([{ loc, msg, type: 'freshness.not_configured' }])
}

async function requestRefresh(
  { catalog, jobs }: Pick<FreshnessDeps, 'catalog' | 'jobs'>,
  request: AnyRequest,
  trx: Transaction,
) {
  const { companyId } = caller(request)
  const named = assetOfPath(request)
  const { sourceId, name, table } = await findConfigured(catalog, trx, named)
  const { source } = await catalog.findAsset(trx, sourceId)
  if (!source.isActive) throw catalog.sourceInactive(source)
  if (!table) await assertActive(trx, sourceId, name, named.loc)
  const run = await catalog.startRun(trx, {
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
  await jobs.send(refreshJob, data, { trx, group: companyId })
  return run
}

/** Rejects the refresh of a source whose schedules are all paused, because it would check nothing. */
async function assertActive(trx: Transaction, sourceId: string, name: string, loc: string[]): Promise<void> {
  if (await Schedule.query(trx).findOne({ sourceId, isActive: true }).select('id')) return
  const msg = `All freshness schedules of ${name} are paused: PATCH one with is_active true, or refresh a table by its own id`
  throw unprocessable([{ loc, msg, type: 'freshness.paused' }])
}
