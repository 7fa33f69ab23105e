import type { CheckDeps } from '../scans/kit.ts'
import type { ScansApi } from '../scans/api.ts'

/** What metrics are made and tried with. */
export interface MetricDeps extends Pick<CheckDeps, 'db' | 'types' | 'catalog' | 'operatingSchedules'> {
  scans: ScansApi
}
