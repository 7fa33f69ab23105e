import { CompanyRow } from '../../server/database/database.ts'
import type { AppliedRecommendations, WatchLevel } from '../recommendations/api.ts'

/** What all tables of a source are watched with, those that come later too. */
export class WatchPolicy extends CompanyRow {
  static override tableName = 'watch_policies'
  static override idColumn = 'sourceId'
  static override jsonAttributes = ['outcome']

  declare sourceId: string
  declare level: WatchLevel
  declare includePatterns: string[]
  declare excludePatterns: string[]
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
