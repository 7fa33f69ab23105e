import type { KindOfCheck, ScansApi } from '../scans/api.ts'
import type { CheckDeps } from '../scans/kit.ts'
import type { ReferentialCheck } from './models.ts'

/** What referential checks are made and tried with. */
export interface ReferentialDeps extends Pick<CheckDeps, 'db' | 'catalog' | 'operatingSchedules'> {
  scans: ScansApi
  kind: KindOfCheck<ReferentialCheck>
}
