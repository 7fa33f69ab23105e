import type { CheckDeps } from '../checks/kit.ts'
import type { CheckKind, ChecksApi } from '../checks/api.ts'
import type { Metric } from './models.ts'

/** What metrics are made and tried with. */
export interface MetricDeps extends Pick<CheckDeps, 'db' | 'types' | 'catalog' | 'operatingSchedules'> {
  checks: ChecksApi
  kind: CheckKind<Metric>
}
