import type { Scope } from '../../server/access.ts'
import type { AuditVerdict } from './audit-log.ts'
import type { Plan } from '../../server/config.ts'

/** What the command line and other features may ask of accounts, as `server.plugins.auth`. */
export interface AuthApi {
  createCompany(input: { name: string; plan?: Plan }): Promise<{ id: string; name: string; plan: Plan }>
  setPlan(company: string, plan: Plan): Promise<{ id: string; name: string; plan: Plan }>
  /** A company by id or name; the only one when not named. Throws a sentence when it is not clear. */
  findCompany(company?: string): Promise<{ id: string; name: string; plan: Plan }>
  countCompanies(): Promise<number>
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
  verifyAudit(companyId: string): Promise<AuditVerdict>
  /** What `POST /auth/tickets` exchanges for a session, once; `method` tells the audit log how the user was told. */
  makeTicket(input: { companyId: string; userId: string; method: string; seconds: number }): Promise<string>
  /** Names the company that `POST /demo/session` lets anybody read. */
  setDemoCompany(companyId: string): Promise<void>
}

declare module '@hapi/hapi' {
  interface PluginProperties {
    auth: AuthApi
  }
}
