import type { Request, Server, ServerRoute } from '@hapi/hapi'
import { access, caller, inCompany } from '../../server/http/access.ts'
import { auditorOf, fieldsOf } from '../../server/http/audit.ts'
import type { Transaction } from '../../server/database/database.ts'
import { bodyOf, param, queryOf } from '../../server/http/input.ts'
import { pagination, type Page } from '../../server/http/page.ts'
import { createMetric } from './create.ts'
import { dryRun, type DryRun } from './dry-run.ts'
import type { MetricPatch, NewMetric } from './fields.ts'
import {
  findMetric,
  listMetrics,
  listSnapshots,
  noMetric,
  patchMetric,
  removeMetric,
  summarize,
} from './metrics.ts'
import type { Metric, Snapshot } from './models.ts'
import { presentMetric, presentSnapshot } from './present.ts'
import { replies } from './replies.ts'
import * as schemas from './schemas.ts'

/** Captures a metric now, one snapshot a group; undefined when it is gone. */
type CaptureNow = (metric: Metric) => Promise<{ result: Snapshot[] } | undefined>

/** The routes of metrics, their captures and snapshots. */
export function routes(server: Server, captureNow: CaptureNow): ServerRoute[] {
  const { catalog } = server.plugins
  const assetOf = (trx: Transaction, request: Request) => catalog.findAsset(trx, param(request, 'asset_id'))
  const metricOf = async (trx: Transaction, request: Request) =>
    findMetric(trx, await assetOf(trx, request), param(request, 'metric_id'))
  const metricTypes = () =>
    server.checks.all().flatMap(check => (check.family === 'metric' ? [check.name] : []))

  const base = '/api/v1/sdk/metrics/{asset_id}'
  const tags = ['api', 'metrics']
  const { assetParams, metricParams } = schemas
  return [
    {
      method: 'GET',
      path: `${base}/summary`,
      options: {
        ...access.read,
        description: 'How the metrics of an asset do',
        tags,
        validate: { params: assetParams },
        response: replies.summary,
      },
      handler: request =>
        inCompany(request, async trx => ({
          data: await summarize(trx, caller(request).companyId, await assetOf(trx, request)),
        })),
    },
    {
      method: 'GET',
      path: base,
      options: {
        ...access.read,
        description: 'List the metrics of an asset',
        tags,
        validate: { params: assetParams, query: schemas.metricList(metricTypes) },
        response: replies.metrics,
      },
      handler: request =>
        inCompany(request, async trx => {
          const query = queryOf<Page & { metric_type?: string; is_active?: boolean }>(request)
          const { results, total } = await listMetrics(trx, await assetOf(trx, request), query)
          return { data: { items: results.map(presentMetric) }, pagination: pagination(total, query) }
        }),
    },
    {
      method: 'POST',
      path: base,
      options: {
        ...access.write,
        description: 'Make a metric',
        tags,
        validate: { params: assetParams, payload: schemas.newMetric },
        response: replies.made,
      },
      handler: async (request, h) => {
        const { companyId } = caller(request)
        const { metric, backfill } = await createMetric(
          server,
          companyId,
          param(request, 'asset_id'),
          bodyOf<NewMetric>(request),
          (trx, metric) => tell(request, trx, 'created', metric, { metric_type: metric.metricType }),
        )
        return h.response({ data: { ...presentMetric(metric), ...(backfill && { backfill }) } }).code(201)
      },
    },
    {
      method: 'POST',
      path: '/api/v1/sdk/metrics/dry-run',
      options: {
        ...access.read,
        description: 'Take the value that a new metric would, and what its past says; nothing is stored',
        tags,
        validate: { payload: schemas.dryRun },
        response: replies.dryRun,
      },
      handler: async request => ({
        data: await dryRun(server, caller(request).companyId, bodyOf<DryRun>(request)),
      }),
    },
    {
      method: 'GET',
      path: `${base}/{metric_id}`,
      options: {
        ...access.read,
        description: 'A metric with its last snapshots',
        tags,
        validate: { params: metricParams, query: schemas.metricQuery },
        response: replies.withSnapshots,
      },
      handler: request =>
        inCompany(request, async trx => {
          const { include_snapshots: included, snapshot_limit: limit } = queryOf<{
            include_snapshots: boolean
            snapshot_limit: number
          }>(request)
          const metric = await metricOf(trx, request)
          const snapshots = included ? (await listSnapshots(trx, metric, { limit, offset: 0 })).results : []
          return {
            data: {
              ...presentMetric(metric),
              ...(included && { snapshots: snapshots.map(presentSnapshot) }),
            },
          }
        }),
    },
    {
      method: 'PATCH',
      path: `${base}/{metric_id}`,
      options: {
        ...access.write,
        description: 'Change a metric',
        tags,
        validate: { params: metricParams, payload: schemas.metricPatch },
        response: replies.metric,
      },
      handler: request =>
        inCompany(request, async trx => {
          const patch = bodyOf<MetricPatch>(request)
          const metric = await patchMetric(server, trx, await metricOf(trx, request), patch)
          await tell(request, trx, 'updated', metric, { fields: fieldsOf(patch) })
          return { data: presentMetric(metric) }
        }),
    },
    {
      method: 'DELETE',
      path: `${base}/{metric_id}`,
      options: {
        ...access.write,
        description: 'Remove a metric and its snapshots',
        tags,
        validate: { params: metricParams },
        response: replies.removed,
      },
      handler: request =>
        inCompany(request, async trx => {
          const metric = await metricOf(trx, request)
          await removeMetric(server, trx, metric)
          await tell(request, trx, 'removed', metric, { metric_type: metric.metricType })
          return { data: { success: true, message: `Metric m_${metric.id} was removed` } }
        }),
    },
    {
      method: 'POST',
      path: `${base}/{metric_id}/capture`,
      options: {
        ...access.write,
        description: 'Capture a metric now',
        tags,
        validate: { params: metricParams },
        response: replies.captured,
      },
      handler: async request => {
        const metric = await inCompany(request, trx => metricOf(trx, request))
        const captured = await captureNow(metric)
        if (!captured) throw noMetric(param(request, 'metric_id'))
        const snapshots = captured.result
        return { data: { snapshot_count: snapshots.length, snapshots: snapshots.map(presentSnapshot) } }
      },
    },
    {
      method: 'GET',
      path: `${base}/{metric_id}/snapshots`,
      options: {
        ...access.read,
        description: 'The snapshots of a metric, newest first',
        tags,
        validate: { params: metricParams, query: schemas.snapshotList },
        response: replies.snapshots,
      },
      handler: request =>
        inCompany(request, async trx => {
          const page = queryOf<Page>(request)
          const { results, total } = await listSnapshots(trx, await metricOf(trx, request), page)
          return { data: { items: results.map(presentSnapshot) }, pagination: pagination(total, page) }
        }),
    },
  ]
}

const tell = auditorOf('metric', ({ id }: Metric) => `m_${id}`)
