import { randomBytes } from 'node:crypto'
import { companyOf, rows, type Transaction } from '../../../server/database/database.ts'
import { audit, requestOrigin, type RequestOrigin } from '../../../server/http/audit.ts'
import type { AnyRequest } from '../../../server/http/access.ts'
import { apiError, hasErrorData } from '../../../server/http/errors.ts'
import { auditUser } from '../audit-log/audit-user.ts'
import { doAfterResponse } from '../after-response.ts'
import type { AuthDeps } from '../deps.ts'
import { lockUser } from '../locks.ts'
import { NO_MAIL, sendAccountMail } from '../mails/send.ts'
import { User } from '../models.ts'
import { clearFailures } from './lockout.ts'
import { assertStrongPassword, hashPassword, withHashingSlot } from './passwords.ts'
import { endAllSessions } from './sessions.ts'
import { sha256 } from './tokens.ts'

/** Mails to one address, whether or not it has a user. */
const MAX_PER_HOUR = 3

/**
 * Mails a link to choose a new password to the user of an address, if there is one. The user is looked for after the
 * response, so that neither the reply nor its time reveals whether there is one.
 * @throws 409 `CONFLICT` where no mail is sent, 429 `RATE_LIMITED`
 */
export async function requestPasswordReset(request: AnyRequest, email: string): Promise<void> {
  const { server } = request
  if (!server.mail) throw apiError('CONFLICT', `${NO_MAIL}. Ask an admin of your company until then`)
  await takeLimit(server, email, request)
  const origin = requestOrigin(request)
  doAfterResponse(request, 'a link to reset a password could not be sent', () =>
    mailResetLink(server, email, origin),
  )
}

async function takeLimit(deps: AuthDeps, email: string, request: AnyRequest): Promise<void> {
  const address = deps.vault.hmac('password resets', email)
  try {
    await deps.limits.take(`password-resets:${address}`, MAX_PER_HOUR, 3_600, request)
  } catch (error) {
    if (!hasErrorData(error) || error.data?.code !== 'RATE_LIMITED') throw error
    const minutes = Math.ceil(Number(error.data.details.retry_after) / 60)
    error.message = `At most ${MAX_PER_HOUR} mails an hour are sent to one address: use the last one, or try again in ${minutes} min`
    throw error
  }
}

async function mailResetLink(deps: AuthDeps, email: string, origin: RequestOrigin): Promise<void> {
  const [found] = await deps.db.statement<{ id: string; companyId: string }>(
    'select id, company_id from users where email = :email and is_active',
    { email },
  )
  if (!found) return
  const token = randomBytes(32).toString('base64url')
  const isMade = await deps.db.company(found.companyId, trx => createReset(trx, found.id, token, origin))
  if (!isMade) return
  await sendAccountMail(deps, {
    to: email,
    subject: 'Reset your Tidemark password',
    heading: 'Choose a new password',
    sentence: 'Someone, hopefully you, asked for a new password for your user on Tidemark.',
    link: {
      text: 'Choose a new password',
      url: `${deps.config.baseUrl}/reset?${new URLSearchParams({ token })}`,
    },
    notes: [
      `The link works once, within one hour. A newer link replaces it; at most ${MAX_PER_HOUR} an hour are sent.`,
      'If it was not you, ignore this mail: your password stays as it is.',
    ],
  })
}

/** Only the hash of the token is stored. @returns whether the user is still there */
async function createReset(
  trx: Transaction,
  userId: string,
  token: string,
  origin: RequestOrigin,
): Promise<boolean> {
  const user = await lockUser(trx, userId)
  if (!user?.isActive) return false
  const companyId = companyOf(trx)
  await rows(
    trx,
    `insert into password_resets (user_id, company_id, token_hash, expires_at)
     values (:userId, :companyId, :hash, now() + interval '1 hour')
     on conflict (user_id) do update set token_hash = excluded.token_hash, created_at = now(), expires_at = excluded.expires_at`,
    { userId, companyId, hash: sha256(token) },
  )
  await audit(
    trx,
    // The person who asks is not signed in.
    { companyId, actor: 'system', ...origin },
    { action: 'user.password_reset_requested', target: { type: 'user', id: userId } },
  )
  return true
}

interface FoundReset {
  userId: string
  companyId: string
  email: string
  companyName: string
}

/**
 * Sets a new password with the token of a link, and ends all sessions of the user. Linked providers and API keys stay.
 * @returns the email to sign in with
 * @throws 401 `INVALID_TOKEN`, 400 `WEAK_PASSWORD`, with which the token can be used again
 */
export async function resetPassword(
  request: AnyRequest,
  { token, password }: { token: string; password: string },
): Promise<{ email: string }> {
  const { server } = request
  const hash = sha256(token)
  const [found] = await server.db.statement<FoundReset>(
    `select r.user_id, r.company_id, u.email, c.name as company_name
     from password_resets r
     join users u on u.id = r.user_id and u.company_id = r.company_id
     join companies c on c.company_id = r.company_id
     where r.token_hash = :hash and r.expires_at > now() and u.is_active`,
    { hash },
  )
  if (!found) throw invalidReset()
  const { userId, companyId, email, companyName } = found
  assertStrongPassword(password, email, { companyName, field: 'new_password' })
  const passwordHash = await withHashingSlot(() => hashPassword(password))
  const providers = await server.db.company(companyId, async trx => {
    const user = await lockUser(trx, userId)
    // The second of two requests with one token finds it used.
    const used = await rows(
      trx,
      `delete from password_resets
       where company_id = :companyId and token_hash = :hash and expires_at > now() returning user_id`,
      { companyId, hash },
    )
    if (!user?.isActive || used.length === 0) throw invalidReset()
    await User.query(trx).findById(userId).patch({ passwordHash })
    await endAllSessions(trx, userId)
    const linked = await listProviders(trx, userId)
    await auditUser(trx, user, requestOrigin(request), { action: 'user.password_reset' })
    return linked
  })
  await clearFailures(server, email)
  doAfterResponse(request, 'the mail about a new password could not be sent', () =>
    sendAccountMail(server, describeReset(email, providers)),
  )
  return { email }
}

async function listProviders(trx: Transaction, userId: string): Promise<string[]> {
  const linked = await rows<{ provider: string }>(
    trx,
    `select distinct coalesce(provider, issuer) as provider from identities
     where company_id = :companyId and user_id = :userId order by 1`,
    { companyId: companyOf(trx), userId },
  )
  return linked.map(({ provider }) => provider)
}

/** A person who did not do it must learn of it, and of what else opens the account. */
function describeReset(to: string, providers: readonly string[]) {
  const stays =
    providers.length === 0
      ? []
      : [
          `These sign-in providers are still linked to your user: ${providers.join(', ')}. Unlink those that you do not know under Settings.`,
        ]
  return {
    to,
    subject: 'Your Tidemark password was changed',
    heading: 'Your password was changed',
    sentence:
      'It was changed with a link that was sent to this address. All your sessions have ended: sign in again.',
    notes: [
      ...stays,
      'If it was not you, ask for a new password at once, and inform an admin of your company.',
    ],
  }
}

function invalidReset() {
  const message = 'This link was used, was replaced by a newer one, or has expired: ask for a new one'
  return apiError('INVALID_TOKEN', message)
}
