import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../helpers/server.ts'

const dataDir = t.testdir({ demo: {} })
const { server, ask, query } = await startServer(t, {
  settings: { DEMO_ENABLED: 'true', DATA_DIR: dataDir, FILE_SOURCES: join(dataDir, 'demo') },
})

async function run(): Promise<string[]> {
  const lines: string[] = []
  await server.plugins.demo.run(line => lines.push(line))
  return lines
}

/** How many rows every table of a company has. */
async function sizes(): Promise<Record<string, unknown>> {
  const tables = await query(
    `select table_name from information_schema.columns where table_schema = 'public' and column_name = 'company_id'`,
  )
  const counts: [string, unknown][] = []
  for (const { table_name: name } of tables) {
    counts.push([String(name), (await query(`select count(*) from ${String(name)}`))[0]?.count])
  }
  return Object.fromEntries(counts)
}

const printed = await run()
const key = printed.find(line => line.startsWith('key: '))?.slice('key: '.length) ?? ''
const get = async (path: string) => (await ask('GET', `/api/v1${path}`, undefined, key)).body
const id = (await query('select id from sources'))[0]?.id

t.test('it prints how to sign in', async t => {
  const [, email, password] = /^sign-in: (\S+) (\S+)$/.exec(printed[0] ?? '') ?? []
  const login = await ask('POST', '/api/v1/auth/login', { email, password })
  t.equal(login.status, 200)
  t.match(key, /^aa_live_/)
})

t.test('each request that it prints answers with the key that it prints', async t => {
  const requests = printed.filter(line => line.includes('curl'))
  t.equal(requests.length, 3)
  for (const line of requests) {
    const [, credential, url] = /curl -s -H "Authorization: Bearer (\S+)" "(\S+)"$/.exec(line) ?? []
    const { origin, pathname, search } = new URL(url ?? '')
    t.equal(origin, server.config.baseUrl)
    const reply = await ask('GET', pathname + search, undefined, credential)
    t.equal(reply.status, 200, pathname)
    t.ok(JSON.stringify(reply.body).length > 200, 'and has something to show')
  }
})

t.test('drift has each of the seven changes of the release', async t => {
  const { data } = await get(`/assets/${id}/schema-changes?limit=50`)
  t.equal(data.total, 7)
  const changes = await query(
    `select replace(table_path, 'main.main.', '') || ' ' || change_type as change from schema_changes order by 1`,
  )
  t.strictSame(
    changes.map(({ change }) => change),
    [
      'addresses column_removed',
      'customers column_added',
      'gift_cards table_added',
      'newsletters table_removed',
      'products column_renamed',
      'support_tickets column_type_changed',
      'support_tickets constraint_changed',
    ],
  )
})

t.test('one table is stale, the others are fresh', async t => {
  const schedules = await query(
    `select t.name, f.status, f.last_error from freshness_schedules f join tables t on t.id = f.table_id order by t.name`,
  )
  t.strictSame(schedules, [
    { name: 'inventory', status: 'stale', last_error: null },
    { name: 'orders', status: 'fresh', last_error: null },
    { name: 'page_views', status: 'fresh', last_error: null },
  ])
})

t.test('the bad last day is an anomaly of the metrics that it hit, after quiet weeks', async t => {
  const snapshots = await query(
    `select t.name || '.' || coalesce(m.column_name, '*') || ' ' || m.metric_type as metric, s.is_anomaly,
       s.captured_at >= now() - interval '1 hour' as is_last, s.status
     from metric_snapshots s join metrics m on m.internal_id = s.metric_id join tables t on t.id = m.table_id`,
  )
  const anomalies = snapshots
    .filter(snapshot => snapshot.is_anomaly && snapshot.is_last)
    .map(({ metric }) => metric)
  t.ok(anomalies.includes('orders.total mean'))
  t.ok(anomalies.includes('customers.email null_percent'))
  t.strictSame(
    snapshots.filter(({ status }) => status === 'ERROR'),
    [],
  )
})

t.test('rules fail and alerts are open', async t => {
  const { data } = await get(`/sdk/validity/${id}/summary`)
  t.ok(data.failing >= 4, JSON.stringify(data))
  const alerts = await get('/sdk/alerts?limit=50')
  t.ok(alerts.data.pagination.total > 0)
  const kinds = await query(
    `select distinct kind from alerts where status = 'triggered' and severity <> 'info' order by 1`,
  )
  t.strictSame(
    kinds.map(({ kind }) => kind),
    ['freshness_violation', 'metric_anomaly', 'schema_change', 'validity_failure'],
  )
})

t.test('at a later start it prints the same key and makes nothing new', async t => {
  const before = await sizes()
  const again = await run()
  t.strictSame(again, printed)
  t.strictSame(await sizes(), before)
})
