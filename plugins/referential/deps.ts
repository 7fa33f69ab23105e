import type { CheckKind, ChecksApi } from '../checks/api.ts'
import type { CheckDeps } from '../checks/kit.ts'
import type { ReferentialCheck } from './models.ts'

/** What referential checks are made and tried with. */
export interface ReferentialDeps extends Pick<CheckDeps, 'db' | 'catalog' | 'operatingSchedules'> {
  checks: ChecksApi
  kind: CheckKind<ReferentialCheck>
}
