import { defineCap } from '../../server/database/company-caps.ts'
import { modelOf } from '../../server/http/fields.ts'
import { linkFields } from './fields.ts'

/** A link that shows the chart of a check to everyone who has it. */
export class ChartLink extends modelOf(linkFields) {
  static override tableName = 'chart_links'
  static override cap = defineCap({
    name: 'chart_links',
    most: 10_000,
    what: 'links to charts',
    advice: 'revoke one first, or wait until some expire',
  })

  declare sourceId: string
  /** SHA-256 of the token in the link. */
  declare tokenHash: Buffer
}
