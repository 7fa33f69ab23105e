import type { StoredKind } from '../checks/kit.ts'
import { freshnessViolation } from './alert-kind.ts'
import { Schedule } from './models.ts'

/** Freshness as a kind of check. It is measured for many tables of a source at once, by `server.plugins.freshness.checkSource`. */
export const freshnessKind: StoredKind<Schedule> = {
  name: 'freshness',
  // Ids in the API are UUIDs alone.
  idPrefix: '',
  model: Schedule,
  alert: freshnessViolation,
}
