import { defineCap } from '../../server/database/company-caps.ts'
import { modelOf } from '../../server/http/fields.ts'
import { badgeFields } from './fields.ts'

/** A public picture that shows whether the checks of an asset pass. */
export class Badge extends modelOf(badgeFields) {
  static override tableName = 'badges'
  static override cap = defineCap({
    name: 'badges',
    most: 10_000,
    what: 'badges',
    advice: 'delete one first',
  })

  /** The source, or that of the table: the badge is removed with it. */
  declare sourceId: string | null
}
