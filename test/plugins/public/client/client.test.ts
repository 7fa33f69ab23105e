import t from 'tap'
import {
  ApiError,
  createClient,
  type AlertTransition,
  type Asset,
  type ItemOf,
  type ValidityRule,
} from '../../../../plugins/public/client/index.ts'
import { discover, makeWorld } from '../../../helpers/world.ts'
import { AT_ONCE, failureOf, reply, startBehaviours } from './behaviours.ts'

const TABLES = ['a', 'b', 'c', 'd', 'e']
const world = await makeWorld(
  t,
  TABLES.map(name => `create table ${name} (id int primary key, email text)`),
)
await discover(world)
for (const name of TABLES) await world.source.query(`alter table ${name} add column added int`)
await discover(world)
const baseUrl = `http://127.0.0.1:${world.app.server.info.port}`
const tidemark = createClient({ baseUrl, token: world.tenant.key, retries: 0 })
const source = String(world.asset.id)

t.test('path, query and body reach the server, and the reply is what it sent', async t => {
  const { data: rule } = await tidemark.post('/api/v1/sdk/validity/{asset_id}', {
    path: { asset_id: source },
    body: { table_path: 'public.a', column_name: 'email', rule_type: 'NOT_NULL' },
  })
  t.match(rule, { column_name: 'email', severity: 'warning' })
  const path = { asset_id: source, rule_id: rule.uuid }
  const { data: patched } = await tidemark.patch('/api/v1/sdk/validity/{asset_id}/{rule_id}', {
    path,
    body: { severity: 'critical' },
  })
  t.equal(patched.severity, 'critical')
  const found = await tidemark.get('/api/v1/assets', { query: { search: 'b', tag: undefined } })
  t.ok(found.data.some(({ name }) => name === 'b'))
  const severities = await tidemark.get('/api/v1/sdk/alerts', {
    query: { severity: ['warning', 'critical'] },
  })
  t.strictSame(severities.data.data, [], 'a list is sent as one text')
  const { status, headers, body } = await tidemark.request(
    'get',
    '/api/v1/sdk/validity/{asset_id}/{rule_id}',
    { path },
  )
  t.equal(status, 200)
  t.ok(headers.get('x-request-id'))
  t.equal(body.data.uuid, rule.uuid)
  await tidemark.delete('/api/v1/sdk/validity/{asset_id}/{rule_id}', { path })
  t.equal(
    (await failureOf(ApiError, tidemark.get('/api/v1/sdk/validity/{asset_id}/{rule_id}', { path }))).status,
    404,
  )
})

t.test('a name with any characters is one segment of the path, and never another path', async t => {
  const names = ['a/b', 'a?b#c', 'ü%2f', '..a']
  for (const asset_id of names) {
    const { code } = await failureOf(
      ApiError,
      tidemark.get('/api/v1/assets/{asset_id}', { path: { asset_id } }),
    )
    t.equal(code, 'ASSET_NOT_FOUND', asset_id)
  }
  for (const asset_id of ['', '.', '..'])
    await t.rejects(tidemark.get('/api/v1/assets/{asset_id}', { path: { asset_id } }), TypeError)
})

t.test('a text is sent as it is, and a reply that is none is undefined', async t => {
  const { data } = await tidemark.post('/api/public/contracts/validate', { body: 'not: a contract' })
  t.equal(data?.valid, false)
  const event = { event_name: 'client.tested', anonymous_id: 'client-test' }
  t.equal(await tidemark.post('/api/public/events', { body: event }), undefined)
  t.match(await tidemark.get('/api/public/docs/{path}.md', { path: { path: 'clients' } }), /^# /)
})

t.test('every form of list is read to its end, page by page', async t => {
  const pages: string[] = []
  const client = createClient({
    baseUrl,
    token: world.tenant.key,
    fetch: (url, init) => {
      pages.push(String(url))
      return fetch(url, init)
    },
  })
  const collect = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
    pages.length = 0
    const found = []
    for await (const item of list) found.push(item)
    return found
  }
  const path = { asset_id: source }
  const query = { limit: 2 }
  for (const table of TABLES) {
    const body = { table_path: `public.${table}`, column_name: 'email', rule_type: 'NOT_NULL' } as const
    await tidemark.post('/api/v1/sdk/validity/{asset_id}', { path, body })
  }

  const assets = await collect(
    client.iterate('/api/v1/assets', { query: { ...query, asset_type: ['table'] } }),
  )
  t.strictSame(assets.map(({ name }) => name).sort(), TABLES, 'data and pagination')
  t.equal(pages.length, 3)
  const rules = await collect(client.iterate('/api/v1/sdk/validity/{asset_id}', { path, query }))
  t.equal(rules.length, 5, 'data.items and pagination')
  t.equal(new Set(rules.map(({ uuid }) => uuid)).size, 5)
  const listed = await collect(client.iterate('/api/v1/sdk/assets', { query }))
  t.equal(listed.length, 6, 'data.data and data.pagination')
  const changes = await collect(client.iterate('/api/v1/assets/{asset_id}/schema-changes', { path, query }))
  t.equal(changes.length, 5, 'data.changes and data.has_more')
  const entries = await collect(client.iterate('/api/v1/audit-log', { query }))
  t.equal(new Set(entries.map(({ id }) => id)).size, entries.length, 'next_before')
  t.ok(pages.length > 2)
  const keys = await collect(client.iterate('/api/v1/api-keys', {}))
  t.equal(keys.length, 1, 'data.keys and data.pagination')
  t.equal(pages.length, 1)

  pages.length = 0
  for await (const asset of client.iterate('/api/v1/assets', { query })) if (asset) break
  t.equal(pages.length, 1, 'a loop that ends early asks for no more')
  const two = { actions: ['no'], data: ['yes'], pagination: { has_more: false } }
  const both = await startBehaviours(t, reply(200, {}, { data: two }))
  t.strictSame(await collect(both.client().iterate('/api/v1/assets')), ['yes'], 'data beside another list')
  const other = await startBehaviours(t, reply(200, {}, { data: { columns: [] } }))
  await t.rejects(collect(other.client().iterate('/api/v1/assets')), /no list/)
})

t.test('an error has the status, the code, the fields and the id of the request', async t => {
  const path = { asset_id: 'nope' }
  const missing = await failureOf(ApiError, tidemark.get('/api/v1/assets/{asset_id}', { path }))
  t.match(missing, { name: 'ApiError', status: 404, code: 'ASSET_NOT_FOUND', fields: [] })
  t.match(missing.requestId, /\S/)
  t.match(missing.body, { error: { message: missing.message } })

  const body = {
    table_path: 'public.a',
    column_name: 'email',
    rule_type: 'NOT_NULL',
    severity: 'loud',
  } as never
  const invalid = await failureOf(
    ApiError,
    tidemark.post('/api/v1/sdk/validity/{asset_id}', { path: { asset_id: source }, body }),
  )
  t.match(invalid, { status: 400, code: 'VALIDATION_ERROR', fields: [{ field: 'severity' }] })
  const framework = await failureOf(ApiError, tidemark.get('/api/v1/assets', { query: { limit: 1_000 } }))
  t.match(framework, { status: 422, code: 'VALIDATION_ERROR', fields: [{ field: 'limit' }] })
  t.match(framework.message, 'limit')
  const anonymous = createClient({ baseUrl })
  t.equal((await failureOf(ApiError, anonymous.get('/api/v1/assets'))).code, 'UNAUTHORIZED')
})

t.test('a reply that is not of the server is an error with its text', async t => {
  const { client } = await startBehaviours(
    t,
    response => void response.writeHead(403, { 'content-type': 'text/html' }).end('<h1>proxy</h1>'),
    response => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"cut'),
    response => void response.writeHead(500, { 'content-type': 'application/json' }).end('null'),
  )
  const read = () => failureOf(ApiError, client({ retries: 0 }).get('/api/v1/assets'))
  t.match(await read(), { status: 403, code: 'HTTP_403', body: '<h1>proxy</h1>' })
  t.match(await read(), { status: 200, code: 'HTTP_200', body: '{"cut' })
  t.match(await read(), { status: 500, code: 'HTTP_500' })
})

t.test('a credential may be a function, which is called before each attempt', async t => {
  const { client, requests } = await startBehaviours(t, reply(503, AT_ONCE), reply(200))
  let count = 0
  await client({ token: async () => `token-${++count}`, headers: { 'X-Team': 'data' } }).get('/api/v1/assets')
  t.strictSame(
    requests.map(({ headers }) => [headers.authorization, headers['x-team']]),
    [
      ['Bearer token-1', 'data'],
      ['Bearer token-2', 'data'],
    ],
  )
})

t.test('a POST whose reply was lost is repeated, and makes one thing', async t => {
  const replayed: (string | null)[] = []
  const client = createClient({
    baseUrl,
    token: world.tenant.key,
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      replayed.push(response.headers.get('idempotency-replayed'))
      if (replayed.length === 1) throw new TypeError('the connection broke')
      return response
    },
  })
  const { data } = await client.post('/api/v1/sdk/tags', {
    body: { asset_id: source, name: 'made-once', object_path: 'public.a' },
  })
  t.strictSame(replayed, [null, 'true'])
  const { data: tags } = await tidemark.get('/api/v1/sdk/tags', { query: { asset_id: source } })
  t.strictSame(
    tags.tags.filter(({ name }) => name === 'made-once').map(({ id }) => id),
    [data.id],
  )
})

t.test('the address may have a path, and must be one', async t => {
  const { client, requests } = await startBehaviours(t, reply(200))
  await client().get('/api/v1/assets')
  const host = requests[0]!.headers.host
  await createClient({ baseUrl: `http://${host}/below/` }).get('/api/v1/assets')
  t.strictSame(
    requests.map(({ url }) => url),
    ['/api/v1/assets', '/below/api/v1/assets'],
  )
  t.throws(() => createClient({ baseUrl: 'observe.example.com' }), TypeError)
  t.throws(() => createClient(), TypeError, 'there is no page to take it from')
})

// Compiled and never called: the type check fails where a line is not refused.
export const misuse = [
  // @ts-expect-error -- no such path
  () => tidemark.get('/api/v1/asset'),
  // @ts-expect-error -- this path takes no DELETE
  () => tidemark.delete('/api/v1/assets'),
  // @ts-expect-error -- the path parameter is missing
  () => tidemark.get('/api/v1/assets/{asset_id}'),
  // @ts-expect-error -- the body is missing
  () => tidemark.post('/api/v1/sdk/tags'),
  // @ts-expect-error -- no such query parameter
  () => tidemark.get('/api/v1/assets', { query: { limt: 1 } }),
  // @ts-expect-error -- no such severity
  () => tidemark.get('/api/v1/sdk/alerts', { query: { severity: ['loud'] } }),
  // @ts-expect-error -- the server does not honour a key there
  () => tidemark.post('/api/v1/auth/logout', { idempotencyKey: 'x' }),
  // @ts-expect-error -- not a list
  () => tidemark.iterate('/api/v1/auth/me'),
  // @ts-expect-error -- no such field of a reply
  async () => (await tidemark.get('/api/v1/auth/me')).emial,
]
/** Compiled, too: what an item of each form of list is. */
export const items = (
  asset: ItemOf<'/api/v1/assets'>,
  rule: ItemOf<'/api/v1/sdk/validity/{asset_id}'>,
  entry: ItemOf<'/api/v1/audit-log'>,
  transition: ItemOf<'/api/v1/sdk/alerts/{id}/history'>,
): [Asset, ValidityRule, string, AlertTransition] => [asset, rule, entry.action, transition]
