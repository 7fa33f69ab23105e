import type { CheckDeps } from '../scans/kit.ts'
import type { KindOfCheck, ScansApi } from '../scans/api.ts'
import type { Metric } from './models.ts'

/** What metrics are made and tried with. */
export interface MetricDeps extends Pick<CheckDeps, 'db' | 'types' | 'catalog' | 'operatingSchedules'> {
  scans: ScansApi
  kind: KindOfCheck<Metric>
}
