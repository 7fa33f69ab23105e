import { defineCap } from '../../server/database/company-caps.ts'
import { modelOf } from '../../server/http/fields.ts'
import { scheduleFields } from './fields.ts'

/** When tables are meant to be active: an operating schedule of a company. */
export class OperatingSchedule extends modelOf(scheduleFields) {
  static override tableName = 'operating_schedules'
  static override cap = defineCap({
    name: 'operating_schedules',
    most: 1_000,
    what: 'operating schedules',
    advice: 'delete one first',
  })
  static override jsonAttributes = ['rules']
}
