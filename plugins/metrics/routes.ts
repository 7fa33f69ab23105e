import type { Server } from '@hapi/hapi'
import type { Transaction } from '../../server/database/database.ts'
import { inCompany } from '../../server/http/access.ts'
import { newestFirst } from '../../server/http/page.ts'
import type { CheckNow, CheckResource } from '../scans/api.ts'
import { createMetric } from './create.ts'
import { metricDeclaration } from './declaration.ts'
import { dryRunMetric, type MetricDryRun } from './dry-run.ts'
import type { NewMetric } from './fields.ts'
import {
  findMetric,
  listMetrics,
  patchMetric,
  removeMetric,
  summarize,
  type MetricFilter,
} from './metrics.ts'
import { type Metric, type NamedMetric, Snapshot } from './models.ts'
import { presentMetric, presentSnapshot } from './present.ts'
import { replies } from './replies.ts'
import * as schemas from './schemas.ts'

/** Metrics as the API offers them. */
export function metricResource(
  server: Server,
  captureNow: CheckNow<Metric, Snapshot[]>,
): CheckResource<NamedMetric, Snapshot> {
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
    bulk: { body: schemas.newMetrics, reply: replies.createdMany },
    replies,
    identify: ({ id, metricType }) => ({
      id: `m_${id}`,
      title: `Metric m_${id}`,
      details: { metric_type: metricType },
    }),
    subjectOf: ({ tableId, metricType: type, columnName: column, groupByColumns: groups }) =>
      groups.length > 0 ? null : { tableId, type, column },
    summarize,
    list: (request, assetId, query) =>
      inCompany(request, async trx => {
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
      const snapshots = await snapshotsOf(trx, metric).limit(limit)
      return {
        ...presentMetric(metric),
        snapshots: snapshots.map(snapshot => presentSnapshot(snapshot, metric)),
      }
    },
    patch: (trx, metric, patch) => patchMetric(server, trx, metric, patch),
    remove: (trx, metric) => removeMetric(server, trx, metric),
    async run(metric) {
      const captured = await captureNow(metric)
      if (!captured) return undefined
      const snapshots = captured.result.map(snapshot => presentSnapshot(snapshot, metric))
      return { snapshot_count: snapshots.length, snapshots }
    },
    results: snapshotsOf,
    presentResult: presentSnapshot,
    presentChart: async (trx, { tableId }) => ({
      operating_hours: await server.plugins.operatingSchedules.loadHoursOfTable(trx, tableId),
    }),
    declaration: metricDeclaration(server),
    dryRun: {
      body: schemas.dryRun,
      reply: replies.dryRun,
      measure: (companyId, body) => dryRunMetric(server, companyId, body as MetricDryRun),
    },
  }
}

function snapshotsOf(trx: Transaction, { internalId }: Metric) {
  return Snapshot.query(trx).where('metricId', internalId).orderBy(newestFirst('capturedAt', 'id'))
}
