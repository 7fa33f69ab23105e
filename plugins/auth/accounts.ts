import type { Server } from '@hapi/hapi'
import { v7 as uuid, validate as isUuid } from 'uuid'
import type { Role } from '../../server/http/access.ts'
import type { Plan } from '../../server/settings/config.ts'
import { audit, type RequestOrigin } from '../../server/http/audit.ts'
import { rows, type Transaction } from '../../server/database/database.ts'
import { apiError } from '../../server/http/errors.ts'
import type { Company, User } from './models.ts'
import { acceptInvitation, findInvitation } from './users/invitations.ts'
import { hashPassword, withHashingSlot, assertStrongPassword } from './sign-in/passwords.ts'

/** A user with the company they belong to. */
export interface UserAccount {
  user: User
  company: Pick<Company, 'companyId' | 'name' | 'plan'>
}

/** Makes a company, over all companies as only the system may. */
export async function createCompany(
  trx: Transaction,
  name: string,
  plan: Plan,
): Promise<UserAccount['company']> {
  const [company] = await rows<UserAccount['company']>(
    trx,
    'insert into companies (company_id, name, plan) values (:id, :name, :plan) returning company_id, name, plan',
    { id: uuid(), name, plan },
  )
  return company as UserAccount['company']
}

/**
 * Makes a user of a company.
 * @param input.passwordHash as `hashPassword` gives it; null for who signs in through a provider only
 * @throws 409 `USER_EXISTS`, also when the user is another company's; 409 `CONFLICT` for a second owner
 */
export async function createUser(
  trx: Transaction,
  input: {
    companyId: string
    email: string
    passwordHash: string | null
    fullName?: string | null
    role: Role
  },
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

/**
 * SQL: whether the user `u` is known to own their email. Who registered with a password is not, also after they
 * removed it and sign in through a provider where they have another email.
 */
export const IS_EMAIL_PROVEN = `(u.password_hash is null and coalesce(
  (select bool_or(i.email is null or i.email = u.email) from identities i
   where i.company_id = u.company_id and i.user_id = u.id), true))`

/** What somebody registers with. */
export interface Registration {
  email: string
  password: string
  fullName?: string
  companyName?: string
  /** Joins the company that it invites to, in its role. */
  invitationToken?: string
}

/**
 * Makes a user: by an invitation of its company, else with a company of their own, as its owner.
 * @param origin where the request came from, for the audit log
 * @throws 400 `WEAK_PASSWORD` and `INVALID_INVITATION`, 409 `USER_EXISTS`, also for users of other companies
 */
export async function registerUser(
  server: Server,
  input: Registration,
  origin: RequestOrigin,
): Promise<UserAccount> {
  const { email, password, fullName, invitationToken: token } = input
  const invitation =
    token === undefined ? undefined : await server.db.system(trx => findInvitation(trx, { token, email }))
  const name = invitation?.companyName ?? input.companyName ?? fullName ?? (email.split('@')[0] as string)
  assertStrongPassword(password, email, { companyName: name })
  const passwordHash = await withHashingSlot(() => hashPassword(password))
  return server.db.system(async trx => {
    if (invitation) await acceptInvitation(trx, invitation)
    const company = invitation
      ? { companyId: invitation.companyId, name, plan: invitation.plan }
      : await createCompany(trx, name, server.config.defaultPlan)
    const { companyId } = company
    const role = invitation?.role ?? 'owner'
    const user = await createUser(trx, { companyId, email, passwordHash, fullName, role })
    const details = { email, role, ...(invitation && { invitation_id: invitation.id }) }
    await audit(
      trx,
      { companyId, actor: `user:${user.id}`, ...origin },
      { action: 'user.registered', target: { type: 'user', id: user.id }, details },
    )
    return { user, company }
  })
}

/**
 * A company by id, else by name; the only one when not named. Everybody names their company as they like, also after
 * the id of another: so the id goes first.
 * @throws a sentence for the command line when it is not clear which
 */
export async function findCompany(server: Server, company?: string): Promise<UserAccount['company']> {
  const id = isUuid(company) ? (company as string).toLowerCase() : null
  const found = await server.db.statement<UserAccount['company']>(
    `select company_id, name, plan from companies
     where cast(:company as text) is null or name = :company or company_id = :id
     order by company_id is not distinct from :id desc, created_at, company_id limit 11`,
    { company: company ?? null, id },
  )
  const [only, ...others] = found
  if (only && (others.length === 0 || only.companyId === id)) return only
  if (!only) {
    throw apiError(
      'NOT_FOUND',
      company === undefined
        ? 'There is no company yet: make one with companies create NAME'
        : `There is no company ${JSON.stringify(company)}: give its id or its exact name`,
    )
  }
  const names = found.slice(0, 10).map(({ companyId, name }) => `${name} (${companyId})`)
  const count = found.length > 10 ? 'More than 10' : String(found.length)
  const what =
    company === undefined
      ? 'Say which company with --company ID'
      : `${count} companies are named ${JSON.stringify(company)}: give the id in place of the name`
  throw apiError('VALIDATION_ERROR', `${what}: ${names.join(', ')}${found.length > 10 ? ', …' : ''}`)
}
