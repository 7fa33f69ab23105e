import type { Server } from '@hapi/hapi'
import type { AuthApi } from './api.ts'
import { createCompany, createUser, findCompany } from './accounts.ts'
import { setDemoCompany } from './sign-in/demo-sessions.ts'
import { issueTicket } from './sign-in/one-time-tokens.ts'
import { verifyAudit } from './audit-log/audit-log.ts'
import { audit, type AuditEvent, type AuditOrigin } from '../../server/http/audit.ts'
import { invalidField } from '../../server/http/errors.ts'
import { createIdentityProviderSlot } from './prospects/identity-provider.ts'
import { createKey, keyAuditEvent, listKeys, revokeKey } from './api-keys/api-keys.ts'
import { Company, User } from './models.ts'
import { hashPassword, withHashingSlot, assertStrongPassword } from './sign-in/passwords.ts'
import { presentCompany, presentKey } from './present.ts'
import { admitProspect, createProspect } from './prospects/prospects.ts'
import { schemas } from './schemas.ts'
import { lockCompany } from './locks.ts'

/** Whoever runs the command line has no user here. */
const byOperator = (companyId: string): AuditOrigin => ({ companyId, actor: 'cli' })

/** Accounts for the command line and other features. */
export function authApi(server: Server): AuthApi {
  const { db, config } = server
  const identities = createIdentityProviderSlot(server)
  return {
    createCompany: ({ name, plan }) =>
      db.system(async trx => {
        const company = await createCompany(trx, name, plan ?? config.defaultPlan)
        const { companyId } = company
        const target = { type: 'company', id: companyId }
        await audit(trx, byOperator(companyId), { action: 'company.created', target, details: { name } })
        return presentCompany(company)
      }),
    async setPlan(company, plan) {
      const { companyId } = await findCompany(server, company)
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
    findCompany: async company => presentCompany(await findCompany(server, company)),
    async countCompanies() {
      const [row] = await db.statement<{ count: number }>(
        'select cast(count(*) as int) as count from companies',
      )
      return row?.count ?? 0
    },
    getTimezone: async (trx, id) => (await User.query(trx).findById(id).throwIfNotFound()).timezone,
    setTimezone: async (trx, id, timezone) => void (await User.query(trx).findById(id).patch({ timezone })),
    async createUser({ companyId, email: given, password, fullName, role }) {
      const { value: email, error } = schemas.email.validate(given) as { value: string; error?: Error }
      if (error) throw invalidField('email', `${JSON.stringify(given)} is no email address`)
      const { name: companyName } = await findCompany(server, companyId)
      assertStrongPassword(password, email, { companyName })
      const passwordHash = await withHashingSlot(() => hashPassword(password))
      const user = await db.system(async trx => {
        const made = await createUser(trx, { companyId, email, passwordHash, fullName, role })
        const target = { type: 'user', id: made.id }
        const event = { action: 'user.registered', target, details: { email, role } }
        await audit(trx, byOperator(companyId), event)
        return made
      })
      return { id: user.id, email: user.email }
    },
    createKey: ({ companyId, name, scope, expiresAt }) =>
      db.company(companyId, async trx => {
        const { key, row, plan } = await createKey(trx, { name, scope, expiresAt })
        await audit(trx, byOperator(companyId), keyAuditEvent('created', row))
        return { key, record: presentKey(row, plan) }
      }),
    listKeys: companyId =>
      db.company(companyId, async trx => {
        const { plan } = await Company.query(trx).first().throwIfNotFound()
        return (await listKeys(trx)).rows.map(row => presentKey(row, plan))
      }),
    revokeKey: (companyId, id) =>
      db.company(companyId, async trx => {
        const { plan } = await Company.query(trx).first().throwIfNotFound()
        const tell = (event: AuditEvent) => audit(trx, byOperator(companyId), event)
        return presentKey(await revokeKey(trx, id, tell), plan)
      }),
    verifyAudit: companyId => verifyAudit(work => db.company(companyId, work)),
    issueTicket: ({ seconds, companyId, ...who }) =>
      db.company(companyId, trx => issueTicket(trx, { companyId, ...who }, seconds)),
    createProspect: input => createProspect(server, input),
    admitProspect: (token, place) => admitProspect(server, identities.current(), token, place),
    useIdentityProvider: provider => identities.use(provider),
    setDemoCompany: companyId => setDemoCompany(server, companyId),
  }
}
