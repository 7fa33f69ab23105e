import type { AddressInfo, Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { certify, type CertificateKind } from './certificates.ts'

/** A mail as it came in. */
export interface ReceivedMail {
  from: string
  /** The envelope's. */
  to: string[]
  /** By lower-cased names, unfolded and decoded. */
  headers: Record<string, string>
  text: string
  html: string
  /** As it was sent. */
  raw: string
}

/** A mail server with TLS and sign-in. */
export interface MailServer {
  /** For SMTP_URL. */
  url: string
  port: number
  mails: ReceivedMail[]
  /** How many clients tried to sign in. */
  signIns: number
  /** How many clients began to send the text of a mail. */
  begun: number
  /** What to answer to a recipient; null takes it. */
  refuse: (to: string) => { code: number; text: string } | null
  /** Breaks the connection in the middle of a mail. */
  breaksOff: boolean
  /** Resolves when so many mails have come in altogether. */
  received(count: number): Promise<ReceivedMail[]>
}

export interface MailServerOptions {
  /** TLS from the first byte, unless it is `starttls`, or `none` at all. */
  tls?: 'implicit' | 'starttls' | 'none'
  certificate?: CertificateKind
}

interface Teardown {
  teardown(down: () => unknown): unknown
}

export const MAIL_USER = 'tidemark'
export const MAIL_PASSWORD = 'p@ss/w:rd?%'

/** Starts a mail server on a free loopback port; it stops when the test ends. */
export async function startMailServer(
  t: Teardown,
  { tls = 'implicit', certificate = 'trusted' }: MailServerOptions = {},
): Promise<MailServer> {
  const waiting: { count: number; resolve(mails: ReceivedMail[]): void }[] = []
  const mail: MailServer = {
    url: '',
    port: 0,
    mails: [],
    signIns: 0,
    begun: 0,
    refuse: () => null,
    breaksOff: false,
    received: count =>
      new Promise(resolve => {
        if (mail.mails.length >= count) resolve(mail.mails)
        else waiting.push({ count, resolve })
      }),
  }
  const refusal = ({ code, text }: { code: number; text: string }) =>
    Object.assign(new Error(text), { responseCode: code })
  const options: SMTPServerOptions = {
    ...(await certify(certificate)),
    secure: tls === 'implicit',
    authOptional: tls === 'none',
    disabledCommands: tls === 'none' ? ['STARTTLS', 'AUTH'] : [],
    // Looking the client's name up takes seconds where there is no resolver.
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    onAuth({ username, password }, _session, done) {
      mail.signIns += 1
      if (username === MAIL_USER && password === MAIL_PASSWORD) return done(null, { user: username })
      // As hostile as a server can be: its reply repeats what it was sent.
      done(refusal({ code: 535, text: `no such user ${username} with ${password}` }))
    },
    onRcptTo({ address }, _session, done) {
      const refused = mail.refuse(address)
      done(refused && refusal(refused))
    },
    onData(stream, session, done) {
      mail.begun += 1
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        if (mail.breaksOff) breakOff(server)
      })
      stream.on('end', () => {
        if (mail.breaksOff) return
        const { mailFrom, rcptTo } = session.envelope
        mail.mails.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          ...readMail(Buffer.concat(chunks).toString('latin1')),
        })
        done(null)
        for (const { count, resolve } of waiting) if (mail.mails.length >= count) resolve(mail.mails)
      })
    },
  }
  const server = new SMTPServer(options)
  server.on('error', () => undefined)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())))
  mail.port = (server.server.address() as AddressInfo).port
  const credential = `${MAIL_USER}:${encodeURIComponent(MAIL_PASSWORD)}@`
  mail.url =
    tls === 'none'
      ? `smtp://localhost:${mail.port}?tls=off`
      : `${tls === 'implicit' ? 'smtps' : 'smtp'}://${credential}localhost:${mail.port}`
  return mail
}

/** Never the socket beneath TLS: Node crashes when that is destroyed before its handshake has failed. */
function breakOff(server: SMTPServer): void {
  for (const { _socket: socket } of server.connections as Set<{ _socket: Socket }>) socket.destroy()
}

/** Reads a mail of one text and one page. */
function readMail(raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'html' | 'raw'> {
  const { headers, body } = divide(raw)
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1]
  const parts =
    boundary === undefined ? [] : body.split(`--${boundary}`).map(part => divide(part.trimStart()))
  const part = (type: string) => {
    const found = parts.find(one => one.headers['content-type']?.startsWith(type))
    return found ? decoded(found.body, found.headers['content-transfer-encoding']) : ''
  }
  return { headers, text: part('text/plain'), html: part('text/html'), raw }
}

function divide(raw: string): { headers: Record<string, string>; body: string } {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = lines.map(line => {
    const [name = '', ...value] = line.split(':')
    return [name.toLowerCase(), words(value.join(':').trim())] as const
  })
  return { headers: Object.fromEntries(headers), body: rest.join('\r\n\r\n') }
}

/** Undoes the encoded words of RFC 2047. */
function words(text: string): string {
  return text
    .replaceAll(/(=\?[^?]+\?[QB]\?[^?]*\?=)\s+(?==\?)/gi, '$1')
    .replaceAll(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, encoded: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(encoded, 'base64').toString()
        : decoded(encoded.replaceAll('_', ' '), 'quoted-printable'),
    )
}

function decoded(body: string, encoding = '7bit'): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  if (encoding !== 'quoted-printable') return body
  const bytes = body
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
