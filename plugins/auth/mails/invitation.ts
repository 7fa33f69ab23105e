import { hasCode } from '../../../server/http/errors.ts'
import type { AuthDeps } from '../deps.ts'
import type { Invitation } from '../models.ts'
import { nameInMail } from './compose.ts'
import { NO_MAIL, sendAccountMail } from './send.ts'

/** Names and addresses are free text of the inviting person: no company may send as much mail as it likes. */
const MAX_PER_HOUR = { company: 50, email: 3 }

/**
 * Mails an invitation to the invited person.
 * @param input.inviter the name or email of the inviting user
 * @returns why no mail was sent; null for one that was
 */
export async function mailInvitation(
  deps: AuthDeps,
  input: { invitation: Invitation; url: string; inviter: string; company: string },
): Promise<string | null> {
  const { invitation, url } = input
  const { companyId, email } = invitation
  if (!deps.mail) return NO_MAIL
  const refusal = await takeLimits(deps, companyId, email)
  if (refusal !== null) return refusal
  const [inviter, company] = [nameInMail(input.inviter), nameInMail(input.company)]
  return sendAccountMail(deps, {
    to: email,
    subject: `${inviter} invited you to ${company} on Tidemark`,
    heading: `Join ${company} on Tidemark`,
    sentence: `${inviter} invited you. Tidemark watches the data of a company, and reports what is wrong with it.`,
    link: { text: 'Create your account', url },
    notes: [
      'The link works once, for this email address, within 7 days.',
      'If you do not know the sender, ignore this mail: nothing happens.',
    ],
  })
}

async function takeLimits(deps: AuthDeps, companyId: string, email: string): Promise<string | null> {
  const address = deps.vault.hmac('invitation mails', email)
  try {
    await deps.limits.take(`invitation-mails:${companyId}`, MAX_PER_HOUR.company, 3_600)
    await deps.limits.take(`invitation-mails:${address}`, MAX_PER_HOUR.email, 3_600)
    return null
  } catch (error) {
    if (!hasCode(error, 'RATE_LIMITED')) throw error
    return `At most ${MAX_PER_HOUR.company} invitations an hour are mailed for a company, and ${MAX_PER_HOUR.email} to one address: send the link yourself`
  }
}
