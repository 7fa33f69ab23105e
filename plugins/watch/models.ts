import { CompanyRow } from '../../server/database/database.ts'
import type { WatchLevel } from '../recommendations/api.ts'

/** What all tables of a source are watched with, those that come later too. */
export class WatchPolicy extends CompanyRow {
  static override tableName = 'watch_policies'
  static override idColumn = 'sourceId'

  declare sourceId: string
  declare level: WatchLevel
  declare includePatterns: string[]
  declare excludePatterns: string[]
  /** The time up to which what was discovered and profiled is watched; null until it was applied. */
  declare appliedAt: Date | null
  /** When a job was sent to apply it, until one begins. */
  declare requestedAt: Date | null
  declare createdAt: Date
  declare updatedAt: Date
}
