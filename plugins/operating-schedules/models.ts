import type { Schedule } from '../../checks/detector.ts'
import { CompanyRow } from '../../server/database/database.ts'
import { defineCap } from '../../server/database/company-caps.ts'

/** When tables are meant to be active: an operating schedule of a company. */
export class OperatingSchedule extends CompanyRow {
  static override tableName = 'operating_schedules'
  static override cap = defineCap({
    name: 'operating_schedules',
    most: 1_000,
    what: 'operating schedules',
    advice: 'delete one first',
  })
  static override jsonAttributes = ['rules']

  declare id: string
  declare name: string
  declare timezone: string
  declare rules: Schedule['rules']
  declare createdAt: Date
  declare updatedAt: Date
}
