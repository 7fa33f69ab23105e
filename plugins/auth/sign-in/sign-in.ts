import type { Request } from '@hapi/hapi'
import { audit, requestOrigin, type AuditEvent } from '../../../server/http/audit.ts'
import type { Plan } from '../../../server/settings/config.ts'
import { rows } from '../../../server/database/database.ts'
import { apiError } from '../../../server/http/errors.ts'
import type { UserAccount } from '../accounts.ts'
import { auditAfterResponse } from '../audit-log/deferred-audit.ts'
import { countAttempt, clearFailures } from './lockout.ts'
import type { User } from '../models.ts'
import { hashPassword, withHashingSlot, needsRehash, isPassword } from './passwords.ts'
import { openSession, type SessionTokens } from './sessions.ts'

type SignInRow = User & { companyName: string; plan: Plan }

const FIND_USER = `
  select u.*, c.name as company_name, c.plan
  from users u join companies c on c.company_id = u.company_id
  where u.email = :email`

/**
 * An unknown email, a disabled user and a wrong password get the same answer after the same work.
 * @throws 401 `INVALID_CREDENTIALS`, 403 `ACCOUNT_LOCKED`, 429 when too many sign in at once
 */
export function signInWithPassword(
  request: Request,
  { email, password }: { email: string; password: string },
): Promise<SessionTokens & UserAccount> {
  const { server } = request
  return withHashingSlot(async () => {
    const { isLast } = await countAttempt(server, email)
    const [found] = await server.db.statement<SignInRow>(FIND_USER, { email })
    const isRight = await isPassword(password, found?.passwordHash)
    const opened =
      found?.passwordHash &&
      isRight &&
      found.isActive &&
      (await openPasswordSession(request, found, password))
    if (opened) return opened
    if (found) auditAfterResponse(request, found.companyId, refusalEvents(found, isRight, isLast))
    throw apiError('INVALID_CREDENTIALS', 'The email or the password is wrong: check both and try again')
  })
}

/** Undefined when the password was changed, or the user disabled or removed, meanwhile. */
async function openPasswordSession(request: Request, found: SignInRow, password: string) {
  const { server } = request
  const former = found.passwordHash as string
  const passwordHash = needsRehash(former) ? await hashPassword(password) : former
  await clearFailures(server, found.email)
  return server.db.system(async trx => {
    const [user] = await rows<User>(
      trx,
      `update users set last_login_at = now(), password_hash = :new
       where id = :id and password_hash = :former and is_active returning *`,
      { id: found.id, former, new: passwordHash },
    )
    if (!user) return undefined
    const { companyId, companyName: name, plan } = found
    const tokens = await openSession(server, trx, user)
    await audit(
      trx,
      { companyId, actor: `user:${user.id}`, ...requestOrigin(request) },
      { action: 'user.signed_in', target: { type: 'user', id: user.id }, details: { method: 'password' } },
    )
    return { ...tokens, user, company: { companyId, name, plan } }
  })
}

/** The audit events of a refused attempt; the last of the allowed failures locks the email. */
function refusalEvents(user: User, isRight: boolean, isLast: boolean): AuditEvent[] {
  const target = { type: 'user', id: user.id }
  const reason = isRight ? 'disabled' : user.passwordHash ? 'wrong_password' : 'no_password'
  const failed = { action: 'user.sign_in_failed', target, details: { reason } }
  return isLast ? [failed, { action: 'user.locked', target, details: { minutes: 15 } }] : [failed]
}
