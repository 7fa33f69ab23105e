import type { Request } from '@hapi/hapi'
import type { Role, Scope } from '../../server/http/access.ts'
import type { Transaction } from '../../server/database/database.ts'
import { audit, type AuditOrigin, type RequestOrigin } from '../../server/http/audit.ts'
import type { Plan } from '../../server/settings/config.ts'
import { createCompany, createUser, findCompany, parseEmail } from './accounts.ts'
import { createKey, keyAuditEvent, listKeys, revokeKey } from './api-keys/api-keys.ts'
import { verifyAudit } from './audit-log/audit-log.ts'
import type { AuthDeps } from './deps.ts'
import { lockCompany } from './locks.ts'
import { Company, User } from './models.ts'
import { presentCompany, presentKey } from './present.ts'
import { createIdentityProviderSlot, type IdentityProvider } from './prospects/identity-provider.ts'
import { admitProspect, createProspect } from './prospects/prospects.ts'
import { DEMO_KEY_PREFIX, getDemoSecondsLeft, setDemoCompany } from './sign-in/demo-sessions.ts'
import { findTicketHolder, issueTicket } from './sign-in/one-time-tokens.ts'
import { findSessionUser, resumeSession } from './sign-in/sessions.ts'
import { isRegistrationOpen } from './registration.ts'
import type { UserRemovalListener } from './users/users.ts'
import { hashPassword, withHashingSlot, assertStrongPassword } from './sign-in/passwords.ts'

declare module '@hapi/hapi' {
  interface PluginProperties {
    auth: AuthApi
  }
}

/** What other features may read in SQL: the names of those who do something, and the companies to sweep. */
export const READABLE_TABLES = ['companies', 'users', 'api_keys'] as const

/** Accounts for the command line and other features, as `server.plugins.auth`. */
export type AuthApi = ReturnType<typeof makeAuth>

/** The operator has no user in the companies they administer. */
const byOperator = (companyId: string): AuditOrigin => ({ companyId, actor: 'cli' })

/** What auth exposes. Changes are audited with the actor `cli`. */
export function makeAuth(deps: AuthDeps) {
  const { db, config } = deps
  const removalListeners: UserRemovalListener[] = []
  const identityProvider = createIdentityProviderSlot(deps)
  return {
    createCompany: ({ name, plan = config.defaultPlan }: { name: string; plan?: Plan }) =>
      db.system(async trx => {
        const company = await createCompany(trx, name, plan)
        const { companyId } = company
        const target = { type: 'company', id: companyId }
        await audit(trx, byOperator(companyId), { action: 'company.created', target, details: { name } })
        return presentCompany(company)
      }),
    async setPlan(company: string, plan: Plan) {
      const { companyId } = await findCompany(deps, company)
      return db.company(companyId, async trx => {
        const { plan: former } = await lockCompany(trx)
        await Company.query(trx).patch({ plan })
        await audit(trx, byOperator(companyId), {
          action: 'company.plan_changed',
          target: { type: 'company', id: companyId },
          details: { from: former, to: plan },
        })
        return presentCompany(await Company.query(trx).first().throwIfNotFound())
      })
    },
    /** By id or name; the only company without either. @throws 404 or 400 with a message for the command line */
    findCompany: async (company?: string) => presentCompany(await findCompany(deps, company)),
    async countCompanies(): Promise<number> {
      const [row] = await db.statement<{ count: number }>(
        'select cast(count(*) as int) as count from companies',
      )
      return row?.count ?? 0
    },
    getTimezone: async (trx: Transaction, userId: string): Promise<string> =>
      (await User.query(trx).findById(userId).throwIfNotFound()).timezone,
    async setTimezone(trx: Transaction, userId: string, timezone: string): Promise<void> {
      await User.query(trx).findById(userId).patch({ timezone })
    },
    async createUser(input: {
      companyId: string
      email: string
      password: string
      fullName?: string
      role: Role
    }): Promise<{ id: string; email: string }> {
      const { companyId, password, fullName, role } = input
      const email = parseEmail(input.email)
      const { name: companyName } = await findCompany(deps, companyId)
      assertStrongPassword(password, email, { companyName })
      const passwordHash = await withHashingSlot(() => hashPassword(password))
      return db.system(async trx => {
        const { id } = await createUser(trx, { companyId, email, passwordHash, fullName, role })
        const event = { action: 'user.registered', target: { type: 'user', id }, details: { email, role } }
        await audit(trx, byOperator(companyId), event)
        return { id, email }
      })
    },
    /** `record` is the API's record of the key; `key` is the secret itself, which is not stored. */
    createKey: ({
      companyId,
      ...input
    }: {
      companyId: string
      name: string
      scope: Scope
      expiresAt?: Date
    }) =>
      db.company(companyId, async trx => {
        const { key, row, plan } = await createKey(trx, input)
        await audit(trx, byOperator(companyId), keyAuditEvent('created', row))
        return { key, record: presentKey(row, plan) }
      }),
    listKeys: (companyId: string) =>
      db.company(companyId, async trx => {
        const { plan } = await Company.query(trx).first().throwIfNotFound()
        return (await listKeys(trx)).rows.map(row => presentKey(row, plan))
      }),
    revokeKey: (companyId: string, id: string) =>
      db.company(companyId, async trx => {
        const { plan } = await Company.query(trx).first().throwIfNotFound()
        const row = await revokeKey(trx, id, event => audit(trx, byOperator(companyId), event))
        return presentKey(row, plan)
      }),
    verifyAudit: (companyId: string) => verifyAudit(work => db.company(companyId, work)),
    /** A one-time token for `POST /auth/tickets`; `method` is how the user signed in, for the audit log. */
    issueTicket: ({
      seconds,
      ...input
    }: {
      companyId: string
      userId: string
      method: string
      seconds: number
    }) => db.company(input.companyId, trx => issueTicket(trx, input, seconds)),
    /** The address of the console that signs a user in, once. @throws when the company has no such active user */
    createSignInLink: ({
      companyId,
      email,
      seconds,
    }: {
      companyId: string
      email: string
      seconds: number
    }) =>
      db.company(companyId, async trx => {
        const { id: userId } = await User.query(trx)
          .findOne({ email: parseEmail(email), isActive: true })
          .throwIfNotFound()
        const ticket = await issueTicket(trx, { companyId, userId, method: 'sign-in link' }, seconds)
        return `${config.baseUrl}/?${new URLSearchParams({ ticket })}`
      }),
    /** Whose session a ticket opens, without using it. @throws 401 `INVALID_TOKEN` */
    findTicketHolder: (ticket: string) => findTicketHolder(deps, ticket),
    /** New tokens for the refresh token that a page keeps in a cookie. @throws 401, 429 */
    resumeSession: (refreshToken: string, request: Request) => resumeSession(deps, refreshToken, request),
    /** The name of the user of a refresh token; undefined unless it is the current one of a live session. */
    findSessionUser: (refreshToken: string) => findSessionUser(deps, refreshToken),
    /** Whether a person without an invitation may register. */
    isRegistrationOpen: () => isRegistrationOpen(deps),
    createProspect: (input: { email: string; company?: string }) => createProspect(deps, input),
    admitProspect: (token: string, origin: RequestOrigin) =>
      admitProspect(deps, identityProvider.current(), token, origin),
    /** Lets another system than our table of users identify prospects; once, before the start. */
    useIdentityProvider: (provider: IdentityProvider) => identityProvider.use(provider),
    /** Adds a function that is called in the transaction that removes a user, after the user's row was deleted. */
    onUserRemoved: (listener: UserRemovalListener) => void removalListeners.push(listener),
    /** Calls these functions, in the transaction that removes the user. */
    async notifyUserRemoved(trx: Transaction, user: Pick<User, 'id' | 'email'>): Promise<void> {
      for (const listener of removalListeners) await listener(trx, user)
    },
    isDemoKey: (key: string) => key.startsWith(DEMO_KEY_PREFIX),
    /** 0 for a key that no longer reads the demo. */
    getDemoSecondsLeft: (key: string) => getDemoSecondsLeft(deps, key),
    setDemoCompany: (companyId: string) => setDemoCompany(deps, companyId),
  }
}
