import type { ScheduleRule } from '../../../checks/detector.ts'
import { CompanyRow } from '../../../server/database/database.ts'
import { defineCap } from '../../../server/database/company-caps.ts'

/** When no message is sent about the alerts that it selects: once, or every week. */
export class MuteWindow extends CompanyRow {
  static override tableName = 'mute_windows'
  static override jsonAttributes = ['rules']
  static override cap = defineCap({
    name: 'mute_windows',
    most: 200,
    what: 'mute windows',
    advice: 'delete those that are over first',
  })

  declare id: string
  declare name: string
  /** Null selects all, as for the other filters. */
  declare assetIds: string[] | null
  declare schemas: string[] | null
  declare tags: string[] | null
  declare startsAt: Date | null
  declare endsAt: Date | null
  declare timezone: string | null
  /** Hours of a week, as operating schedules have them. */
  declare rules: ScheduleRule[] | null
  declare isActive: boolean
  declare createdAt: Date
  declare updatedAt: Date
}
