import type { Server } from '@hapi/hapi'
import type { AuthApi } from './api.ts'
import { createCompany, createUser, findCompany } from './accounts.ts'
import { invalidField } from '../../server/errors.ts'
import { createKey, listKeys, revokeKey } from './keys.ts'
import { Company } from './models.ts'
import { hashPassword, inTurn, refuseWeak } from './passwords.ts'
import { presentCompany, presentKey } from './present.ts'
import { schemas } from './schemas.ts'

/** Accounts for the command line and other features. */
export function authApi(server: Server): AuthApi {
  const { db, config } = server
  return {
    createCompany: async ({ name, plan }) =>
      presentCompany(await db.system(trx => createCompany(trx, name, plan ?? config.defaultPlan))),
    async setPlan(company, plan) {
      const { companyId } = await findCompany(server, company)
      return db.company(companyId, async trx => {
        await Company.query(trx).patch({ plan })
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
    async createUser({ companyId, email: given, password, fullName, role }) {
      const { value: email, error } = schemas.email.validate(given) as { value: string; error?: Error }
      if (error) throw invalidField('email', `${JSON.stringify(given)} is no email address`)
      refuseWeak(password, email)
      const passwordHash = await inTurn(() => hashPassword(password))
      const user = await db.system(trx => createUser(trx, { companyId, email, passwordHash, fullName, role }))
      return { id: user.id, email: user.email }
    },
    createKey: ({ companyId, name, scope, expiresAt }) =>
      db.company(companyId, async trx => {
        const { key, row, plan } = await createKey(trx, { name, scope, expiresAt })
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
        return presentKey(await revokeKey(trx, id), plan)
      }),
  }
}
