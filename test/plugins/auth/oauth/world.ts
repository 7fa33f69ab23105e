import { createServer } from 'node:https'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import got from 'got'
import jwt from 'jsonwebtoken'
import Provider from 'oidc-provider'
import { certify } from '../../../helpers/certificates.ts'
import { startReceiver, type Receiver } from '../../../helpers/receiver.ts'
import type { TestServer } from '../../../helpers/server.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** Where the server of the tests says that it is. */
export const BASE = 'https://tidemark.example.com'
export const callbackOf = (name: string, base = BASE) => `${base}/api/v1/oauth/${name}/callback`

/** A person with an account at a provider. */
export interface Person {
  email?: string
  email_verified?: boolean | string
  name?: string
}

/** A new person. */
export function newcomer(more: Person = {}): { login: string; email: string; person: Person } {
  const login = `p-${randomUUID().slice(0, 8)}`
  const email = `${login}@example.com`
  return { login, email, person: { email, email_verified: true, name: 'Ada Lovelace', ...more } }
}

/**
 * A real OpenID Connect issuer on loopback, over TLS by this process's own authority.
 * @param base where the service says that it is
 */
export async function startIssuer(t: Teardown, names: readonly string[], base = BASE) {
  const people = new Map<string, Person>()
  const server = createServer(await certify())
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `https://localhost:${(server.address() as AddressInfo).port}`
  const provider = quietly(
    () =>
      new Provider(issuer, {
        clients: names.map(name => ({
          client_id: `tidemark-${name}`,
          client_secret: `secret of ${name} + % &`,
          redirect_uris: [callbackOf(name, base)],
          token_endpoint_auth_method: 'client_secret_post',
        })),
        findAccount: (_context, accountId) => ({
          accountId,
          claims: () => ({ sub: accountId, ...people.get(accountId) }) as never,
        }),
        claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
        cookies: { keys: [randomUUID()] },
        pkce: { required: () => true },
      }),
  )
  const answer = provider.callback()
  server.on('request', (request, response) => void answer(request, response))
  const settings = Object.fromEntries(
    names.flatMap(name => [
      [`OAUTH_${name.toUpperCase()}_ISSUER`, issuer],
      [`OAUTH_${name.toUpperCase()}_CLIENT_ID`, `tidemark-${name}`],
      [`OAUTH_${name.toUpperCase()}_CLIENT_SECRET`, `secret of ${name} + % &`],
    ]),
  )
  return { issuer, people, settings, provider }
}

/** The package says on the console that its sign-in page is meant for development. */
function quietly<T>(work: () => T): T {
  const { warn, info } = console
  Object.assign(console, { warn: () => undefined, info: () => undefined })
  try {
    return work()
  } finally {
    Object.assign(console, { warn, info })
  }
}

/** An issuer that answers as a test wants it to: by default as an honest one does. */
export async function startForger(t: Teardown, clientId: string) {
  const receiver: Receiver = await startReceiver(t)
  const issuer = receiver.url
  const honest = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const other = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const forger = {
    issuer,
    receiver,
    /** What the next authorization asked for. */
    nonce: '',
    claims: {} as Record<string, unknown>,
    isOtherKey: false,
    metadata: {} as Record<string, unknown>,
    /** Answers by path, in place of the honest ones. */
    answers: new Map<
      string,
      (response: Parameters<Exclude<Parameters<Receiver['answer']>[0], number>>[1]) => void
    >(),
    reset() {
      Object.assign(forger, { claims: {}, isOtherKey: false, metadata: {} })
      forger.answers.clear()
    },
  }
  const documents: Record<string, () => object> = {
    '/.well-known/openid-configuration': () => ({
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: ['RS256'],
      ...forger.metadata,
    }),
    '/jwks': () => ({
      keys: [{ ...honest.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }],
    }),
    '/token': () => ({
      access_token: 'canary-access-token',
      token_type: 'bearer',
      id_token: jwt.sign(
        {
          iss: issuer,
          aud: clientId,
          sub: 'forged',
          nonce: forger.nonce,
          exp: Math.floor(Date.now() / 1_000) + 60,
          ...forger.claims,
        },
        (forger.isOtherKey ? other : honest).privateKey,
        { algorithm: 'RS256', keyid: 'one' },
      ),
    }),
  }
  receiver.answer(({ path }, response) => {
    const own = forger.answers.get(path)
    if (own) return own(response)
    const document = documents[path]
    response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(document?.() ?? {}))
  })
  return forger
}

interface Page {
  url: string
  status: number
  headers: Record<string, unknown>
  text: string
  /** The target of a redirect. */
  location?: string
}

interface Cookie {
  name: string
  value: string
  path: string
  host: string
}

/** A browser with cookies of its own: the server's addresses are injected, all others are asked for over TLS. */
export class Browser {
  readonly app: TestServer
  readonly accept: string
  cookies: Cookie[] = []
  /** The lines that set them. */
  readonly set: string[] = []

  constructor(app: TestServer, accept = '*/*') {
    this.app = app
    this.accept = accept
  }

  /** One request. */
  async ask(url: string, form?: Record<string, string>): Promise<Page> {
    const { host, pathname, search, origin } = new URL(url)
    const cookie = this.cookies
      .filter(kept => kept.host === host && pathname.startsWith(kept.path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
    const headers = { accept: this.accept, ...(cookie && { cookie }) }
    if (origin === BASE) {
      await this.app.query('delete from rate_windows')
      const reply = await this.app.server.inject({ url: pathname + search, headers })
      return this.#page(url, reply.statusCode, reply.headers, reply.payload)
    }
    const reply = await got(url, {
      headers,
      followRedirect: false,
      throwHttpErrors: false,
      ...(form && { method: 'POST', form }),
    })
    return this.#page(url, reply.statusCode, reply.headers, reply.body)
  }

  /** What a page of the service asks it with a session: cookies are sent and kept. `path` follows /api/v1. */
  async call(method: string, path: string, token: string, body?: object) {
    await this.app.query('delete from rate_windows')
    const url = `${BASE}/api/v1${path}`
    const reply = await this.app.server.inject({
      method: method as 'POST',
      url: `/api/v1${path}`,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { payload: body }),
    })
    this.#page(url, reply.statusCode, reply.headers, reply.payload)
    return {
      status: reply.statusCode,
      headers: reply.headers,
      body: reply.payload === '' ? undefined : (JSON.parse(reply.payload) as Record<string, unknown>),
    }
  }

  /** Follows redirects and signs in where it is asked to, until there is a page to look at, or one that ends it. */
  async go(url: string, login: string, isEnd: (url: string) => boolean = () => false): Promise<Page> {
    let page = await this.ask(url)
    for (let step = 0; step < 20; step++) {
      if (page.location !== undefined) {
        if (isEnd(page.location)) return page
        page = await this.ask(page.location)
      } else if (page.text.includes('name="prompt" value="login"')) {
        page = await this.ask(page.url, { prompt: 'login', login, password: 'x' })
      } else if (page.text.includes('name="prompt" value="consent"')) {
        page = await this.ask(page.url, { prompt: 'consent' })
      } else return page
    }
    throw new Error(`${url} leads on and on`)
  }

  /** Begins a sign-in, and signs in at the provider. @returns the address that the provider sends the browser to */
  async callback(name: string, login: string, query = ''): Promise<URL> {
    const page = await this.go(authorizeOf(name) + query, login, next => next.startsWith(callbackOf(name)))
    if (page.location === undefined) throw new Error(`${page.url}: ${page.status} ${page.text}`)
    return new URL(page.location)
  }

  #page(url: string, status: number, headers: Record<string, unknown>, text: string): Page {
    const { host } = new URL(url)
    for (const line of [headers['set-cookie'] ?? []].flat() as string[]) {
      this.set.push(line)
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      const path = /;\s*path=([^;]+)/i.exec(line)?.[1] ?? '/'
      this.cookies = this.cookies.filter(
        kept => kept.name !== name || kept.path !== path || kept.host !== host,
      )
      if (value && !/max-age=0/i.test(line)) this.cookies.push({ name, value, path, host })
    }
    const to = headers.location as string | undefined
    return { url, status, headers, text, ...(to !== undefined && { location: new URL(to, url).href }) }
  }
}

export function authorizeOf(name: string): string {
  return `${BASE}/api/v1/oauth/${name}/authorize`
}
