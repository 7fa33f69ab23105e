import type { AuthDeps } from '../deps.ts'
import { composeLetter, type AccountMail } from './compose.ts'

/** A person waits for the reply. */
const TIMEOUT_MS = 10_000

/** What a caller learns where the settings name no mail server. */
export const NO_MAIL = 'This service sends no mail: the operator has to set SMTP_URL'

/** Sends a mail about an account. Never rejects. @returns why the mail was not sent; null for one that was */
export async function sendAccountMail(
  { mail, pino }: Pick<AuthDeps, 'mail' | 'pino'>,
  content: AccountMail,
): Promise<string | null> {
  if (!mail) return NO_MAIL
  const letter = composeLetter(content, mail.from)
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const [posted] = await mail.send([letter], { signal, timeoutMs: TIMEOUT_MS })
  if (!posted || posted.isTaken) return null
  // Without the answer of the mail server, which repeats the address.
  pino.error({ error_class: posted.errorClass, code: posted.code }, 'a mail about an account was not sent')
  return posted.problem
}
