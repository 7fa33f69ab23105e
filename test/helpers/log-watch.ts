/**
 * Searches the log of every server that tests start for every credential that the test file has used or been given.
 * Credentials are learned from requests and replies by the names of their fields; a test adds others with
 * `addCredential`.
 */
import type { Readable } from 'node:stream'
import type { Server } from '@hapi/hapi'
import { symbols, type Logger } from 'pino'
import { makeLog } from '../../server/telemetry/log.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** Fields whose texts are credentials, in bodies, queries and `connection_config`. */
const CREDENTIAL_FIELD =
  /(password|passphrase|token|secret|^private_key|^credentials_json|^routing_key|^webhook_url|^api_key|^ticket)$/
/** What these fields hold besides credentials: `token_type: bearer`, and one character again and again. */
const NO_CREDENTIAL = /^(bearer|(.)\2*)$/isu
/** Texts that are credentials wherever they stand. */
const CREDENTIAL_TEXT = /^(aa_(live|demo)_|whsec_|eyJ[\w-]+\.eyJ)/
/** Shorter ones occur by chance, or are words: tests sign in with `x` and `wrong`. */
const MIN_LENGTH = 10
/** Characters of a log that are kept before they are searched. */
const MAX_KEPT = 16_000_000

/** Credentials of this process's test file, each with the forms in which it could be logged. */
const credentials = new Map<string, { name: string; forms: string[] }>()

const ignored = new Set<string>()

/** Words that are no credentials wherever they stand: those with which fuzzing fills every field and path. */
export function ignoreCredentials(words: readonly string[]): void {
  for (const word of words) ignored.add(word)
}

/** Adds a credential that no field of a request or a reply shows. */
export function addCredential(text: string, name = 'credential'): void {
  if (text.length < MIN_LENGTH || NO_CREDENTIAL.test(text) || ignored.has(text)) return
  if (credentials.has(text)) return
  credentials.set(text, { name, forms: formsOf(text) })
}

/** Learns the credentials in a JSON value: those in fields of such names, and those that their form identifies. */
export function learnCredentials(value: unknown, name = ''): void {
  if (typeof value === 'string') {
    if (CREDENTIAL_FIELD.test(name) || CREDENTIAL_TEXT.test(value)) addCredential(value, name)
    return
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return
  for (const [key, item] of Object.entries(value)) {
    // Where a webhook keeps them: `auth: {type, value}` and `headers: {name: value}`.
    const isHeld = (name === 'auth' && key === 'value') || name === 'headers'
    learnCredentials(item, isHeld ? `${key}_secret` : Array.isArray(value) ? name : key)
  }
}

/** A text as it may stand in a log: plain, escaped, percent-encoded, as base64 at any offset, hex, or a list of bytes. */
export function formsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  const base64 = [0, 1, 2].map(offset => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    // Without the characters that neighbours have a part in.
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
  })
  const escaped = JSON.stringify(text).slice(1, -1)
  return [
    ...new Set([
      ...[text, escaped, encodeURIComponent(text), bytes.toString('hex'), [...bytes].join(',')],
      ...base64,
      ...base64.map(form => form.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
  ]
}

/** The log of one server, to be searched at its end. */
export class LogWatch {
  #kept: string[] = []
  #size = 0
  #leaks = new Set<string>()

  /** Takes lines of a log; as a pino destination. */
  write(line: string): void {
    this.#kept.push(line)
    this.#size += line.length
    if (this.#size > MAX_KEPT) this.#search()
  }

  /** @throws an error that names each credential found, never its text */
  check(): void {
    this.#search()
    if (this.#leaks.size > 0) throw new Error(`The log holds credentials: ${[...this.#leaks].join('; ')}`)
  }

  #search(): void {
    const text = this.#kept.join('')
    for (const [credential, { name, forms }] of credentials) {
      const form = forms.findIndex(each => text.includes(each))
      if (form >= 0) this.#leaks.add(describeLeak(text, forms[form]!, { credential, name }))
    }
    this.#kept = []
    this.#size = 0
  }
}

/** The line around a leak, without any form of the credential. */
function describeLeak(
  text: string,
  form: string,
  { credential, name }: { credential: string; name: string },
): string {
  const at = text.indexOf(form)
  const line = text.slice(text.lastIndexOf('\n', at) + 1, text.indexOf('\n', at) >>> 0)
  const hidden = formsOf(credential).reduce((rest, each) => rest.replaceAll(each, '<here>'), line)
  return `${name || 'credential'} in ${hidden.slice(0, 600)}`
}

/**
 * Makes a log whose lines are searched by the `check` of its watch. Everything that is logged is searched, also below the
 * level that is shown; `TEST_LOG` names a level from which lines are printed.
 * @param given a logger of the test's own, of which only that is searched which it writes
 */
export function openWatchedLog(given?: Logger): { log: Logger; watch: LogWatch } {
  const watch = new LogWatch()
  if (given) {
    const stream = given[symbols.streamSym as never] as { write(line: string): void }
    const write = stream.write.bind(stream)
    stream.write = line => {
      watch.write(line)
      return write(line)
    }
    return { log: given, watch }
  }
  const shown = process.env.TEST_LOG
  const log = makeLog(
    { logLevel: (shown ?? 'debug') as 'debug', logFormat: 'json' },
    {
      write(line) {
        watch.write(line)
        if (shown) process.stdout.write(line)
      },
    },
  )
  return { log, watch }
}

/** A log that is searched when the test ends. */
export function watchedLog(t: Teardown): Logger {
  const { log, watch } = openWatchedLog()
  t.teardown(() => watch.check())
  return log
}

/**
 * Checks what a process has logged, which is its standard error, when the test ends. Credentials that it prints to its
 * standard output are learned.
 */
export function watchProcess(
  t: Teardown,
  { stdout, stderr }: { stdout?: Readable | null; stderr: Readable },
): void {
  const watch = new LogWatch()
  t.teardown(() => watch.check())
  stderr.on('data', chunk => watch.write(String(chunk)))
  stdout?.on('data', chunk => {
    for (const [key] of String(chunk).matchAll(/\baa_(live|demo)_\w+/g)) addCredential(key, 'printed key')
    for (const [, password = ''] of String(chunk).matchAll(/^sign-in: \S+ (\S+)$/gm))
      addCredential(password, 'printed password')
  })
}

/** Learns the credentials of all requests to a server and of its replies. */
export function watchCredentials(server: Server): void {
  server.events.on('response', ({ headers, query, payload, response }) => {
    const [, token] = /^bearer +(\S+)$/i.exec(String(headers.authorization ?? '')) ?? []
    if (token) addCredential(token, 'authorization')
    learnCredentials(query)
    learnCredentials(payload)
    if ('source' in response) learnCredentials(response.source)
  })
}
