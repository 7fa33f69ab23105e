import type { Plan } from '../../server/settings/config.ts'
import { CompanyRow } from '../../server/database/database.ts'
import { defineCap } from '../../server/database/company-caps.ts'
import { modelOf } from '../../server/http/fields.ts'
import { invitationFields, keyFields, userFields } from './fields.ts'

/** A tenant. */
export class Company extends CompanyRow {
  static override tableName = 'companies'
  static override idColumn = 'companyId'

  declare name: string
  declare plan: Plan
  declare createdAt: Date
}

export class User extends modelOf(userFields) {
  static override tableName = 'users'

  /** Null for a user who signs in through a provider only. */
  declare passwordHash: string | null
}

/** A credential of a program; only its hash is stored. */
export class ApiKey extends modelOf(keyFields) {
  static override tableName = 'api_keys'
  static override cap = defineCap({
    name: 'api_keys',
    most: 20_000,
    what: 'API keys, with those that ended within a year',
    advice: 'use one key for longer',
  })

  declare keyHash: Buffer
}

/** An invitation to join a company; only the hash of its token is stored. */
export class Invitation extends modelOf(invitationFields) {
  static override tableName = 'invitations'

  declare tokenHash: Buffer
}
