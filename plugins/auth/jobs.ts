import Joi from 'joi'
import type { Job } from '../../server/jobs/jobs.ts'

/**
 * Deletes what has run out: windows of rate limits, counts of failed sign-ins, sessions, invitations and prospects that
 * ended long ago, and what was good for minutes.
 */
export const sweep: Job = {
  name: 'auth.sweep',
  data: Joi.object({}),
  every: '17 * * * *',
  async work(_data, { server }) {
    await server.db.statement('delete from rate_windows where greatest(ends_at, burst_ends_at) < now()')
    await server.db.statement(
      `delete from login_failures where coalesce(locked_until, first_at + interval '15 minutes') < now()`,
    )
    await server.db.statement(
      `delete from sessions where least(ended_at, expires_at) < now() - interval '7 days'`,
    )
    await server.db.statement(
      `delete from invitations where least(accepted_at, revoked_at, expires_at) < now() - interval '30 days'`,
    )
    await server.db.statement(`delete from prospects where expires_at < now() - interval '30 days'`)
    for (const table of ['oauth_attempts', 'tickets', 'demo_sessions']) {
      await server.db.statement(`delete from ${table} where expires_at < now()`)
    }
  },
}
