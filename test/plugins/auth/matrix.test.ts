import { randomInt, randomUUID } from 'node:crypto'
import type { ServerInjectResponse } from '@hapi/hapi'
import t from 'tap'
import { refusesUndeclared } from '../../../server/http/replies.ts'
import { share } from '../../helpers/share.ts'
import { PARAMETERS, ROUTES, type Access, type Classified, type Kind } from './matrix-routes.ts'
import { makeMatrix, type Holding } from './matrix-world.ts'

const { app, ours, theirs, ended, restore, limit } = await makeMatrix(t)

/** Everything that may be sent as a credential. */
const CREDENTIALS: Record<string, string | undefined> = {
  none: undefined,
  ...ours.credentials,
  ...ended,
  'their owner': theirs.credentials.owner,
  'their admin key': theirs.credentials['admin key'],
}
const SCOPES: Record<string, number> = { viewer: 0, member: 1, 'read-only key': 0, 'read-write key': 1 }
const NEEDS: Partial<Record<Access, number>> = {
  write: 1,
  lineage: 1,
  sessionWrite: 1,
  admin: 2,
  users: 2,
  keys: 2,
}
const OPEN: Access[] = [
  'open',
  'login',
  'register',
  'tickets',
  'passwordResets',
  'resetPassword',
  'invitation',
  'oauth',
  'demo',
  'magic',
  'events',
  'beta',
  'contracts',
  'charts',
]
const LIMITED: Access[] = [
  ...OPEN.slice(1),
  'read',
  'write',
  'admin',
  'sessionLimited',
  'sessionCounted',
  'sessionWrite',
  'lineage',
]

/** What the class of a route answers a credential: a refusal, or 0 for who may. */
function refusal(access: Access, credential: string): 0 | 401 | 403 {
  if (OPEN.includes(access)) return 0
  if (credential === 'none' || credential in ended) return 401
  const needsSession = access.startsWith('session') || access === 'users'
  if (needsSession && credential.endsWith('key')) return 403
  return (SCOPES[credential] ?? 2) < (NEEDS[access] ?? 0) ? 403 : 0
}

/** Whose ids a request has. */
type Whose = 'own' | 'theirs' | 'random' | 'malformed'

function idOf(kind: Kind, whose: Whose): string {
  if (whose === 'own') return ours.ids[kind]
  if (whose === 'theirs') return theirs.ids[kind]
  if (whose === 'malformed') return 'not-an-id'
  const number = String(randomInt(100_000, 999_999))
  if (kind.endsWith('Number')) return number
  // Recommendations hold the id of their table without its hyphens.
  const digits = randomUUID().replaceAll('-', '')
  return ours.ids[kind].replace(/[0-9a-f-]{36}/, randomUUID()).replace(/[0-9a-f]{32}/, digits)
}

/** A request of a route. `sent` are the ids in it, in order; `places` says where each one stands. */
function compose(name: string, row: Classified, choose: (place: string) => Whose) {
  const [method, path] = name.split(' ') as [string, string]
  const sent: string[] = []
  const places: string[] = []
  const at = (where: string) => (kind: Kind) => {
    const place = `${where} ${places.length}`
    places.push(place)
    const id = idOf(kind, choose(place))
    sent.push(id)
    return id
  }
  const filled = path.replaceAll(/\{(\w+)[*?]?\}/g, (_, parameter: string) => {
    const given = row.at?.[parameter] ?? PARAMETERS[parameter]
    if (given === undefined)
      throw new Error(`${name}: say in its row what {${parameter}} is, as at: { ${parameter}: … }`)
    return given.startsWith('=') ? given.slice(1) : encodeURIComponent(at('path')(given as Kind))
  })
  const query = new URLSearchParams(row.query?.(at('query'))).toString()
  const payload = row.body && JSON.stringify(row.body(at('body')))
  return { name, method, url: filled + (query && `?${query}`), payload, sent, places }
}

type Composed = ReturnType<typeof compose>

/** Replies of limited routes without the headers of the limit. */
const headless = new Set<string>()
const LIMIT_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

async function send({ name, method, url, payload }: Omit<Composed, 'sent' | 'places'>, credential: string) {
  const token = CREDENTIALS[credential]
  const reply = await app.server.inject({
    method,
    url,
    headers: {
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(payload !== undefined && { payload }),
  })
  const { access } = ROUTES[name] as Classified
  const isCounted = LIMITED.includes(access) && refusal(access, credential) !== 401
  if (isCounted && !LIMIT_HEADERS.every(header => reply.headers[header] !== undefined))
    headless.add(`${name} by ${credential}: ${reply.statusCode}`)
  return reply
}

/** All that a reply shows, except what differs between any two requests and for the ids that were sent. */
function visibleReply(reply: ServerInjectResponse, { sent }: Composed): string {
  const { date: _date, 'x-request-id': requestId, ...headers } = reply.headers
  delete headers['x-ratelimit-reset']
  // Node closes a connection whose body was not read.
  delete headers.connection
  // A number has as many digits as it has.
  delete headers['content-length']
  const text = sent.reduce(
    (body, id, index) => body.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), `<id ${index}>`),
    reply.payload,
  )
  return JSON.stringify([reply.statusCode, headers, text.replaceAll(String(requestId), '<request>')])
}

/** What a reply reveals of a company that was not in the request. */
function shown(
  { payload }: ServerInjectResponse,
  { companyId, ids }: Holding,
  sent: string[] = [],
): string[] {
  const said = (id: string) => sent.some(each => each.includes(id) || id.includes(each))
  const found = [companyId, ...Object.values(ids)].map(id => id.slice(-36)).filter(id => id.length === 36)
  return found.filter(id => payload.includes(id) && !said(id))
}

const isDryRun = ({ url }: Composed) => url.endsWith('/dry-run')

/** Sends, and puts back what it has changed. */
async function tryOut(request: Composed, credential: string): Promise<ServerInjectResponse> {
  const reply = await send(request, credential)
  if (request.method !== 'GET' && !isDryRun(request) && reply.statusCode < 400) await restore()
  return reply
}

const routes = app.server.table().map(({ method, path }) => `${method.toUpperCase()} ${path}`)
const known = share(
  routes.filter(name => ROUTES[name]).map(name => [name, ROUTES[name]] as [string, Classified]),
  'routes by credentials',
)

t.test('every route is classified, and none that is not there', async t => {
  for (const name of routes) {
    t.ok(
      ROUTES[name],
      `${name} is not classified: add a row to ROUTES in test/plugins/auth/matrix-routes.ts that says who may call it, ` +
        'what its path, query and body hold ids of, and a body that is good',
    )
  }
  for (const name of Object.keys(ROUTES)) t.ok(routes.includes(name), `${name} is classified and gone`)
})

t.test(
  'each credential is refused what it may not, whatever ids it sends, and alike for all of them',
  async t => {
    for (const [name, row] of known) {
      for (const credential of Object.keys(CREDENTIALS)) {
        const expected = refusal(row.access, credential)
        if (expected === 0) continue
        const requests = (['own', 'theirs', 'random', 'malformed'] as const).map(whose =>
          compose(name, row, () => whose),
        )
        const broken = { ...(requests[2] as Composed), payload: '{"unheard_of":1}' }
        if (broken.method === 'GET') broken.url += `${broken.url.includes('?') ? '&' : '?'}unheard_of=1`
        const replies = await Promise.all([...requests, broken].map(request => send(request, credential)))
        const statuses = replies.map(({ statusCode }) => statusCode)
        t.strictSame(statuses, Array(5).fill(expected), `${name} by ${credential}`)
        const answers = replies.map((reply, index) => visibleReply(reply, requests[index] ?? broken))
        t.strictSame(
          answers,
          Array(5).fill(answers[0]),
          `${name} answers ${credential} the same for every id`,
        )
      }
    }
  },
)

t.test('who may gets at what is their own', async t => {
  for (const [name, row] of known) {
    const request = compose(name, row, () => 'own')
    for (const credential of Object.keys(CREDENTIALS)) {
      if (refusal(row.access, credential) !== 0 || credential.startsWith('their')) continue
      if (OPEN.includes(row.access) && !['none', 'owner', 'revoked key'].includes(credential)) continue
      const reply = await tryOut(request, credential)
      const isAsSaid = row.answers ? reply.statusCode === row.answers : reply.statusCode < 400
      t.ok(isAsSaid, `${name} by ${credential} gave ${reply.statusCode}: ${reply.payload.slice(0, 300)}`)
      t.strictSame(shown(reply, theirs), [], `${name} shows nothing of theirs`)
    }
  }
})

/** The places of ids, each alone and all together. */
function combinations(name: string, row: Classified): string[][] {
  const { places } = compose(name, row, () => 'own')
  return places.length > 1 ? [...places.map(place => [place]), places] : places.length ? [places] : []
}

t.test("another company's id is as one that never was, in path, query and body", async t => {
  for (const [name, row] of known) {
    for (const places of combinations(name, row)) {
      const ask = (whose: Whose) => compose(name, row, place => (places.includes(place) ? whose : 'own'))
      // What is there is asked alike for every scope: one of each kind, with the most and with the least rights.
      for (const credential of row.access === 'read' ? ['owner', 'read-only key'] : ['owner', 'admin key']) {
        if (refusal(row.access, credential) !== 0) continue
        const [foreign, random, malformed] = [ask('theirs'), ask('random'), ask('malformed')]
        const replies = [
          await tryOut(foreign, credential),
          await tryOut(random, credential),
          await tryOut(malformed, credential),
        ] as [ServerInjectResponse, ServerInjectResponse, ServerInjectResponse]
        const what = `${name} (${places.join(', ')}) by ${credential}`
        t.equal(
          visibleReply(replies[0], foreign),
          visibleReply(replies[1], random),
          `${what}: theirs as a random one`,
        )
        const statuses = replies.map(({ statusCode }) => statusCode)
        const [isInPath, isBeside] = [true, false].map(is =>
          places.some(place => place.startsWith('path') === is),
        )
        if (isInPath) t.strictSame(statuses.slice(0, 2), [404, 404], what)
        // What is wrong with a body comes first.
        const isMalformed = isInPath && !isBeside ? [404] : [200, 400, 404, 422]
        t.ok(isMalformed.includes(Number(statuses[2])), `${what} gave ${statuses[2]} for a malformed id`)
        if (!isInPath) t.ok([200, 400, 404, 422].includes(Number(statuses[0])), `${what} gave ${statuses[0]}`)
        if (row.body && !row.isPartial) t.ok(Number(statuses[0]) >= 400, `${what} takes no id of theirs`)
        t.strictSame(shown(replies[0], theirs, foreign.sent), [], `${what} shows nothing of theirs`)
      }
    }
  }
})

t.test('our ids are nothing to the other company', async t => {
  for (const [name, row] of known) {
    const mine = compose(name, row, () => 'own')
    const random = compose(name, row, () => 'random')
    for (const credential of ['their owner', 'their admin key']) {
      if (OPEN.includes(row.access) || refusal(row.access, credential) !== 0) continue
      const reply = await tryOut(mine, credential)
      if (mine.sent.length > 0) {
        const other = await tryOut(random, credential)
        t.equal(visibleReply(reply, mine), visibleReply(other, random), `${name} by ${credential}`)
      }
      t.strictSame(shown(reply, ours, mine.sent), [], `${name} shows ${credential} nothing of ours`)
    }
  }
})

t.test('bad input comes before what is not there', async t => {
  for (const [name, row] of known.filter(([, { access }]) => !OPEN.includes(access))) {
    const request = compose(name, row, place => (place.startsWith('path') ? 'random' : 'own'))
    if (!refusesUndeclared(request.url.split('?')[0] as string)) continue
    const url = `${request.url}${request.url.includes('?') ? '&' : '?'}unheard_of=1`
    const reply = await send({ ...request, url }, 'owner')
    t.ok([400, 422].includes(reply.statusCode), `${name} with a bad query gave ${reply.statusCode}`)
    // A contract that is not valid is no error of the request: the reply says what is wrong with it.
    const isContract = /^POST \/api\/v1\/contracts\/(validate|.*\/(plan|apply))$/.test(name)
    if (request.method === 'GET' || isContract) continue
    const body = await send({ ...request, payload: '{"unheard_of":1}' }, 'owner')
    t.ok([400, 422].includes(body.statusCode), `${name} with a bad body gave ${body.statusCode}`)
  }
})

t.test('limits come after who it is and before what they may', async t => {
  await limit(true)
  t.teardown(() => limit(false))
  for (const [name, row] of known) {
    const request = compose(name, row, () => 'random')
    for (const credential of ['none', 'revoked key', 'viewer', 'read-only key', 'owner', 'admin key']) {
      const refused = refusal(row.access, credential)
      const { statusCode, headers } = await tryOut(request, credential)
      const what = `${name} by ${credential} past the limit`
      if (refused === 401) t.equal(statusCode, 401, what)
      else if (LIMITED.includes(row.access)) {
        t.equal(statusCode, 429, what)
        t.ok(Number(headers['retry-after']) >= 1, `${what} says when to come again`)
      } else if (row.answers !== 401 && row.access !== 'open') t.not(statusCode, 429, what)
    }
  }
})

t.test('every reply of a limited route has the headers of the limit', async t => {
  t.strictSame([...headless], [])
})
