import t from 'tap'
import { startServer } from '../../helpers/server.ts'
import { startSource } from '../../helpers/source.ts'

const app = await startServer(t)
const tenant = await app.signUp()
const PATHS = ['/api/v1/sdk/alerts', '/api/v1/sdk/alerts/inbox', '/api/v1/sdk/alerts/summary']

async function get(path: string, headers: Record<string, string> = {}, key = tenant.key) {
  const reply = await app.server.inject({
    url: path,
    headers: { authorization: `Bearer ${key}`, ...headers },
  })
  return { status: reply.statusCode, tag: reply.headers.etag as string | undefined, reply }
}

t.test('an unchanged reply of a polled route is 304 without a body', async t => {
  for (const path of PATHS) {
    const first = await get(path)
    t.match(first.tag, /^W\/"[\w-]{22}"$/, path)
    const again = await get(path, { 'if-none-match': first.tag! })
    t.match([again.status, again.reply.payload, again.tag], [304, '', first.tag], path)
    t.equal((await get(path, { 'if-none-match': 'W/"another"' })).status, 200, path)
  }
})

t.test('a changed one has another tag', async t => {
  const before = await Promise.all(PATHS.map(path => get(path)))
  const source = await startSource(t)
  await source.query('create table orders (id int); insert into orders values (null)')
  const payload = { name: 'shop', source_type: 'postgresql', connection_config: source.config }
  const made = await tenant.ask('POST', '/api/v1/sdk/assets', payload)
  const { id } = made.body.data
  const headers = { prefer: 'wait=60', authorization: `Bearer ${tenant.key}` }
  await app.server.inject({ method: 'POST', url: `/api/v1/sdk/assets/${id}/discover`, headers, payload: {} })
  const rule = { rule_type: 'NOT_NULL', table_path: 'orders', column_name: 'id' }
  const { body } = await tenant.ask('POST', `/api/v1/sdk/validity/${id}`, rule)
  await tenant.ask('POST', `/api/v1/sdk/validity/${id}/${body.data.uuid}/check`, {})
  for (const [n, path] of PATHS.entries())
    t.equal((await get(path, { 'if-none-match': before[n]!.tag! })).status, 200, path)
})

t.test('the tag is that of the content, however it is sent', async t => {
  const [path] = PATHS
  const { tag } = await get(path!)
  const indented = await get(path!, { accept: 'application/json; indent=2' })
  t.equal(indented.tag, tag)
  const { headers } = await fetch(`http://127.0.0.1:${app.server.info.port}${path}`, {
    headers: { authorization: `Bearer ${tenant.key}`, 'accept-encoding': 'gzip' },
  })
  t.strictSame([headers.get('content-encoding'), headers.get('etag')], ['gzip', tag])
})

t.test('errors and other routes have none, and a tag opens nothing', async t => {
  const { tag } = await get(PATHS[0]!)
  t.equal((await get('/api/v1/assets')).tag, undefined)
  t.equal((await get(`${PATHS[0]}?limit=none`)).tag, undefined)
  t.equal((await get(PATHS[0]!, { 'if-none-match': tag! }, 'aa_unknown')).status, 401)
  const stranger = await app.signUp('Other')
  t.equal((await get(PATHS[0]!, { 'if-none-match': tag! }, stranger.key)).status, 200)
})
