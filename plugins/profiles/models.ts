import { CompanyRow } from '../../server/database/database.ts'
import type { ColumnProfile, ProfiledWindow } from './api.ts'

/** A stored profile of a table. PostgreSQL's bigint comes as text. */
export class Profile extends CompanyRow {
  static override tableName = 'profiles'
  static override jsonAttributes = ['columns', 'profiledWindow']

  declare id: string
  declare sourceId: string
  declare tableId: string
  declare profiledAt: Date
  declare rowCount: string
  declare isRowCountExact: boolean
  declare profiledRows: string
  declare isSampled: boolean
  declare profiledWindow: ProfiledWindow | null
  declare statements: number
  declare milliseconds: number
  declare columns: ColumnProfile[]
}
