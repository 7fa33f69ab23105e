import type { ServerRoute } from '@hapi/hapi'
import {
  access,
  actorOf,
  caller,
  inCompany,
  routesOf,
  type AnyRequest,
  type ValidRequest,
} from '../../../server/http/access.ts'
import { auditRequest } from '../../../server/http/audit.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { apiError, invalidField } from '../../../server/http/errors.ts'
import { param } from '../../../server/http/input.ts'
import { newestFirst, pageOf, pagination } from '../../../server/http/page.ts'
import type { CatalogDeps } from '../deps.ts'
import { findAsset, UUID, type Asset } from '../assets/assets.ts'
import { acceptBaseline, acceptOnce, acknowledgeChanges } from './baseline.ts'
import { SEVERITY } from './changes.ts'
import { SchemaChange, Source } from '../models.ts'
import { qualifiedName } from '../assets/present.ts'
import { dryRun } from './dry-run.ts'
import { summarizeChanges } from './health.ts'
import { replies } from './replies.ts'
import * as schemas from './schemas.ts'
import {
  baselineOf,
  countChanges,
  differencesOf,
  monitoringOf,
  presentBaseline,
  presentChanges,
  worstOf,
} from './status.ts'
import { patchSource } from '../sources/sources.ts'

const route = routesOf('schema')

/** Changes that an asset's status shows. */
const MAX_RECENT_CHANGES = 20
/** Days that they, and counts without a range, reach back: as long as changes are kept. */
const ALL_DAYS = 400

const BASE = '/api/v1/sdk/schema'
/** The routes of drift: what changed, who looked at it, what is accepted, and when it is looked for. */
export const schemaRoutes = (deps: CatalogDeps): ServerRoute[] => [
  route('GET', `${BASE}/summary`, access.read, {
    id: 'getSchemaChangeSummary',
    description: 'Count schema changes',
    notes:
      'Use it for an overview; `GET /api/v1/sdk/schema/changes` lists them. Without `asset_id` it counts the whole company.',
    validate: { query: schemas.summaryQuery },
    response: replies.summary,
    handler: request => inCompany(request, trx => summary(trx, request)),
  }),
  route('GET', `${BASE}/changes`, access.read, {
    description: 'List schema changes, newest first',
    notes: 'Changes of all sources, or of the asset in `asset_id`. Changes are kept for 400 days.',
    validate: { query: schemas.changesQuery },
    response: replies.changes,
    handler: request => inCompany(request, trx => list(trx, request)),
  }),
  route('POST', `${BASE}/changes/{change_id}/acknowledge`, access.write, {
    description: 'Acknowledge a schema change; with its last open one a table is accepted as it is',
    notes:
      'Use it when a change was intended. An open alert about the table is resolved with its last open change.',
    validate: { params: schemas.changeParams, payload: schemas.none.allow(null).example({}) },
    response: replies.change,
    handler: request => inCompany(request, trx => acknowledgeOne(deps, trx, request)),
  }),
  route('POST', `${BASE}/dry-run`, access.read, {
    id: 'dryRunDiscovery',
    description: 'Preview a discovery; stores nothing',
    notes:
      'Reads the catalog of the source now and returns what a discovery would record. Use it before switching on monitoring.',
    validate: { payload: schemas.dryRun },
    response: replies.dryRun,
    handler: async request => ({
      data: await dryRun(deps, request, caller(request).companyId, request.payload),
    }),
  }),
  route('GET', `${BASE}/{asset_id}`, access.read, {
    id: 'getSchemaStatus',
    description: 'Get the open changes of an asset and its difference from the baseline',
    notes: 'From stored discoveries: the source is not queried.',
    validate: { params: schemas.assetParams, query: schemas.none },
    response: replies.status,
    handler: request => inCompany(request, trx => status(trx, request)),
  }),
  route('POST', `${BASE}/{asset_id}/acknowledge`, access.write, {
    id: 'acknowledgeSchemaChanges',
    description: 'Acknowledge the open schema changes of a source or table, or some of them',
    notes: 'All open changes of the asset, or those in `change_ids`.',
    validate: { params: schemas.assetParams, payload: schemas.acknowledgement },
    response: replies.acknowledged,
    handler: request => inCompany(request, trx => acknowledgeMany(deps, trx, request)),
  }),
  route('POST', `${BASE}/{asset_id}/baseline`, access.write, {
    description: 'Accept an asset as it is now',
    notes:
      'Stores the tables as the new baseline, with which later discoveries are compared, and acknowledges open changes.',
    validate: { params: schemas.assetParams, payload: schemas.baseline },
    response: replies.baseline,
    handler: async (request, h) => {
      const { description = null } = request.payload ?? {}
      const data = await inCompany(request, async trx => {
        const asset = await findAsset(trx, param(request, 'asset_id'))
        const by = actorOf(caller(request))
        const baseline = presentBaseline(await acceptBaseline(deps.alerts, trx, asset, { by, description }))
        await auditRequest(request, trx, { action: 'baseline.accepted', target: targetOf(asset) })
        return baseline
      })
      return h.response({ data }).code(201)
    },
  }),
  route('POST', `${BASE}/{asset_id}/monitoring`, access.write, {
    id: 'startSchemaMonitoring',
    description: 'Start the scheduled discovery of a source',
    notes: 'Discovers the source at once and then by its schedule, and stores a baseline if there is none.',
    validate: { params: schemas.assetParams, payload: schemas.monitoring },
    response: replies.monitoring,
    handler: request => inCompany(request, trx => startMonitoring(deps, trx, request)),
  }),
  route('DELETE', `${BASE}/{asset_id}/monitoring`, access.write, {
    id: 'stopSchemaMonitoring',
    description: 'Stop the scheduled discovery of a source',
    notes: 'Discoveries on request stay possible; recorded changes and the baseline are kept.',
    validate: { params: schemas.assetParams },
    response: replies.unmonitored,
    handler: request =>
      inCompany(request, async trx => {
        const source = await findSource(trx, request)
        await patchSource(deps, trx, source.id, { discovery_interval: 'off' })
        await auditMonitoring(request, trx, source, 'off')
        const message = `${source.name} is discovered only when asked: POST /api/v1/sdk/assets/${source.id}/discover`
        return { data: { success: true, message, asset_id: source.id, monitoring_enabled: false } }
      }),
  }),
]

async function summary(trx: Transaction, request: ValidRequest<unknown, schemas.SummaryQuery>) {
  const { asset_id: assetId, days_back: days } = request.query
  const { companyId } = caller(request)
  const asset = assetId === undefined ? undefined : await findAsset(trx, assetId)
  return { data: await summarizeChanges(trx, companyId, asset, days) }
}

async function list(trx: Transaction, request: ValidRequest<unknown, schemas.ChangesQuery>) {
  const { query } = request
  const asset = query.asset_id === undefined ? undefined : await findAsset(trx, query.asset_id)
  const changes = changesOf(trx, asset, query.sort).whereRaw(
    'detected_at >= now() - make_interval(days => ?)',
    [query.days_back],
  )
  const { severity } = query
  if (severity) {
    void changes.whereIn(
      'impact',
      Object.entries(SEVERITY).flatMap(([impact, word]) => (word === severity ? [impact] : [])),
    )
  }
  if (query.impact) void changes.where('impact', query.impact)
  if (query.change_type) void changes.where('changeType', query.change_type)
  if (query.unacknowledged_only) void changes.where('isAcknowledged', false)
  const { results, total } = await pageOf(changes, query)
  return { data: { data: await presentChanges(trx, results), pagination: pagination(total, query) } }
}

/** The changes of an asset, or of all; where they are equal in what they are sorted by, the newest come first. */
function changesOf(
  trx: Transaction,
  asset: Asset | undefined,
  sort: schemas.ChangesQuery['sort'] = 'detected_at',
) {
  const changes = SchemaChange.query(trx)
  if (sort === 'impact')
    void changes.orderByRaw(`is_acknowledged, array_position('{high,medium,low}', impact)`)
  void changes.orderBy(newestFirst('detectedAt', 'id'))
  if (!asset) return changes
  const { source, table } = asset
  return changes.where(table ? { tableId: table.id } : { sourceId: source.id })
}

async function status(trx: Transaction, request: AnyRequest) {
  const asset = await findAsset(trx, param(request, 'asset_id'))
  const { source, table } = asset
  const counts = await countChanges(trx, source.companyId, asset, ALL_DAYS)
  const recent = await changesOf(trx, asset).limit(MAX_RECENT_CHANGES)
  const drift = await differencesOf(trx, asset)
  return {
    data: {
      asset_id: table?.id ?? source.id,
      qualified_name: qualifiedName(asset),
      schema_change_status: worstOf(counts),
      total_unacknowledged: counts.open,
      recent_changes: await presentChanges(trx, recent),
      baseline: await baselineOf(trx, asset),
      monitoring: await monitoring(trx, source),
      drifted_tables: drift.tables,
      drift: drift.changes,
    },
  }
}

async function monitoring(trx: Transaction, source: Source) {
  const baseline = await baselineOf(trx, { source })
  return {
    ...monitoringOf(source),
    baseline_id: baseline?.id ?? null,
    baseline_captured_at: baseline?.captured_at ?? null,
  }
}

async function acknowledgeOne({ alerts }: CatalogDeps, trx: Transaction, request: AnyRequest) {
  const id = param(request, 'change_id')
  const change = UUID.test(id) ? await SchemaChange.query(trx).findById(id) : undefined
  if (!change) throw changeNotFound(id)
  const source = await Source.query(trx).findById(change.sourceId).throwIfNotFound()
  const by = actorOf(caller(request))
  await acknowledgeChanges(alerts, trx, { source, changeIds: [change.id] }, by)
  const [data] = await presentChanges(trx, await SchemaChange.query(trx).where('id', change.id))
  await auditRequest(request, trx, {
    action: 'schema_change.acknowledged',
    target: { type: 'source', id: source.id },
    details: { change_id: change.id },
  })
  return { data }
}

async function acknowledgeMany(
  { alerts }: CatalogDeps,
  trx: Transaction,
  request: ValidRequest<schemas.Acknowledgement, unknown>,
) {
  const { change_ids: changeIds } = request.payload ?? {}
  const asset = await findAsset(trx, param(request, 'asset_id'))
  if (changeIds) await assertKnown(trx, asset, changeIds)
  const by = actorOf(caller(request))
  const acknowledged = await acknowledgeChanges(alerts, trx, { ...asset, changeIds }, by)
  const { open: remaining } = await countChanges(trx, asset.source.companyId, asset, ALL_DAYS)
  await auditRequest(request, trx, {
    action: 'schema_change.acknowledged',
    target: targetOf(asset),
    details: { count: acknowledged },
  })
  return { data: { acknowledged, remaining } }
}

async function assertKnown(trx: Transaction, asset: Asset, ids: readonly string[]): Promise<void> {
  const valid = ids.filter(id => UUID.test(id))
  const existing = await changesOf(trx, asset).whereIn('id', valid).select('id')
  const existingIds = new Set(existing.map(({ id }) => id))
  const unknown = ids.find(id => !existingIds.has(id.toLowerCase()))
  if (unknown !== undefined) throw changeNotFound(unknown)
}

/** A change of the company. @throws 404 `CHANGE_NOT_FOUND` */
export async function findChange(trx: Transaction, id: string): Promise<SchemaChange> {
  const change = UUID.test(id) ? await SchemaChange.query(trx).findById(id) : undefined
  if (!change) throw changeNotFound(id)
  return change
}

function changeNotFound(id: string) {
  return apiError('CHANGE_NOT_FOUND', `There is no such schema change here: GET ${BASE}/changes lists them`, {
    change_id: id,
  })
}

async function startMonitoring(
  deps: CatalogDeps,
  trx: Transaction,
  request: ValidRequest<schemas.MonitoringRequest, unknown>,
) {
  const body = request.payload
  const source = await findSource(trx, request)
  if (!source.isActive) {
    throw apiError('CONFLICT', `${source.name} is paused: set its is_active to true first`, {
      asset_id: source.id,
      suggestion: `PATCH /api/v1/sdk/assets/${source.id}`,
    })
  }
  if (body.auto_create_baseline) {
    const by = actorOf(caller(request))
    await acceptOnce(deps.alerts, trx, source, { by, description: 'Captured when monitoring was started' })
  }
  const watched = await patchSource(deps, trx, source.id, {
    discovery_interval: body.schedule_type,
  })
  const data = await monitoring(trx, watched)
  await auditMonitoring(request, trx, source, body.schedule_type)
  return { data }
}

function auditMonitoring(request: AnyRequest, trx: Transaction, source: Source, interval: string) {
  const details = { fields: ['discovery_interval'], discovery_interval: interval }
  return auditRequest(request, trx, { action: 'source.updated', target: targetOf({ source }), details })
}

/** What the audit log calls an asset. */
function targetOf({ source, table }: Asset): { type: string; id: string } {
  return table ? { type: 'table', id: table.id } : { type: 'source', id: source.id }
}

/** The source of the path. @throws 400 for a table, naming its source */
async function findSource(trx: Transaction, request: AnyRequest): Promise<Source> {
  const { source, table } = await findAsset(trx, param(request, 'asset_id'))
  if (!table) return source
  throw invalidField('asset_id', `is a table: discovery is scheduled for its source, ${source.id}`, {
    asset_id: source.id,
  })
}
