import type { Plan } from '../../server/settings/config.ts'
import { PLAN_LIMITS } from '../../server/http/limits.ts'
import type { UserAccount } from './accounts.ts'
import type { ApiKey, Invitation, User } from './models.ts'
import type { SessionTokens } from './sign-in/sessions.ts'

type AccountCompany = UserAccount['company']

export function presentCompany({ companyId, name, plan }: AccountCompany) {
  return { id: companyId, name, plan }
}

export function presentUser(user: User, company: AccountCompany) {
  return {
    id: user.id,
    email: user.email,
    full_name: user.fullName,
    role: user.role,
    company: presentCompany(company),
    is_active: user.isActive,
    timezone: user.timezone,
    created_at: user.createdAt,
    last_login_at: user.lastLoginAt,
  }
}

export function presentSignIn({ user, company, ...tokens }: SessionTokens & UserAccount) {
  return { ...tokens, user: presentUser(user, company) }
}

/** Without the key itself. */
export function presentKey(key: ApiKey, plan: Plan, now = new Date()) {
  return {
    id: key.id,
    name: key.name,
    scope: key.scope,
    key_prefix: key.keyPrefix,
    key_suffix: key.keySuffix,
    display_key: `${key.keyPrefix}...${key.keySuffix}`,
    rate_limit_per_min: PLAN_LIMITS[plan].perMinute,
    burst_limit: PLAN_LIMITS[plan].burst,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    last_used_at: key.lastUsedAt,
    revoked_at: key.revokedAt,
    is_active: key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now),
  }
}

/** Without the token. */
export function presentInvitation(invitation: Invitation, now = new Date()) {
  const { id, email, role, invitedBy, createdAt, expiresAt, acceptedAt, revokedAt } = invitation
  const unused = expiresAt > now ? 'open' : 'expired'
  return {
    id,
    email,
    role,
    status: acceptedAt ? 'accepted' : revokedAt ? 'revoked' : unused,
    invited_by: invitedBy,
    created_at: createdAt,
    expires_at: expiresAt,
    accepted_at: acceptedAt,
    revoked_at: revokedAt,
  }
}
