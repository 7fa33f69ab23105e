import type { Server } from '@hapi/hapi'
import { v7 as uuid, validate as isUuid } from 'uuid'
import type { Role } from '../../server/access.ts'
import type { Plan } from '../../server/config.ts'
import { rows, type Transaction } from '../../server/database.ts'
import { apiError } from '../../server/errors.ts'
import type { Company, User } from './models.ts'
import { hashPassword, inTurn, isOutdated, isPassword, refuseWeak } from './passwords.ts'
import { countAttempt, forgive } from './lockout.ts'
import { openSession, type Tokens } from './sessions.ts'

/** A user with the company they belong to. */
export interface Account {
  user: User
  company: Pick<Company, 'companyId' | 'name' | 'plan'>
}

/** Makes a company, over all companies as only the system may. */
export async function createCompany(trx: Transaction, name: string, plan: Plan): Promise<Account['company']> {
  const [company] = await rows<Account['company']>(
    trx,
    'insert into companies (company_id, name, plan) values (:id, :name, :plan) returning company_id, name, plan',
    { id: uuid(), name, plan },
  )
  return company as Account['company']
}

/**
 * Makes a user of a company.
 * @param input.passwordHash as `hashPassword` gives it
 * @throws 409 `USER_EXISTS`, also when the user is another company's; 409 `CONFLICT` for a second owner
 */
export async function createUser(
  trx: Transaction,
  input: { companyId: string; email: string; passwordHash: string; fullName?: string | null; role: Role },
): Promise<User> {
  const [user] = await rows<User>(
    trx,
    `insert into users (id, company_id, email, password_hash, full_name, role)
     values (:id, :company_id, :email, :password_hash, :full_name, :role)
     on conflict (email) do nothing returning *`,
    {
      id: uuid(),
      company_id: input.companyId,
      email: input.email,
      password_hash: input.passwordHash,
      full_name: input.fullName ?? null,
      role: input.role,
    },
  ).catch((error: { constraint?: string }) => {
    if (error.constraint !== 'users_one_owner') throw error
    throw apiError('CONFLICT', 'The company has an owner already: give the user another role')
  })
  if (!user)
    throw apiError('USER_EXISTS', 'There is a user with this email already: sign in, or use another email', {
      field: 'email',
    })
  return user
}

/** Makes a company and its owner. @throws 400 `WEAK_PASSWORD`, 409 `USER_EXISTS` */
export async function register(
  server: Server,
  input: { email: string; password: string; fullName?: string; companyName?: string },
): Promise<Account> {
  const { email, password, fullName } = input
  refuseWeak(password, email)
  const passwordHash = await inTurn(() => hashPassword(password))
  return server.db.system(async trx => {
    const name = input.companyName ?? fullName ?? (email.split('@')[0] as string)
    const company = await createCompany(trx, name, server.config.defaultPlan)
    const user = await createUser(trx, {
      companyId: company.companyId,
      email,
      passwordHash,
      fullName,
      role: 'owner',
    })
    return { user, company }
  })
}

const FIND_USER = `
  select u.*, c.name as company_name, c.plan
  from users u join companies c on c.company_id = u.company_id
  where u.email = :email`

/**
 * Signs a user in. An unknown email, a disabled user and a wrong password are answered alike, after the same work.
 * @throws 401 `INVALID_CREDENTIALS`, 403 `ACCOUNT_LOCKED`, 429 when too many sign in at once
 */
export function signIn(
  server: Server,
  { email, password }: { email: string; password: string },
): Promise<Tokens & Account> {
  return inTurn(async () => {
    await countAttempt(server, email)
    const [found] = await server.db.statement<User & { companyName: string; plan: Plan }>(FIND_USER, {
      email,
    })
    const isRight = await isPassword(password, found?.passwordHash)
    if (!found?.passwordHash || !isRight || !found.isActive) {
      throw apiError('INVALID_CREDENTIALS', 'The email or the password is wrong: check both and try again')
    }
    const passwordHash = isOutdated(found.passwordHash) ? await hashPassword(password) : found.passwordHash
    await forgive(server, email)
    return server.db.system(async trx => {
      // Not when the password was changed in the meantime, which ended all sessions.
      const [user] = await rows<User>(
        trx,
        `update users set last_login_at = now(), password_hash = :new
         where id = :id and password_hash = :old and is_active returning *`,
        { id: found.id, old: found.passwordHash, new: passwordHash },
      )
      if (!user)
        throw apiError('INVALID_CREDENTIALS', 'The email or the password is wrong: check both and try again')
      const { companyId, companyName: name, plan } = found
      return { ...(await openSession(server, trx, user)), user, company: { companyId, name, plan } }
    })
  })
}

/**
 * A company by id or name; the only one when not named.
 * @throws a sentence for the command line when it is not clear which
 */
export async function findCompany(server: Server, company?: string): Promise<Account['company']> {
  const found = await server.db.statement<Account['company']>(
    `select company_id, name, plan from companies
     where cast(:company as text) is null or name = :company or company_id = :id order by created_at, company_id limit 11`,
    { company: company ?? null, id: company !== undefined && isUuid(company) ? company : null },
  )
  const [only, ...others] = found
  if (only && others.length === 0) return only
  if (!only) {
    throw apiError(
      'NOT_FOUND',
      company === undefined
        ? 'There is no company yet: make one with companies create NAME'
        : `There is no company ${JSON.stringify(company)}: give its id or its exact name`,
    )
  }
  const names = found.slice(0, 10).map(({ companyId, name }) => `${name} (${companyId})`)
  throw apiError(
    'CONFLICT',
    `Say which company with --company ID: ${names.join(', ')}${found.length > 10 ? ', …' : ''}`,
  )
}
