import Joi from 'joi'
import type { Job } from '../../server/jobs/jobs.ts'

/** Expired rows by table; those of the first two count requests and failures, the rest are credentials. */
const EXPIRED: [table: string, condition: string][] = [
  ['rate_windows', 'greatest(ends_at, burst_ends_at) < now()'],
  ['login_failures', `coalesce(locked_until, first_at + interval '15 minutes') < now()`],
  ['sessions', `least(ended_at, expires_at) < now() - interval '7 days'`],
  ['api_keys', `least(revoked_at, expires_at) < now() - interval '1 year'`],
  ['invitations', `least(accepted_at, revoked_at, expires_at) < now() - interval '30 days'`],
  ['prospects', `expires_at < now() - interval '30 days'`],
  ['oauth_attempts', 'expires_at < now()'],
  ['tickets', 'expires_at < now()'],
  ['demo_sessions', 'expires_at < now()'],
]

/** Deletes expired rows, those that users may ask about some days later. */
export const sweep: Job = {
  name: 'auth.sweep',
  data: Joi.object({}),
  every: '17 * * * *',
  async work(_data, { server }) {
    for (const [table, condition] of EXPIRED)
      await server.db.statement(`delete from ${table} where ${condition}`)
  },
}
