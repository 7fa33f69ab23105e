import { CompanyRow } from '../../../server/database/database.ts'
import { defineCap } from '../../../server/database/company-caps.ts'

export const DIGEST_FREQUENCIES = ['daily', 'weekly'] as const
export type DigestFrequency = (typeof DIGEST_FREQUENCIES)[number]

/** A summary of what happened, which a destination gets every day or week. */
export class Digest extends CompanyRow {
  static override tableName = 'digests'
  static override cap = defineCap({
    name: 'digests',
    most: 50,
    what: 'digests',
    advice: 'delete one first',
  })

  declare id: string
  declare name: string
  declare destinationId: string
  /** The id of a user or team, or an address: only what it owns. Null for all. */
  declare owner: string | null
  declare frequency: DigestFrequency
  /** 1 = Monday .. 7 = Sunday, of a weekly one. */
  declare weekday: number
  /** `HH:MM`, by the wall clock of the time zone. */
  declare sendAt: string
  declare timezone: string
  declare isActive: boolean
  declare nextRunAt: Date
  /** The end of the last period that was sent; null before the first. */
  declare coveredUntil: Date | null
  declare createdAt: Date
  declare updatedAt: Date
}
