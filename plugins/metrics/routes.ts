import type { Server, ServerRoute } from '@hapi/hapi'
import { access, caller } from '../../server/http/access.ts'
import { bodyOf } from '../../server/http/input.ts'
import type { CheckNow, CheckResource } from '../scans/api.ts'
import { createMetric } from './create.ts'
import { dryRunMetric, type MetricDryRun } from './dry-run.ts'
import type { NewMetric } from './fields.ts'
import {
  findMetric,
  listMetrics,
  listSnapshots,
  patchMetric,
  removeMetric,
  summarize,
  type MetricFilter,
} from './metrics.ts'
import type { Metric, NamedMetric, Snapshot } from './models.ts'
import { presentMetric, presentSnapshot } from './present.ts'
import { replies } from './replies.ts'
import * as schemas from './schemas.ts'

/** Metrics as the API offers them. */
export function metricResource(
  server: Server,
  captureNow: CheckNow<Metric, Snapshot[]>,
): CheckResource<NamedMetric> {
  const metricTypes = () =>
    server.checks.all().flatMap(check => (check.family === 'metric' ? [check.name] : []))
  return {
    names: {
      path: 'metrics',
      one: 'metric',
      many: 'metrics',
      id: 'metric_id',
      run: 'capture',
      results: 'snapshots',
      audit: 'metric',
      notFound: 'METRIC_NOT_FOUND',
    },
    schemas: {
      id: schemas.metricId,
      list: schemas.metricList(metricTypes),
      create: schemas.newMetric,
      get: schemas.metricQuery,
      patch: schemas.metricPatch,
    },
    replies,
    identify: ({ id, metricType }) => ({
      id: `m_${id}`,
      title: `Metric m_${id}`,
      details: { metric_type: metricType },
    }),
    summarize,
    list: (companyId, assetId, query) =>
      server.db.company(companyId, async trx => {
        const asset = await server.plugins.catalog.findAsset(trx, assetId)
        const { results, total } = await listMetrics(trx, asset, query as MetricFilter)
        return { items: results.map(presentMetric), total }
      }),
    async create(companyId, assetId, body, audit) {
      const { metric, backfill } = await createMetric(server, companyId, assetId, body as NewMetric, audit)
      return { ...presentMetric(metric), ...(backfill && { backfill }) }
    },
    find: findMetric,
    async present(trx, metric, query) {
      const { include_snapshots: isIncluded, snapshot_limit: limit = 0 } = query as {
        include_snapshots?: boolean
        snapshot_limit?: number
      }
      if (!isIncluded) return presentMetric(metric)
      const { results } = await listSnapshots(trx, metric, { limit, offset: 0 })
      return { ...presentMetric(metric), snapshots: results.map(presentSnapshot) }
    },
    patch: (trx, metric, patch) => patchMetric(server, trx, metric, patch),
    remove: (trx, metric) => removeMetric(server, trx, metric),
    async run(metric) {
      const captured = await captureNow(metric)
      if (!captured) return undefined
      const snapshots = captured.result.map(presentSnapshot)
      return { snapshot_count: snapshots.length, snapshots }
    },
    async listResults(trx, metric, page) {
      const { results, total } = await listSnapshots(trx, metric, page)
      return { items: results.map(presentSnapshot), total }
    },
  }
}

/** Measures a metric that is not stored. */
export function dryRunRoute(server: Server): ServerRoute {
  return {
    method: 'POST',
    path: '/api/v1/sdk/metrics/dry-run',
    options: {
      ...access.read,
      description: 'Measure what a new metric would, and judge its past; nothing is stored',
      tags: ['api', 'metrics'],
      validate: { payload: schemas.dryRun },
      response: replies.dryRun,
    },
    handler: async request => ({
      data: await dryRunMetric(server, caller(request).companyId, bodyOf<MetricDryRun>(request)),
    }),
  }
}
