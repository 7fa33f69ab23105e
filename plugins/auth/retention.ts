import type { Retention } from '../../server/database/retention.ts'

/** Expired rows, those that users may ask about some days later; the first two count requests and failures. */
export const retention: Retention[] = [
  { table: 'rate_windows', column: 'greatest(ends_at, burst_ends_at)', days: 0 },
  { table: 'login_failures', column: `coalesce(locked_until, first_at + interval '15 minutes')`, days: 0 },
  { table: 'sessions', column: 'least(ended_at, expires_at)', days: 7 },
  { table: 'api_keys', column: 'least(revoked_at, expires_at)', days: 365 },
  { table: 'invitations', column: 'least(accepted_at, revoked_at, expires_at)', days: 30 },
  { table: 'prospects', column: 'expires_at', days: 30 },
  { table: 'oauth_attempts', column: 'expires_at', days: 0 },
  { table: 'tickets', column: 'expires_at', days: 0 },
  { table: 'password_resets', column: 'expires_at', days: 0 },
  { table: 'demo_sessions', column: 'expires_at', days: 0 },
]
