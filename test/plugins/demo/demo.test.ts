import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { deliverJob } from '../../../plugins/alerts/delivery/job-kinds.ts'
import { startServer } from '../../helpers/server.ts'
import { testPast } from './past.ts'

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

/** Waits until no job is at work or due, and alerts, which wait for more of them, are grouped. No more checks get due. */
async function untilQuiet(): Promise<void> {
  await query(`update checks set next_run_at = now() + interval '1 day'`)
  const left = `select from pgboss.job
    where state < 'completed' and (start_after <= now() or name = 'incidents.update')`
  for (let n = 0; n < 400 && (await query(left)).length > 0; n++) await wait(50)
}

const all = await run()
const printed = all.slice(all.findIndex(line => line.startsWith('open: ')))
const key = printed.find(line => line.startsWith('key: '))?.slice('key: '.length) ?? ''
const get = async (path: string) => (await ask('GET', `/api/v1${path}`, undefined, key)).body
const id = (await query(`select id from sources where name = 'demo_shop'`))[0]?.id

t.test('a person who waits for the first demo sees how far it is', async t => {
  const progress = all.slice(0, all.indexOf(printed[0]!))
  t.match(progress[0], /^Creating the demo/)
  const days = progress.filter(line => / of 60 days /.test(line))
  t.strictSame(
    days,
    [20, 40, 60].map(day => `  ${day} of 60 days of checks`),
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
  const changes = await query(
    `select replace(table_path, 'main.main.', '') || ' ' || change_type as change from schema_changes
      where not is_acknowledged order by 1`,
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

t.test('the stock count and its snapshots are stale, the others are fresh', async t => {
  const schedules = await query(
    `select t.name, f.status, f.settings ->> 'lastError' as last_error from checks f
     join tables t on t.id = f.table_id and f.kind = 'freshness'
     where f.settings ->> 'monitoringMode' = 'explicit' and t.source_id = $1 order by t.name`,
    [id],
  )
  t.strictSame(schedules, [
    { name: 'inventory', status: 'fail', last_error: null },
    { name: 'orders', status: 'pass', last_error: null },
    { name: 'page_views', status: 'pass', last_error: null },
    { name: 'stock_snapshots', status: 'fail', last_error: null },
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
  // A job raises those of contracts, some time later.
  const kinds = await query(
    `select distinct kind from alerts where status = 'triggered' and severity <> 'info' and kind <> 'contract_violation'
      order by 1`,
  )
  t.strictSame(
    kinds.map(({ kind }) => kind),
    ['comparison_failure', 'freshness_violation', 'metric_anomaly', 'schema_change', 'validity_failure'],
  )
})

t.test('metrics have two months of values', async t => {
  const { data } = await get(`/sdk/metrics/${id}?limit=100`)
  const orders = data.items.find(
    (metric: { metric_type: string; table_path: string }) =>
      metric.metric_type === 'row_count' && metric.table_path === 'main.main.orders',
  )
  const chart = await get(`/sdk/metrics/${id}/${orders.id}/snapshots?limit=100`)
  t.equal(chart.data.items.length, 61)
})

t.test('views have lineage of several levels, on to a dashboard and into the warehouse', async t => {
  const names = async (table: string) =>
    (await get(`/sdk/lineage/${table}?direction=downstream&depth=5`)).data.nodes.map(
      (node: { name: string }) => node.name,
    )
  const fromImports = await names('demo_shop.main.main.partner_imports')
  for (const name of ['orders', 'daily_sales', 'weekly_sales', 'fact_orders', 'Revenue by country'])
    t.ok(fromImports.includes(name), name)
  const fromStock = await names('demo_shop.main.main.inventory')
  for (const name of ['stock_snapshots', 'stock_on_hand', 'low_stock']) t.ok(fromStock.includes(name), name)
  t.notOk(fromStock.includes('orders'), 'the two faults do not meet')
})

t.test('a comparison finds the rows that the warehouse lost or changed', async t => {
  const { data } = await get('/sdk/comparisons/demo_warehouse')
  t.match(data.items, [{ name: 'The copy of orders is whole', latest_status: 'fail' }])
})

t.test('the late stock count and the bad import are two incidents', async t => {
  await untilQuiet()
  const grouped = await query(
    `select i.incident_id, array_agg(distinct t.name) as tables from incident_alerts i join alerts a on a.id = i.alert_id
      join tables t on t.id = a.asset_id group by 1`,
  )
  const tablesOf = (name: string) =>
    grouped.map(({ tables }) => tables as string[]).find(tables => tables.includes(name)) ?? []
  t.ok(tablesOf('inventory').includes('stock_snapshots'))
  t.ok(tablesOf('partner_imports').includes('orders'))
  t.notOk(tablesOf('inventory').includes('orders'))
})

testPast({ get, query })

t.test('a contract has a clause that is broken', async t => {
  const { data } = await get('/sdk/contracts/orders')
  t.equal(data.status, 'failing')
})

t.test('alerts were delivered within this process, and a failed test was sent again', async t => {
  const tested = await query(`select id from deliveries where event_type = 'alert.test'`)
  await server.jobs.settled(deliverJob, job => job.delivery_id === tested[0]?.id)
  const { data } = await get('/sdk/alerts/destinations')
  const [destination] = data.destinations
  t.equal(destination.messages, 'incidents')
  const { data: deliveries } = await get(`/sdk/alerts/destinations/${destination.id}/deliveries?limit=100`)
  const sent = deliveries.data
  t.ok(sent.some(({ event_type: type }: { event_type: string }) => type === 'alert.triggered'))
  const { incidents } = (await get('/sdk/incidents?status=open')).data
  const now = sent.filter(({ incident_id: incident }: { incident_id: string | null }) => incident)
  t.equal(now.length, incidents.length, 'each cause of today is one message')
  t.match(
    sent.find(({ event_type: type }: { event_type: string }) => type === 'alert.test'),
    {
      status: 'delivered',
      attempts: [
        { n: 1, status_code: 503 },
        { n: 2, status_code: 200, address: null },
      ],
    },
  )
})

t.test('teams, owners, tags, hours, rules, recommendations and the audit log have entries', async t => {
  const counts = await query(
    `select (select count(*) from teams) as teams, (select count(*) from ownerships) as owners,
            (select count(*) from tags where origin = 'manual') as tags,
            (select count(*) from operating_schedules) as hours, (select count(*) from alert_rules) as rules`,
  )
  t.match(counts, [{ teams: '2', owners: '5', tags: '3', hours: '1', rules: '2' }])
  const { data } = await get(`/sdk/recommendations?asset_id=${id}`)
  t.ok(data.recommendations.length > 0)
  const log = JSON.stringify(await get('/audit-log?limit=100'))
  for (const action of ['contract.', 'delivery.resent']) t.ok(log.includes(action), action)
})

t.test('at a later start it prints the same key and makes nothing new', async t => {
  await untilQuiet()
  const before = await sizes()
  const again = await run()
  // The link signs in once, so that each start prints another.
  // A job may add values of the past to a metric after the first one.
  const isSame = (line: string) => !/^(open: |  metrics )/.test(line)
  t.strictSame(again.filter(isSame), printed.filter(isSame))
  t.match(
    again.find(line => line.startsWith('open: ')),
    /^open: http\S+\/\?ticket=[\w-]{43}$/,
  )
  t.strictSame(await sizes(), before)
})

t.test('a start that was interrupted is made up for, with nothing twice', async t => {
  await untilQuiet()
  const named = () =>
    query(
      `select (select count(*) from sources) as sources, (select count(*) from teams) as teams,
              (select count(*) from alert_rules) as rules, (select count(*) from destinations) as destinations,
              (select count(*) from operating_schedules) as hours, (select count(*) from data_contracts) as contracts,
              (select count(*) from mute_windows) as windows, (select count(*) from users) as users,
              (select count(*) from incidents where assignee_id is not null) as incidents`,
    )
  const before = await named()
  const file = join(dataDir, 'demo', 'credentials.json')
  const { sourceId: _source, ...incomplete } = JSON.parse(await readFile(file, 'utf8')) as {
    sourceId: string
  }
  await writeFile(file, JSON.stringify(incomplete))
  await run()
  t.strictSame(await named(), before)
})
