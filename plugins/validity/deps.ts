import type { CheckDeps } from '../scans/kit.ts'
import type { KindOfCheck, ScansApi } from '../scans/api.ts'
import type { ValidityRule } from './models.ts'

/** What rules are made and changed with. */
export interface ValidityDeps extends Pick<CheckDeps, 'db' | 'types' | 'catalog' | 'operatingSchedules'> {
  scans: ScansApi
  kind: KindOfCheck<ValidityRule>
}
