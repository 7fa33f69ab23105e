import { CompanyRow } from '../../server/database/database.ts'
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
