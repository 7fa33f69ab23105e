import type { CheckKindName } from '../checks/api.ts'

/** The kinds of checks that clauses can have. */
export const CHECK_KINDS = [
  'validity',
  'metric',
  'freshness',
  'referential',
] as const satisfies readonly CheckKindName[]
