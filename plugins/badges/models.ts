import { CompanyRow } from '../../server/database/database.ts'
import { defineCap } from '../../server/database/company-caps.ts'

/** A public picture that shows whether the checks of an asset pass. */
export class Badge extends CompanyRow {
  static override tableName = 'badges'
  static override cap = defineCap({
    name: 'badges',
    most: 10_000,
    what: 'badges',
    advice: 'delete one first',
  })

  declare id: string
  /** Part of the picture's URL: a random UUID, or 128 random bits in base64url if a former version created the badge. */
  declare publicId: string
  /** A source or a table. */
  declare assetId: string
  /** The source, or that of the table: the badge is removed with it. Null if a former version wrote the row. */
  declare sourceId: string | null
  /** The text on the left; null means `DEFAULT_LABEL`. */
  declare label: string | null
  /** Only tables with one of these tags count; empty means all. */
  declare tagFilters: string[]
  declare schemaDriftEnabled: boolean
  declare freshnessEnabled: boolean
  /** Whether the tables that its table is made from, over any number of steps, count too. */
  declare includeUpstream: boolean
  /** An inactive badge has no picture. */
  declare isActive: boolean
  declare createdAt: Date
  declare updatedAt: Date
}
