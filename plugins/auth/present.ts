import type { Plan } from '../../server/settings/config.ts'
import { PLAN_LIMITS } from '../../server/http/limits.ts'
import { presentFields } from '../../server/http/fields.ts'
import type { UserAccount } from './accounts.ts'
import { invitationFields, keyFields, userFields } from './fields.ts'
import type { ApiKey, Invitation, User } from './models.ts'
import type { SessionTokens } from './sign-in/sessions.ts'

type AccountCompany = UserAccount['company']

export function presentCompany({ companyId, name, plan }: AccountCompany) {
  return { id: companyId, name, plan }
}

export function presentUser(user: User, company: AccountCompany) {
  return presentFields(userFields, { ...user, company: presentCompany(company) })
}

export function presentSignIn({ user, company, ...tokens }: SessionTokens & UserAccount) {
  return { ...tokens, user: presentUser(user, company) }
}

/** Without the key itself. */
export function presentKey(key: ApiKey, plan: Plan, now = new Date()) {
  const { perMinute: rateLimitPerMin, burst: burstLimit } = PLAN_LIMITS[plan]
  return presentFields(keyFields, {
    ...key,
    displayKey: `${key.keyPrefix}...${key.keySuffix}`,
    rateLimitPerMin,
    burstLimit,
    isActive: key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now),
  })
}

/** Without the token. */
export function presentInvitation(invitation: Invitation, now = new Date()) {
  const { expiresAt, acceptedAt, revokedAt } = invitation
  const unused = expiresAt > now ? 'open' : 'expired'
  const status = acceptedAt ? 'accepted' : revokedAt ? 'revoked' : unused
  return presentFields(invitationFields, { ...invitation, status })
}
