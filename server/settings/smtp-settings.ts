import { isIP } from 'node:net'
import Joi from 'joi'

export interface SmtpServer {
  host: string
  port: number
  /** `implicit`: TLS from the first byte; `starttls`: asked for, and demanded; `none`: mail goes in the clear. */
  tls: 'implicit' | 'starttls' | 'none'
  /** Absent: no sign-in. */
  auth?: { user: string; password: string }
}

/** An address with the name that mail programs show. */
export interface MailAddress {
  name: string
  address: string
}

/** Ports of submission: with STARTTLS (RFC 6409), and with TLS from the start (RFC 8314). */
const PORTS = { 'smtp:': 587, 'smtps:': 465 } as const

const EXAMPLE = 'smtps://user:password@mail.example.com or smtp://mail.example.com:587'

/** `SMTP_URL` as a setting, read into an `SmtpServer`. Its messages never repeat the value: it holds a password. */
export const smtpUrl = Joi.string().custom((value: string, helpers) => {
  const read = readUrl(value)
  return typeof read === 'string' ? helpers.message({ custom: `{{#label}} ${read}` }) : read
})

/** @returns the server, or what is wrong */
function readUrl(text: string): SmtpServer | string {
  const url = URL.canParse(text) ? new URL(text) : null
  const port = url && PORTS[url.protocol as keyof typeof PORTS]
  if (!url || !port || !url.hostname) return `must be a URL such as ${EXAMPLE}`
  if (!['', '/'].includes(url.pathname) || url.hash)
    return `must hold nothing behind the port, but for ?tls=off: ${EXAMPLE}`
  const isPlain = url.search === '?tls=off'
  if (url.search !== '' && !(isPlain && url.protocol === 'smtp:'))
    return 'takes ?tls=off, of smtp:// only, and nothing else: write other characters of the password as %3F and so on'
  const auth = authOf(url)
  if (auth === null) return 'holds a user or password that cannot be read: write a % in it as %25'
  if (auth && (!auth.user || !auth.password)) return 'holds a user without a password, or the other way round'
  if (auth && isPlain) return 'would send its password in the clear: take ?tls=off away, or user and password'
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || port,
    tls: url.protocol === 'smtps:' ? 'implicit' : isPlain ? 'none' : 'starttls',
    ...(auth && { auth }),
  }
}

/** @returns undefined without any, null where the encoding is broken */
function authOf({ username, password }: URL): SmtpServer['auth'] | null {
  if (!username && !password) return undefined
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) }
  } catch {
    return null
  }
}

const address = Joi.string().email({ tlds: false, minDomainSegments: 1 }).max(254)

/** `SMTP_FROM` as a setting: an address, or a name and an address in angle brackets. */
export const smtpFrom = Joi.string()
  .max(400)
  .custom((value: string, helpers) => {
    const [, name = '', inBrackets] = /^"?([^"<>\p{Cc}]*?)"?\s*<([^<>\s]+)>$/u.exec(value) ?? []
    const found = inBrackets ?? value
    return address.validate(found).error
      ? helpers.message({ custom: '{{#label}} must be an address, such as Tidemark <alerts@example.com>' })
      : ({ name: name.trim() || 'Tidemark', address: found } satisfies MailAddress)
  })

/** Who mail comes from unless it is set: an address at the host that links lead to. */
export function defaultFrom(baseUrl: string): MailAddress {
  const { hostname } = new URL(baseUrl)
  // No mail server takes the address of a machine without a name.
  const host = isIP(hostname.replace(/^\[(.*)\]$/, '$1')) ? 'localhost' : hostname
  return { name: 'Tidemark', address: `tidemark@${host}` }
}
