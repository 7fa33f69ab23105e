import { apiError } from '../../../server/http/errors.ts'
import type { AuthDeps } from '../deps.ts'

// Counted before the password is checked, so that concurrent guesses do not get past the limit.
const ATTEMPT = `
  insert into login_failures as f values (:email_hash, 1, now(), null)
  on conflict (email_hash) do update set (failures, first_at, locked_until) = (
    select
      failures,
      first_at,
      case when failures >= 10 then coalesce(f.locked_until, now() + interval '15 minutes') end
    from (select
      case when begins then 1 else f.failures + 1 end as failures,
      case when begins then now() else f.first_at end as first_at
    from (select coalesce(f.locked_until, f.first_at + interval '15 minutes') <= now() as begins) as counted) as next
  )
  returning failures`

/** `ATTEMPT` names this number too. */
const MAX_FAILURES = 10

/**
 * Counts a sign-in as failed; `clearFailures` undoes it after a success. Ten failures in 15 minutes lock the email for
 * 15 minutes, whether or not there is such a user.
 * @returns whether a failure of this attempt locks the email
 * @throws 403 `ACCOUNT_LOCKED`
 */
export async function countAttempt(deps: AuthDeps, email: string): Promise<{ isLast: boolean }> {
  const [state] = await deps.db.statement<{ failures: number }>(ATTEMPT, {
    email_hash: hashEmail(deps, email),
  })
  const failures = state?.failures ?? 0
  if (failures <= MAX_FAILURES) return { isLast: failures === MAX_FAILURES }
  const message = 'Too many failed sign-ins: this account is locked, try again in 15 minutes'
  throw apiError('ACCOUNT_LOCKED', message)
}

export async function clearFailures(deps: AuthDeps, email: string): Promise<void> {
  await deps.db.statement('delete from login_failures where email_hash = :email_hash', {
    email_hash: hashEmail(deps, email),
  })
}

const hashEmail = (deps: AuthDeps, email: string): string => deps.vault.hmac('login failures', email)
