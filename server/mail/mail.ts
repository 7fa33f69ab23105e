import { createTransport } from 'nodemailer'
import type { Config } from '../settings/config.ts'
import type { MailAddress, SmtpServer } from '../settings/smtp-settings.ts'

export interface Letter {
  to: string
  subject: string
  text: string
  html: string
  /** With its angle brackets: the same whenever the same mail is sent again. */
  messageId: string
  /** The mail that it answers, likewise. */
  inReplyTo?: string
  isUrgent?: boolean
  headers?: Record<string, string>
}

export interface Posted {
  to: string
  /** The mail server took it over. */
  isTaken: boolean
  /** The code of the mail server's reply; null when there was none. */
  code: number | null
  /** What the mail server said, on one line. */
  answer: string | null
  /** Why it failed; null when the mail server accepted it. */
  errorClass: string | null
  /** One sentence that a person can act on; null when it was taken. */
  problem: string | null
}

export interface Mail {
  from: MailAddress
  /**
   * Hands letters over, several at a time once the first got through; if that one shows that nothing gets through,
   * the others are not tried. Never rejects.
   * @param options.timeoutMs after which what was not handed over counts as failed; 25 seconds unless said
   * @returns what became of each, in their order
   */
  send(letters: readonly Letter[], options: { signal: AbortSignal; timeoutMs?: number }): Promise<Posted[]>
  close(): void
}

/** Milliseconds for all letters of one call: less than an attempt may take. */
const SEND_TIMEOUT_MS = 25_000
/** Milliseconds to a connection that has said hello. */
const CONNECT_TIMEOUT_MS = 10_000
/** Milliseconds after which an idle connection is ended, long before a mail server would do so. */
const IDLE_TIMEOUT_MS = 5_000
/** Connections at once of one process; many mail servers refuse more than ten of one sender. */
const MAX_CONNECTIONS = 5
/** Characters of an answer that are kept. */
const LONGEST_ANSWER = 500

/** @returns null where the settings name no mail server */
export function openMail({ smtpUrl, smtpFrom }: Pick<Config, 'smtpUrl' | 'smtpFrom'>): Mail | null {
  if (!smtpUrl) return null
  const transport = createTransport({
    ...connectionTo(smtpUrl),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const post = (letter: Letter, limit: AbortSignal, isStopped: () => boolean): Promise<Posted> =>
    transport
      .sendMail({ ...composed(letter), from: smtpFrom, signal: limit })
      .then(({ response }) => taken(letter, response))
      .catch((error: SmtpError) => refused(letter, error, isStopped()))
  return {
    from: smtpFrom,
    async send([first, ...rest], { signal, timeoutMs = SEND_TIMEOUT_MS }) {
      if (!first) return []
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      const isStopped = () => signal.aborted
      // A wrong password that is tried once for each letter locks the account.
      const opened = await post(first, limit, isStopped)
      if (!opened.isTaken && opened.code === null)
        return [opened, ...rest.map(({ to }) => ({ ...opened, to }))]
      return [opened, ...(await Promise.all(rest.map(letter => post(letter, limit, isStopped))))]
    },
    close: () => transport.transporter.close?.({ force: true }),
  }
}

function connectionTo({ host, port, tls, auth }: SmtpServer) {
  return {
    pool: true as const,
    host,
    port,
    secure: tls === 'implicit',
    // Without it, an attacker in between could downgrade the connection to plain text.
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    tls: { minVersion: 'TLSv1.2' as const },
    ...(auth && { auth: { user: auth.user, pass: auth.password } }),
    maxConnections: MAX_CONNECTIONS,
    // A letter that broke off may have arrived: the caller decides whether to send it again.
    maxRequeues: 0,
    idleTimeout: IDLE_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SEND_TIMEOUT_MS,
  }
}

/** Suppresses automatic replies (RFC 3834). */
function composed({ inReplyTo, isUrgent, headers, ...letter }: Letter) {
  return {
    ...letter,
    ...(inReplyTo && { inReplyTo, references: inReplyTo }),
    ...(isUrgent && { priority: 'high' as const }),
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
  }
}

interface SmtpError extends Error {
  code?: string
  /** The code of the socket or TLS error behind it. */
  originalCode?: string
  response?: string
  responseCode?: number
  command?: string
}

function taken({ to }: Letter, response: string): Posted {
  return { to, isTaken: true, code: 250, answer: oneLine(response), errorClass: null, problem: null }
}

function refused({ to }: Letter, error: SmtpError, isStopped: boolean): Posted {
  const failed = { to, isTaken: false, code: null, answer: null }
  if (error.code === 'EABORT')
    return isStopped
      ? { ...failed, errorClass: 'other', problem: 'It was cut short because the service stopped' }
      : { ...failed, errorClass: 'timeout', problem: 'The mail server took too long' }
  // What a server says to a failed sign-in is for the operator, and could repeat what was sent.
  const { errorClass, problem } = CAUSES.find(({ when }) => when(error)) ?? UNKNOWN
  if (errorClass !== 'status') return { ...failed, errorClass, problem }
  const answer = oneLine(error.response ?? '')
  return {
    ...failed,
    code: error.responseCode ?? null,
    answer,
    errorClass,
    problem: `The mail server refused ${to}: ${answer}`,
  }
}

const isTlsCode = (code: string) => /CERT|^ERR_(TLS|SSL)|UNABLE_TO_|SELF_SIGNED|^EPROTO$/.test(code)

/** Why a letter was not taken; the first that fits counts. */
const CAUSES: { when(error: SmtpError): boolean; errorClass: string; problem: string }[] = [
  {
    when: ({ code }) => code === 'EAUTH' || code === 'ENOAUTH',
    errorClass: 'configuration',
    problem:
      'The mail server did not take the user and password of SMTP_URL: the operator has to correct them',
  },
  {
    when: ({ code = '', originalCode = '' }) => code === 'ETLS' || isTlsCode(originalCode),
    errorClass: 'tls',
    problem:
      'No safe connection to the mail server: its certificate is not valid for its name, or it speaks no TLS at this port',
  },
  {
    when: ({ code }) => code === 'EDNS',
    errorClass: 'dns',
    problem: 'The name of the mail server was not found: the operator has to look at SMTP_URL',
  },
  {
    when: ({ code }) => code === 'ETIMEDOUT',
    errorClass: 'timeout',
    problem: 'The mail server did not answer in time',
  },
  {
    when: ({ responseCode }) => responseCode !== undefined && responseCode >= 400,
    errorClass: 'status',
    problem: '',
  },
  {
    when: ({ code }) => code === 'ECONNECTION' || code === 'ESOCKET',
    errorClass: 'connect',
    problem: 'The mail server could not be reached, or closed the connection',
  },
  {
    when: ({ code }) => code === 'EPROTOCOL' || code === 'EENVELOPE' || code === 'EMESSAGE',
    errorClass: 'protocol',
    problem: 'The mail server answered what no mail server should',
  },
]

const UNKNOWN = { errorClass: 'other', problem: 'The mail could not be sent' }

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, LONGEST_ANSWER)
