import type { Role, Scope } from '../../server/http/access.ts'
import type { Plan } from '../../server/settings/config.ts'
import { CompanyRow } from '../../server/database/database.ts'
import { defineCap } from '../../server/database/company-caps.ts'

/** A tenant. */
export class Company extends CompanyRow {
  static override tableName = 'companies'
  static override idColumn = 'companyId'

  declare name: string
  declare plan: Plan
  declare createdAt: Date
}

export class User extends CompanyRow {
  static override tableName = 'users'

  declare id: string
  /** Lower-cased. */
  declare email: string
  /** Null for a user who signs in through a provider only. */
  declare passwordHash: string | null
  declare fullName: string | null
  declare role: Role
  declare isActive: boolean
  declare timezone: string
  declare createdAt: Date
  declare lastLoginAt: Date | null
}

/** A credential of a program; only its hash is stored. */
export class ApiKey extends CompanyRow {
  static override tableName = 'api_keys'
  static override cap = defineCap({
    name: 'api_keys',
    most: 20_000,
    what: 'API keys, with those that ended within a year',
    advice: 'use one key for longer',
  })

  declare id: string
  declare name: string
  declare scope: Scope
  declare keyHash: Buffer
  declare keyPrefix: string
  declare keySuffix: string
  declare createdAt: Date
  declare expiresAt: Date | null
  declare lastUsedAt: Date | null
  declare revokedAt: Date | null
}

/** An invitation to join a company; only the hash of its token is stored. */
export class Invitation extends CompanyRow {
  static override tableName = 'invitations'

  declare id: string
  /** Lower-cased. */
  declare email: string
  declare role: Exclude<Role, 'owner'>
  declare tokenHash: Buffer
  /** `user:<id>`. */
  declare invitedBy: string
  declare createdAt: Date
  declare expiresAt: Date
  declare acceptedAt: Date | null
  declare revokedAt: Date | null
}
