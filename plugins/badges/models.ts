import { CompanyRow } from '../../server/database/database.ts'

/** A picture that tells anybody who knows its address how the checks of an asset do. */
export class Badge extends CompanyRow {
  static override tableName = 'badges'

  declare id: string
  /** In the address of the picture: a random UUID; 128 random bits in base64url on badges of former versions. */
  declare publicId: string
  /** A source or a table. */
  declare assetId: string
  /** The source, or the one of the table: the badge is removed with it. Null: written by a former version. */
  declare sourceId: string | null
  /** What stands on the left; null for the words that all badges have. */
  declare label: string | null
  /** Only tables that carry one of these count; empty means all. */
  declare tagFilters: string[]
  declare schemaDriftEnabled: boolean
  declare freshnessEnabled: boolean
  declare createdAt: Date
  declare updatedAt: Date
}
