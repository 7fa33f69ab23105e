import { v7 as uuid, validate as isUuid } from 'uuid'
import type { Role } from '../../server/http/access.ts'
import type { Plan } from '../../server/settings/config.ts'
import type { AuditEvent, RequestOrigin } from '../../server/http/audit.ts'
import { rows, type Transaction } from '../../server/database/database.ts'
import { apiError, invalidField } from '../../server/http/errors.ts'
import { describeGiven } from '../../server/http/sentences.ts'
import type { AuthDeps } from './deps.ts'
import { auditUser } from './audit-log/audit-user.ts'
import type { Company, User } from './models.ts'
import { isRegistrationOpen, registrationClosed, requireOpenRegistration } from './registration.ts'
import { schemas } from './schemas.ts'
import { hashPassword, withHashingSlot, assertStrongPassword } from './sign-in/passwords.ts'
import { acceptInvitation, findInvitation } from './users/invitations.ts'

export interface UserAccount {
  user: User
  company: Pick<Company, 'companyId' | 'name' | 'plan'>
}

/** A user who signs in, with the audit event of how they were registered or linked just now. */
export interface ResolvedUser {
  user: User
  event?: AuditEvent
}

/** Needs a system transaction. */
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
 * @param input.passwordHash from `hashPassword`; null for a user who signs in through a provider only
 * @throws 409 `USER_EXISTS`, also for a user of another company; 409 `CONFLICT` for a second owner
 */
export async function createUser(
  trx: Transaction,
  input: Pick<User, 'companyId' | 'email' | 'passwordHash'> & { fullName?: string | null; role: Role },
): Promise<User> {
  const [user] = await rows<User>(
    trx,
    `insert into users (id, company_id, email, password_hash, full_name, role)
     values (:id, :companyId, :email, :passwordHash, :fullName, :role)
     on conflict (email) do nothing returning *`,
    { ...input, id: uuid(), fullName: input.fullName ?? null },
  ).catch((error: { constraint?: string }) => {
    if (error.constraint !== 'users_one_owner') throw error
    throw apiError('CONFLICT', 'The company already has an owner: give the user another role')
  })
  if (user) return user
  const message = 'A user with this email already exists: sign in, or use another email'
  throw apiError('USER_EXISTS', message, { field: 'email' })
}

/**
 * SQL: whether the user `u` is known to own their email. Registering with a password proves nothing, even after the
 * password was removed and the user signs in through a provider where they have another email.
 */
export const IS_EMAIL_PROVEN = `(u.password_hash is null and coalesce(
  (select bool_or(i.email is null or i.email = u.email) from identities i
   where i.company_id = u.company_id and i.user_id = u.id), true))`

/** An email address as it is stored. @throws 400 `VALIDATION_ERROR` */
export function parseEmail(given: string): string {
  const { value, error } = schemas.email.validate(given) as { value: string; error?: Error }
  if (error) throw invalidField('email', `must be an email address, not ${describeGiven(given)}`)
  return value
}

export interface Registration {
  email: string
  password: string
  fullName?: string
  companyName?: string
  /** Joins the inviting company, in the role of the invitation. */
  invitationToken?: string
}

/**
 * Registers a user: in the company of the invitation, else as the owner of a new company.
 * @throws 400 `WEAK_PASSWORD` and `INVALID_INVITATION`, 403 where registration is closed, 409 `USER_EXISTS`, also for users of other companies
 */
export async function registerUser(
  deps: AuthDeps,
  input: Registration,
  origin: RequestOrigin,
): Promise<UserAccount> {
  const { email, password, fullName, invitationToken: token } = input
  const invitation =
    token === undefined ? undefined : await deps.db.system(trx => findInvitation(trx, { token, email }))
  // Before the password is hashed.
  if (!invitation && !(await isRegistrationOpen(deps))) throw registrationClosed()
  const name = invitation?.companyName ?? input.companyName ?? fullName ?? (email.split('@')[0] as string)
  assertStrongPassword(password, email, { companyName: name })
  const passwordHash = await withHashingSlot(() => hashPassword(password))
  return deps.db.system(async trx => {
    await (invitation ? acceptInvitation(trx, invitation) : requireOpenRegistration(trx, deps))
    const company = invitation
      ? { companyId: invitation.companyId, name, plan: invitation.plan }
      : await createCompany(trx, name, deps.config.defaultPlan)
    const { companyId } = company
    const role = invitation?.role ?? 'owner'
    const user = await createUser(trx, { companyId, email, passwordHash, fullName, role })
    const details = { email, role, ...(invitation && { invitation_id: invitation.id }) }
    await auditUser(trx, user, origin, { action: 'user.registered', details })
    return { user, company }
  })
}

/**
 * Finds a company by id, else by name; without either, the only one there is. A company may be named after the id of
 * another, so ids match first.
 * @throws 404 `NOT_FOUND` or 400 `VALIDATION_ERROR` with a message for the command line when there is none or several
 */
export async function findCompany(deps: AuthDeps, company?: string): Promise<UserAccount['company']> {
  const id = isUuid(company) ? (company as string).toLowerCase() : null
  const companies = await deps.db.statement<UserAccount['company']>(
    `select company_id, name, plan from companies
     where cast(:company as text) is null or name = :company or company_id = :id
     order by company_id is not distinct from :id desc, created_at, company_id limit 11`,
    { company: company ?? null, id },
  )
  const [only, ...others] = companies
  if (only && (others.length === 0 || only.companyId === id)) return only
  if (!only)
    throw apiError(
      'NOT_FOUND',
      company === undefined
        ? 'There is no company yet: create one with companies create NAME'
        : `There is no company ${JSON.stringify(company)}: give its id or its exact name`,
    )
  const names = companies.slice(0, 10).map(({ companyId, name }) => `${name} (${companyId})`)
  const count = companies.length > 10 ? 'More than 10' : String(companies.length)
  const problem =
    company === undefined
      ? 'Choose a company with --company ID'
      : `${count} companies are named ${JSON.stringify(company)}: give the id instead of the name`
  throw apiError('VALIDATION_ERROR', `${problem}: ${names.join(', ')}${companies.length > 10 ? ', …' : ''}`)
}
