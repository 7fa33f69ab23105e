import type { Plugin } from '@hapi/hapi'
import Joi from 'joi'
import { metricAnomaly } from './alert-kind.ts'
import type { MetricsApi } from './api.ts'
import { countAlerts } from './detect/count-alerts.ts'
import { createMissingMetrics } from './create.ts'
import { dryRunMetric, type MetricDryRun } from './dry-run.ts'
import { checkSpecOf, listedMetrics } from './metrics.ts'
import { Metric, type Snapshot } from './models.ts'
import { describeSnapshots } from './present.ts'
import { recordCaptures } from './record.ts'
import { metricResource } from './routes.ts'
import { dryRun } from './schemas.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Numbers taken of tables again and again, each judged against its own history. */
export const metrics: Plugin<undefined> = {
  name: 'metrics',
  dependencies: ['catalog', 'scans', 'alerts', 'operatingSchedules'],
  register(server) {
    Object.assign(server.apiParts.tags, {
      metrics: {
        title: 'Metrics',
        group: 'Monitoring',
        order: 130,
        description: 'Numbers measured over time, and their anomalies.',
        page: '/api/public/docs/metrics.md',
      },
    } satisfies Record<string, ApiTag>)
    server.typesInUse.push({
      what: 'check type',
      isLoaded: name => server.checks.has(name),
      names: 'select distinct metric_type as name from metrics',
    })
    server.partitions.add({
      name: 'metric_snapshots',
      retention: 'retentionResultsDays',
      tables: [
        { table: 'metric_snapshots', by: 'captured_at', unique: 'metric_id, group_values, scheduled_for' },
      ],
    })
    const captureNow = server.plugins.scans.contribute<Metric, Snapshot[]>({
      name: 'metrics',
      model: Metric,
      checks: metrics => metrics.map(checkSpecOf),
      record: (trx, table, taken, at) => recordCaptures(server, trx, table, taken, at),
      lastStatus: 'last_status',
      describe: describeSnapshots,
      list: listedMetrics,
    })
    server.plugins.alerts.addKind(metricAnomaly)
    server.route(server.plugins.scans.routesOf(metricResource(server, captureNow)))
    server.expose({
      createMissing: (trx, request) => createMissingMetrics(server, trx, request),
      dryRun: (companyId, body) => dryRunMetric(server, companyId, Joi.attempt(body, dryRun) as MetricDryRun),
      countAlerts: (trx, request) => countAlerts(trx, request),
    } satisfies MetricsApi)
  },
}
