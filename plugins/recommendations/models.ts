import { CompanyRow } from '../../server/database/database.ts'
import type { AppliedRecommendations, WatchLevel } from './applied.ts'
import type { ComputedPast } from './past.ts'

/** What was decided on a recommended check, and what is known of its past. */
export class StoredRecommendation extends CompanyRow {
  static override tableName = 'recommendations'
  static override jsonAttributes = ['past']

  declare id: string
  declare sourceId: string
  declare tableId: string
  declare type: string
  declare columnName: string | null
  /** Null until it is decided. */
  declare decision: 'applied' | 'dismissed' | null
  /** Why it was dismissed. */
  declare reason: string | null
  /** `user:<id>`, `key:<id>` or `policy`. */
  declare decidedBy: string | null
  declare decidedAt: Date | null
  declare past: ComputedPast | null
  declare pastAt: Date | null
}

/** What all tables of a source are watched with, those that come later too. */
export class WatchPolicy extends CompanyRow {
  static override tableName = 'watch_policies'
  static override idColumn = 'sourceId'
  static override jsonAttributes = ['outcome']

  declare sourceId: string
  declare level: WatchLevel
  declare includePatterns: string[]
  declare excludePatterns: string[]
  /** Whether checks that it makes learn the past of their tables at once. */
  declare backfill: boolean
  /** The time up to which what was discovered and profiled is watched; null until it was applied. */
  declare appliedAt: Date | null
  /** When a job was sent to apply it, until one begins. */
  declare requestedAt: Date | null
  /** The run that a client follows while it is applied for the first time; null after it. */
  declare runId: string | null
  /** What that run created up to now. */
  declare outcome: AppliedRecommendations | null
  declare createdAt: Date
  declare updatedAt: Date
}
