import { CompanyRow } from '../../server/database/database.ts'
import { defineCap } from '../../server/database/company-caps.ts'

/** A link that shows the chart of a check to everyone who has it. */
export class ChartLink extends CompanyRow {
  static override tableName = 'chart_links'
  static override cap = defineCap({
    name: 'chart_links',
    most: 10_000,
    what: 'links to charts',
    advice: 'revoke one first, or wait until some expire',
  })

  declare id: string
  declare sourceId: string
  declare tableId: string
  /** As the endpoints of its kind take it. */
  declare checkId: string
  /** How many days the chart goes back. */
  declare days: number
  /** SHA-256 of the token in the link. */
  declare tokenHash: Buffer
  declare createdAt: Date
  declare expiresAt: Date
}
