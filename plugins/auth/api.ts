import type { Scope } from '../../server/http/access.ts'
import type { Transaction } from '../../server/database/database.ts'
import type { RequestOrigin } from '../../server/http/audit.ts'
import type { Plan } from '../../server/settings/config.ts'
import type { AuditVerification } from './audit-log/audit-log.ts'
import type { IdentityProvider, SignInTicket } from './prospects/identity-provider.ts'
import type { NewProspect } from './prospects/prospects.ts'

/** What the command line and other features may ask of accounts, as `server.plugins.auth`. */
export interface AuthApi {
  createCompany(input: { name: string; plan?: Plan }): Promise<{ id: string; name: string; plan: Plan }>
  setPlan(company: string, plan: Plan): Promise<{ id: string; name: string; plan: Plan }>
  /** A company by id or name; the only one when not named. Throws a sentence when it is not clear. */
  findCompany(company?: string): Promise<{ id: string; name: string; plan: Plan }>
  countCompanies(): Promise<number>
  /** The time zone of a user, by its IANA name. */
  getTimezone(trx: Transaction, userId: string): Promise<string>
  setTimezone(trx: Transaction, userId: string, timezone: string): Promise<void>
  createUser(input: {
    companyId: string
    email: string
    password: string
    fullName?: string
    role: 'viewer' | 'member' | 'admin' | 'owner'
  }): Promise<{ id: string; email: string }>
  /** `record` is the API key record of decisions section 12 (snake_case); `key` is shown once. */
  createKey(input: {
    companyId: string
    name: string
    scope: Scope
    expiresAt?: Date
  }): Promise<{ key: string; record: { id: string } }>
  listKeys(companyId: string): Promise<object[]>
  revokeKey(companyId: string, id: string): Promise<object>
  /** Whether the audit log of a company is whole. */
  verifyAudit(companyId: string): Promise<AuditVerification>
  /** What `POST /auth/tickets` exchanges for a session, once; `method` tells the audit log how the user was told. */
  issueTicket(input: { companyId: string; userId: string; method: string; seconds: number }): Promise<string>
  /**
   * Lets somebody sign in by a token of 7 days that is shown this once: as the user of their email, who is made when
   * they come. Without a company, whoever has no user yet gets one of their own.
   * @throws 400 `VALIDATION_ERROR`, 404 for the company, 409 `CONFLICT` where the email is a user of another company
   */
  createProspect(input: { email: string; company?: string }): Promise<NewProspect>
  /**
   * What a prospect's token gives: a ticket of 5 minutes for `POST /auth/tickets`.
   * @throws 401 `INVALID_TOKEN`, 403 `FORBIDDEN` for a disabled user, 409 `USER_EXISTS` where the email was taken since
   */
  admitProspect(token: string, origin: RequestOrigin): Promise<SignInTicket>
  /** Has another system say who a prospect is, in place of our own table of users; once, before the start. */
  useIdentityProvider(provider: IdentityProvider): void
  /** Names the company that `POST /demo/session` lets anybody read. */
  setDemoCompany(companyId: string): Promise<void>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    auth: AuthApi
  }
}
