import Joi from 'joi'
import { feature } from '../../server/feature.ts'
import type { MetricsApi } from './api.ts'
import { configureOnce } from './create.ts'
import { countAlerts } from './detect/count-alerts.ts'
import { dryRunMetric, type MetricDryRun } from './dry-run.ts'
import type { MetricDeps } from './deps.ts'
import { makeMetricKind } from './kind.ts'
import { metricResource } from './routes.ts'
import { dryRun } from './schemas.ts'

/** Numbers taken of tables again and again, each judged against its own history. */
export const metrics = feature<MetricsApi>({
  name: 'metrics',
  needs: ['catalog', 'checks', 'alerts', 'operatingSchedules'],
  tags: {
    metrics: {
      title: 'Metrics',
      group: 'Monitoring',
      order: 130,
      description: 'Numbers measured over time, and their anomalies.',
      page: '/guide/metrics',
    },
  },
  make({ db, checks: types, plugins: { catalog, operatingSchedules, checks } }) {
    const kind = makeMetricKind({ types })
    const deps: MetricDeps = { db, types, catalog, operatingSchedules, checks, kind }
    checks.addKind(kind)
    return {
      api: {
        dryRun: (companyId, body) => dryRunMetric(deps, companyId, Joi.attempt(body, dryRun) as MetricDryRun),
        configureOnce: (table, body) => configureOnce(deps, table, body),
        countAlerts,
      },
      routes: checks.routesOf(metricResource(deps)),
    }
  },
})
