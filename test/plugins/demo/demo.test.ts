import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { startServer } from '../../helpers/server.ts'

const dataDir = t.testdir({ demo: {} })
const { server, ask, query } = await startServer(t, {
  settings: { DEMO_ENABLED: 'true', DATA_DIR: dataDir },
})

async function run(): Promise<string[]> {
  const lines: string[] = []
  await server.plugins.demo.runDemo(line => lines.push(line))
  return lines
}

/** How many rows every table of a company has, besides the tickets of printed links. */
async function sizes(): Promise<Record<string, unknown>> {
  const tables = await query(
    `select table_name from information_schema.columns where table_schema = 'public' and column_name = 'company_id'
       and table_name <> 'tickets'`,
  )
  const counts: [string, unknown][] = []
  for (const { table_name: name } of tables) {
    counts.push([String(name), (await query(`select count(*) from ${String(name)}`))[0]?.count])
  }
  return Object.fromEntries(counts)
}

/** Waits until no job groups alerts any more. */
async function untilGrouped(): Promise<void> {
  const left = `select from pgboss.job where name = 'incidents.update' and state < 'completed'`
  for (let n = 0; n < 400 && (await query(left)).length > 0; n++) await wait(50)
}

const all = await run()
const printed = all.slice(all.findIndex(line => line.startsWith('open: ')))
const key = printed.find(line => line.startsWith('key: '))?.slice('key: '.length) ?? ''
const get = async (path: string) => (await ask('GET', `/api/v1${path}`, undefined, key)).body
const id = (await query('select id from sources'))[0]?.id

t.test('a person who waits for the first demo sees how far it is', async t => {
  const progress = all.slice(0, all.indexOf(printed[0]!))
  t.match(progress[0], /^Creating the demo/)
  const days = progress.filter(line => / of 28 days /.test(line))
  t.strictSame(
    days,
    [7, 14, 21, 28].map(day => `  ${day} of 28 days of checks`),
  )
})

t.test('making it takes no sign-in or registration from the people of this machine', async t => {
  const counted = await query(`select name from rate_windows where name ~ '^(login|register|auth|tickets):'`)
  t.strictSame(counted, [])
})

t.test('it prints how to sign in', async t => {
  const [, email, password] = /^sign-in: (\S+) (\S+)$/.exec(printed[1] ?? '') ?? []
  const login = await ask('POST', '/api/v1/auth/login', { email, password })
  t.equal(login.status, 200)
  t.match(key, /^aa_live_/)
})

t.test('each request that it prints answers with the key that it prints', async t => {
  const requests = printed.filter(line => line.includes('curl'))
  t.equal(requests.length, 3)
  const [, api, credential] =
    /^ {2}API=(\S+) AUTH="Authorization: Bearer (\S+)"$/m.exec(printed.join('\n')) ?? []
  t.equal(credential, key)
  for (const line of requests) {
    t.ok(line.length <= 80, 'it fits a terminal')
    const [, path] = /^ {2}curl -s -H "\$AUTH" "\$API(\S+)"$/.exec(line) ?? []
    const { origin, pathname, search } = new URL(`${api}${path}`)
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
    `select t.name, f.status, f.settings ->> 'lastError' as last_error from checks f
     join tables t on t.id = f.table_id and f.kind = 'freshness'
     where f.settings ->> 'monitoringMode' = 'explicit' order by t.name`,
  )
  t.strictSame(schedules, [
    { name: 'inventory', status: 'fail', last_error: null },
    { name: 'orders', status: 'pass', last_error: null },
    { name: 'page_views', status: 'pass', last_error: null },
  ])
})

t.test('the bad last day is an anomaly of the metrics that it hit, after quiet weeks', async t => {
  const snapshots = await query(
    `select t.name || '.' || coalesce(m.column_name, '*') || ' ' || m.type as metric, s.status = 'fail' as is_anomaly,
       s.at >= now() - interval '1 hour' as is_last, s.status
     from check_results s join checks m on m.id = s.check_id and m.kind = 'metric' join tables t on t.id = m.table_id`,
  )
  const anomalies = snapshots
    .filter(snapshot => snapshot.is_anomaly && snapshot.is_last)
    .map(({ metric }) => metric)
  t.ok(anomalies.includes('orders.total mean'))
  t.ok(anomalies.includes('customers.email null_percent'))
  t.strictSame(
    snapshots.filter(({ status }) => status === 'error'),
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
  // Alerts become incidents in the background.
  await untilGrouped()
  const before = await sizes()
  const again = await run()
  // The link signs in once, so that each start prints another.
  const isSame = (line: string) => !line.startsWith('open: ')
  t.strictSame(again.filter(isSame), printed.filter(isSame))
  t.match(
    again.find(line => !isSame(line)),
    /^open: http\S+\/\?ticket=[\w-]{43}$/,
  )
  t.strictSame(await sizes(), before)
})
