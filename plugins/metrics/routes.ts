import type { CheckResource } from '../checks/api.ts'
import { resultsOf } from '../checks/kit.ts'
import { createMetric } from './create.ts'
import { metricDeclaration } from './declaration.ts'
import { dryRunMetric, type MetricDryRun } from './dry-run.ts'
import type { MetricDeps } from './deps.ts'
import type { MetricPatch, NewMetric } from './fields.ts'
import { changeOf, presentSummary, type MetricFilter } from './metrics.ts'
import type { Metric } from './models.ts'
import { presentMetric, presentSnapshot } from './present.ts'
import { replies } from './replies.ts'
import * as schemas from './schemas.ts'

/** Metrics as the API offers them. */
export function metricResource(deps: MetricDeps): CheckResource<Metric> {
  const { kind, operatingSchedules, types } = deps
  const metricTypes = () => types.all().flatMap(check => (check.family === 'metric' ? [check.name] : []))
  return {
    kind,
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
    identify: ({ uuid, type, name }) => ({
      title: `Metric ${name ?? `m_${uuid}`}`,
      details: { metric_type: type, ...(name !== null && { name }) },
    }),
    subjectOf: ({ tableId, type, columnName: column, filter, windowSize, groupByColumns: groups }) =>
      filter !== null || windowSize !== null || groups.length > 0 ? null : { tableId, type, column },
    presentSummary,
    listFilter: query => {
      const { metric_type: type } = query as MetricFilter
      return type === undefined ? {} : { 'checks.type': type }
    },
    async create(companyId, assetId, body, audit) {
      const { metric, backfill } = await createMetric(deps, companyId, assetId, body as NewMetric, audit)
      return { ...presentMetric(metric), ...(backfill && { backfill }) }
    },
    async present(trx, metric, query) {
      const { include_snapshots: isIncluded, snapshot_limit: limit = 0 } = query as {
        include_snapshots?: boolean
        snapshot_limit?: number
      }
      if (!isIncluded) return presentMetric(metric)
      const snapshots = await resultsOf(trx, metric).limit(limit)
      return {
        ...presentMetric(metric),
        snapshots: snapshots.map(snapshot => presentSnapshot(snapshot, metric)),
      }
    },
    changeOf: (_trx, metric, patch) => changeOf(deps, metric, patch as MetricPatch),
    presentRun(metric, results) {
      const snapshots = results.map(snapshot => presentSnapshot(snapshot, metric))
      return { snapshot_count: snapshots.length, snapshots }
    },
    presentResult: presentSnapshot,
    presentChart: async (trx, { tableId, min, max }) => ({
      min,
      max,
      operating_hours: await operatingSchedules.loadHoursOfTable(trx, tableId),
    }),
    declaration: metricDeclaration(deps),
    dryRun: {
      body: schemas.dryRun,
      reply: replies.dryRun,
      measure: (companyId, body) => dryRunMetric(deps, companyId, body as MetricDryRun, { hasCost: true }),
    },
  }
}
