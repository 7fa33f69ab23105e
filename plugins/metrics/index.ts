import type { Plugin } from '@hapi/hapi'
import Joi from 'joi'
import type { MetricsApi } from './api.ts'
import { countAlerts } from './detect/count-alerts.ts'
import { dryRunMetric, type MetricDryRun } from './dry-run.ts'
import type { MetricDeps } from './deps.ts'
import { makeMetricKind } from './kind.ts'
import { metricResource } from './routes.ts'
import { dryRun } from './schemas.ts'
import type { ApiTag } from '../../server/openapi/tags.ts'

/** Numbers taken of tables again and again, each judged against its own history. */
export const metrics: Plugin<undefined> = {
  name: 'metrics',
  dependencies: ['catalog', 'checks', 'alerts', 'operatingSchedules'],
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
    const { db, checks: types } = server
    const { catalog, operatingSchedules, checks } = server.plugins
    const kind = makeMetricKind({ types })
    const deps: MetricDeps = { db, types, catalog, operatingSchedules, checks, kind }
    checks.addKind(kind)
    server.route(checks.routesOf(metricResource(deps)))
    server.expose({
      dryRun: (companyId, body) => dryRunMetric(deps, companyId, Joi.attempt(body, dryRun) as MetricDryRun),
      countAlerts,
    } satisfies MetricsApi)
  },
}
