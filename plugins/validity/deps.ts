import type { CheckDeps } from '../checks/kit.ts'
import type { CheckKind, ChecksApi } from '../checks/api.ts'
import type { ValidityRule } from './models.ts'

/** What rules are made and changed with. */
export interface ValidityDeps extends Pick<CheckDeps, 'db' | 'types' | 'catalog' | 'operatingSchedules'> {
  checks: ChecksApi
  kind: CheckKind<ValidityRule>
}
