import t from 'tap'
import { discover, makeWorld } from '../../helpers/world.ts'

const world = await makeWorld(t, [
  'create table orders (id int primary key, email text, total int)',
  `insert into orders select n, 'secret' || n || '@x.org', n from generate_series(1, 50) n`,
])
const { app, tenant, asset } = world
await discover(world)
const [table] = (await tenant.ask('GET', '/api/v1/assets?asset_type=table')).body.data
const base = '/api/v1/sdk/chart-links'

async function makeCheck(kind: string, body: object): Promise<string> {
  const made = await tenant.ask('POST', `/api/v1/sdk/${kind}/${table.id}`, { table_path: 'orders', ...body })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return made.body.data.uuid ?? made.body.data.id
}

const rule = await makeCheck('validity', {
  rule_type: 'RANGE',
  column_name: 'total',
  rule_config: { max: 10 },
  name: 'Totals <b>in</b> range',
})
const grouped = await makeCheck('metrics', { metric_type: 'row_count', group_by_columns: ['total'] })
const highest = await makeCheck('metrics', { metric_type: 'max_value', column_name: 'total' })
await app.server.plugins.checks.runTable(tenant.companyId, table.id, 'active')

const share = (check: string, more: object = {}) =>
  tenant.ask('POST', base, { asset_id: table.id, check_id: check, ...more })
const open = (url: string) =>
  app.server.inject({ url: new URL(url).pathname, headers: { accept: 'text/html' } })

t.test('a link shows one chart to everyone who has it, and nothing else', async t => {
  const made = await share(rule)
  t.match(made, { status: 201, body: { data: { asset_id: table.id, check_id: rule, days: 30 } } })
  const { id, url, expires_at: until } = made.body.data
  t.ok(Math.abs(Date.parse(until) - Date.now() - 7 * 86_400_000) < 60_000, 'for seven days')
  const page = await open(url)
  t.equal(page.statusCode, 200)
  t.match(page.headers, {
    'content-type': /text\/html/,
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex, nofollow',
    'referrer-policy': 'no-referrer',
    'content-security-policy': /default-src 'none'.*style-src 'sha256-/,
  })
  t.match(page.payload, /<h1>Totals &lt;b&gt;in&lt;\/b&gt; range on orders<\/h1>/)
  t.match(page.payload, /1 of 1 value failed the check/)
  t.match(page.payload, /class="anomaly"/)
  for (const other of ['secret', String(asset.name), tenant.companyId, table.id, '<script'])
    t.notOk(page.payload.includes(other), `without ${other}`)
  const [stored] = await app.query('select * from chart_links where id = $1', [id])
  t.notOk(JSON.stringify(stored).includes(url.split('/').at(-1)), 'the token is not stored')
  const listed = await tenant.ask('GET', `${base}?asset_id=${table.id}&check_id=${rule}`)
  t.match(listed.body.data, { links: [{ id }], pagination: { total: 1 } })
  t.notOk('url' in listed.body.data.links[0])

  t.equal((await tenant.ask('DELETE', `${base}/${id}`)).status, 200)
  const gone = await open(url)
  t.equal(gone.statusCode, 404)
  t.match(gone.payload, /has expired or was revoked/)
  t.equal((await tenant.ask('DELETE', `${base}/${id}`)).status, 404)
  const log = await tenant.ask('GET', '/api/v1/audit-log?limit=10')
  const actions = JSON.stringify(log.body)
  t.ok(actions.includes('chart_link.created') && actions.includes('chart_link.revoked'))
  t.notOk(actions.includes(url.split('/').at(-1)))
})

t.test('an expired link shows nothing, and is deleted with the next one', async t => {
  const { id, url } = (await share(rule, { expires_in_days: 1, days: 1 })).body.data
  await app.query(`update chart_links set expires_at = now() - interval '1 second' where id = $1`, [id])
  t.equal((await open(url)).statusCode, 404)
  t.strictSame((await tenant.ask('GET', base)).body.data.links, [])
  await share(rule)
  t.strictSame(await app.query('select 1 from chart_links where id = $1', [id]), [])
})

t.test('what has no chart, or shows personal data, is not shared', async t => {
  for (const [body, field] of [
    [{ check_id: grouped }, 'check_id'],
    [{ check_id: 'm_none' }, 'check_id'],
    [{ asset_id: asset.id }, 'asset_id'],
    [{ days: 91 }, 'days'],
    [{ expires_in_days: 31 }, 'expires_in_days'],
  ] as const)
    t.match(
      await share(rule, body),
      { status: 400, body: { error: { details: { field } } } },
      JSON.stringify(body),
    )
  const { url } = (await share(highest)).body.data
  t.match((await open(url)).payload, /Expected/)
  const tag = { asset_id: table.id, object_path: 'total', object_type: 'column', name: 'pii' }
  t.equal((await tenant.ask('POST', '/api/v1/sdk/tags', tag)).status, 201)
  t.equal((await open(url)).statusCode, 404, 'a column that was tagged since')
  t.match(await share(highest), { status: 400, body: { error: { details: { field: 'check_id' } } } })
  t.equal((await open((await share(rule)).body.data.url)).statusCode, 200, 'a percentage shows no value')
})

t.test('an address may open 60 links a minute', async t => {
  await app.query('delete from rate_windows')
  const statuses = []
  for (let n = 0; n < 61; n++)
    statuses.push((await app.server.inject(`/charts/${String(n).padStart(43, 'a')}`)).statusCode)
  t.strictSame([statuses.slice(0, 60).every(status => status === 404), statuses[60]], [true, 429])
  t.equal((await app.server.inject('/charts/short')).statusCode, 429)
})
