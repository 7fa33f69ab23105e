import type { CheckKind, ChecksApi } from '../checks/api.ts'
import type { CheckDeps } from '../checks/kit.ts'
import type { Comparison } from './models.ts'

/** What comparisons are measured with. */
export type MeasureDeps = Pick<CheckDeps, 'db' | 'catalog' | 'timezone'>

/** What comparisons are made and tried with. */
export interface ComparisonDeps extends MeasureDeps, Pick<CheckDeps, 'operatingSchedules'> {
  checks: ChecksApi
  kind: CheckKind<Comparison>
}
