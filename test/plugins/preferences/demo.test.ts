import { existsSync, readdirSync, renameSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { deliverJob } from '../../../plugins/alerts/delivery/job-kinds.ts'
import { discoverJob } from '../../../plugins/catalog/discovery/jobs.ts'
import { startServer, type Tenant } from '../../helpers/server.ts'

const ONBOARDING = '/api/v1/auth/preferences/onboarding'
const dataDir = t.testdir({ demo: {} })
const { server, ask, query, signUp } = await startServer(t, {
  settings: {
    DEMO_ENABLED: 'true',
    DATA_DIR: dataDir,
    WEBHOOK_DELAYS: '0',
  },
})

t.beforeEach(() => query('delete from rate_windows'))

/** A company whose owner asks for what new users are given. */
async function newcomer() {
  const tenant = await signUp()
  const request = (what: string, method = 'POST') =>
    ask(method, `${ONBOARDING}/${what}`, undefined, tenant.token)
  const data = async (what: string, method = 'POST') => {
    const reply = await request(what, method)
    t.match([reply.status, reply.body.success], [200, true], `${what}: ${JSON.stringify(reply.body)}`)
    return reply.body.data
  }
  return { tenant, request, data }
}

const discovered = (jobId: string) => server.jobs.settled(discoverJob, data => data.run_id === jobId)
const look = async (who: Tenant, path: string) => (await who.ask('GET', `/api/v1${path}`)).body

t.test('the demo asset is a database that the connector discovers, with faults that checks find', async t => {
  const { tenant, data } = await newcomer()
  const { id, public_id: publicId, name, is_new: isNew, job_id: jobId } = await data('demo-asset')
  t.match({ publicId, name, isNew }, { publicId: id, name: 'demo_shop', isNew: true })
  await discovered(jobId)
  t.match(await look(tenant, `/assets/${id}`), {
    name: 'demo_shop',
    source_type: 'sqlite',
    discovery_state: 'completed',
    table_count: 28,
  })
  const made = await tenant.ask('POST', `/api/v1/sdk/validity/${id}`, {
    rule_type: 'UNIQUE',
    table_path: 'payments',
    column_name: 'reference',
  })
  const rule = `/api/v1/sdk/validity/${id}/${made.body.data.uuid}`
  t.match((await tenant.ask('POST', `${rule}/check`)).body.data, { status: 'fail' })
  const logged = await query(
    `select action, details from audit_log where company_id = $1 and target_id = $2 order by sequence`,
    [tenant.companyId, id],
  )
  t.match(logged, [
    { action: 'source.created', details: { name: 'demo_shop', is_demo: true } },
    { action: 'source.discovery_requested', details: { job_id: jobId } },
  ])
})

t.test('asked for again, or many times at once, there is one', async t => {
  const { tenant, data } = await newcomer()
  const all = await Promise.all(Array.from({ length: 6 }, () => data('demo-asset')))
  t.equal(new Set(all.map(({ id }) => id)).size, 1)
  t.equal(all.filter(({ is_new: isNew }) => isNew).length, 1)
  t.match(await data('demo-asset'), { id: all[0].id, is_new: false, job_id: null })
  t.equal((await look(tenant, '/assets?asset_type=source')).pagination.total, 1)
})

t.test('a name in use is left to its owner, and a new asset is created after a removal', async t => {
  const { tenant, data } = await newcomer()
  await tenant.ask('POST', '/api/v1/sdk/assets', {
    name: 'demo_shop',
    source_type: 'sqlite',
    connection_config: { path: join(dataDir, 'demo', 'other.sqlite') },
  })
  const { id, name } = await data('demo-asset')
  t.equal(name, 'demo_shop_2')
  await tenant.ask('DELETE', `/api/v1/sdk/assets/${id}`)
  const again = await data('demo-asset')
  t.match(again, { name: 'demo_shop_2', is_new: true })
  t.not(again.id, id)
})

t.test('companies share one read-only file, and see nothing else of each other', async t => {
  const [one, other] = [await newcomer(), await newcomer()]
  const [mine, theirs] = [await one.data('demo-asset'), await other.data('demo-asset')]
  t.not(mine.id, theirs.id)
  t.equal((await one.tenant.ask('GET', `/api/v1/assets/${theirs.id}`)).status, 404)
  const files = readdirSync(join(dataDir, 'demo'))
  t.strictSame(files, ['shared-shop.sqlite'], 'without journals or drafts')
  t.equal(statSync(join(dataDir, 'demo', 'shared-shop.sqlite')).mode & 0o222, 0)
})

t.test('no reply shows where the database of the demo lies, also when it cannot be read', async t => {
  const { tenant, data } = await newcomer()
  const { id, job_id: jobId } = await data('demo-asset')
  await discovered(jobId)
  const path = join(dataDir, 'demo', 'shared-shop.sqlite')
  const source = `/api/v1/sdk/assets/${id}`
  const shown: string[] = []
  const ask = async (method: string, at: string, body?: object) => {
    await query('delete from rate_windows')
    const reply = await tenant.ask(method, at, body)
    shown.push(`${method} ${at}: ${JSON.stringify(reply)}`)
    return reply
  }
  const everything = async () => {
    for (const at of ['', '/sdk/alerts', '/audit-log', `/sdk/jobs/${jobId}`])
      await ask('GET', at === '' ? source : `/api/v1${at}`)
    for (const at of ['/sdk/assets', '/assets', `/assets/${id}`]) await ask('GET', `/api/v1${at}`)
    const tested = await ask('POST', `${source}/test-connection`)
    const job = (await ask('POST', `${source}/discover`)).body.data.job_id
    await discovered(job)
    const run = await ask('GET', `/api/v1/sdk/jobs/${job}`)
    await ask('GET', source)
    await ask('GET', '/api/v1/sdk/alerts')
    return [tested.body.data.error_code, run.body.data.status]
  }
  t.match((await ask('GET', source)).body.data.extra_params, { path: 'shared-shop.sqlite' })
  t.strictSame(await everything(), [null, 'completed'])
  const sentBack = { connection_config: { path: 'shared-shop.sqlite', timezone: 'Europe/Berlin' } }
  t.match((await ask('PATCH', source, sentBack)).body.data.extra_params, sentBack.connection_config)
  t.strictSame(await everything(), [null, 'completed'], 'what was read may be sent back')
  for (const other of [null, join(dataDir, 'demo', 'other.sqlite'), 'other.sqlite'])
    t.match(await ask('PATCH', source, { connection_config: { path: other } }), {
      status: 400,
      body: { error: { details: { field: 'connection_config.path' } } },
    })
  renameSync(path, `${path}.away`)
  try {
    t.strictSame(await everything(), ['missing_object', 'failed'])
  } finally {
    renameSync(`${path}.away`, path)
  }
  for (const reply of shown)
    t.notMatch(reply.replaceAll('connection_config.path', ''), dataDir, reply.slice(0, 200))
})

t.test('no other source reads the files of the demo, unless the operator names their folder', async t => {
  const { tenant, data } = await newcomer()
  await data('demo-asset')
  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name: 'mine',
    source_type: 'sqlite',
    connection_config: { path: join(dataDir, 'demo', 'shared-shop.sqlite') },
  })
  const tested = await tenant.ask('POST', `/api/v1/sdk/assets/${made.body.data.id}/test-connection`)
  t.match(tested.body.data, {
    success: false,
    error_code: 'egress_refused',
    error_message: /FILE_SOURCES/,
  })
})

t.test('a file of yesterday is made again for who comes today', async t => {
  const path = join(dataDir, 'demo', 'shared-shop.sqlite')
  const [{ data: first }, { data: second }] = [await newcomer(), await newcomer()]
  await first('demo-asset')
  const yesterday = new Date(Date.now() - 25 * 3_600_000)
  const { ino } = statSync(path)
  utimesSync(path, yesterday, yesterday)
  await Promise.all([first('demo-asset'), second('demo-asset')])
  t.not(statSync(path).ino, ino)
  t.ok(statSync(path).mtimeMs > yesterday.getTime() + 3_600_000)
})

t.test('lineage is loaded once, also right after the asset was made', async t => {
  const { tenant, data, request } = await newcomer()
  const missing = await request('demo-lineage')
  t.match([missing.status, missing.body], [200, { success: false, data: null, error: 'ASSET_NOT_FOUND' }])
  const { id } = await data('demo-asset')
  t.equal((await look(tenant, `/assets/${id}`)).lineage_status, 'none')
  const both = await Promise.all([data('demo-lineage'), data('demo-lineage')])
  const sum = (name: string) => both.reduce((total, counted) => total + counted[name], 0)
  t.equal(sum('edges_created'), 21)
  t.equal(sum('nodes_created'), 21)
  t.strictSame(await data('demo-lineage'), { nodes_created: 0, edges_created: 0 })
  t.match(await look(tenant, `/assets/${id}`), { lineage_status: 'ready', lineage_message: /by 27 edges/ })
  const graph = await look(tenant, `/sdk/lineage/${id}`)
  t.equal(graph.data.edges.length, 27)
  t.match(await look(tenant, '/sdk/lineage/demo_shop.main.main.daily_sales?direction=upstream&depth=1'), {
    data: {
      nodes: [
        { name: 'daily_sales', asset_type: 'view', upstream_distance: 0, downstream_distance: null },
        { name: 'orders', asset_type: 'table', upstream_distance: 1, downstream_distance: null },
      ],
    },
  })
})

t.test('lineage says so when the tables cannot be known', async t => {
  const { tenant, data, request } = await newcomer()
  const { id, job_id: jobId } = await data('demo-asset')
  await discovered(jobId)
  await query(`update sources set last_discovery_at = null, discovery_state = 'failed' where id = $1`, [id])
  const { status, body } = await request('demo-lineage')
  t.match([status, body], [200, { success: false, data: null, error: 'NOT_DISCOVERED', message: RegExp(id) }])
  t.ok(tenant)
})

/** Everything that was sent of late, or is about to be. */
const deliveries = (companyId: string) =>
  query('select id, event_type, status from deliveries where company_id = $1 order by id', [companyId])

/** Raises a real alert. @returns its id */
async function raise({ companyId }: Tenant): Promise<string> {
  const { alertId } = await server.db.company(companyId, trx =>
    server.plugins.alerts.raise(trx, {
      type: 'freshness_violation',
      cause: 'real',
      severity: 'critical',
      sourceId: null,
      asset: { id: companyId, qualifiedName: 'a.b.c.d', assetType: 'table' },
      ruleName: 'Freshness',
      title: 'd is stale',
      details: {},
    }),
  )
  return alertId
}

/** A destination that no message gets to, since its secrets cannot be opened. */
async function addWebhook(who: Tenant): Promise<string> {
  const id = await query(
    `insert into destinations (id, company_id, name, destination_type, config, signing_secrets)
     values (gen_random_uuid(), $1, 'Receiver', 'webhook', '{"url": "https://127.0.0.1:9"}', '') returning id`,
    [who.companyId],
  )
  return String(id[0]?.id)
}

t.test('the demo alert is marked as one, and no notification is sent for it', async t => {
  const { tenant, data } = await newcomer()
  await addWebhook(tenant)
  await data('demo-destination')
  const { id: sourceId, job_id: jobId } = await data('demo-asset')
  await discovered(jobId)
  const { id, title, severity, is_new: isNew } = await data('demo-alert')
  t.match(
    { title, severity, isNew },
    { title: 'inventory: 3 days old, expected every 24 h', severity: 'critical', isNew: true },
  )
  t.match(await look(tenant, `/sdk/alerts/${id}`), {
    data: {
      title,
      severity,
      status: 'triggered',
      event_type: 'freshness_violation',
      context_data: { is_demo: true },
      asset: { qualified_name: 'demo_shop.main.main.inventory', asset_type: 'table' },
    },
  })
  t.equal(
    (await look(tenant, `/sdk/alerts?event_type=freshness_violation&asset_id=${sourceId}`)).data.pagination
      .total,
    1,
  )
  await tenant.ask('POST', `/api/v1/sdk/alerts/${id}/resolve`)
  const { id: second } = await data('demo-alert')
  t.not(second, id, 'after its end a new one is opened')
  await tenant.ask('POST', `/api/v1/sdk/alerts/${second}/dismiss`, { reason: 'expected' })
  t.strictSame(await deliveries(tenant.companyId), [])
})

t.test('one demo alert is open at a time, and all are deleted together', async t => {
  const { tenant, data } = await newcomer()
  const all = await Promise.all(Array.from({ length: 5 }, () => data('demo-alert')))
  t.equal(new Set(all.map(({ id }) => id)).size, 1, 'also before there is a demo asset')
  const [{ id }] = all
  t.equal((await look(tenant, `/sdk/alerts/${id}`)).data.occurrences, 1)
  await tenant.ask('POST', `/api/v1/sdk/alerts/${id}/resolve`)
  await data('demo-alert')
  t.strictSame(await data('demo-alert', 'DELETE'), { deleted: 2 })
  t.strictSame(await data('demo-alert', 'DELETE'), { deleted: 0 })
  t.equal((await look(tenant, '/sdk/alerts')).data.pagination.total, 0)
})

t.test('deleting demo alerts leaves real ones, and those of others', async t => {
  const [one, other] = [await newcomer(), await newcomer()]
  await raise(one.tenant)
  await one.data('demo-alert')
  await other.data('demo-alert')
  t.strictSame(await one.data('demo-alert', 'DELETE'), { deleted: 1 })
  t.match((await look(one.tenant, '/sdk/alerts')).data.data, [{ title: 'd is stale', context_data: {} }])
  t.equal((await look(other.tenant, '/sdk/alerts')).data.pagination.total, 1)
})

t.test('a real alert reaches the demo destination, and nothing is sent', async t => {
  const { tenant, data } = await newcomer()
  const { companyId } = tenant
  const all = await Promise.all(Array.from({ length: 4 }, () => data('demo-destination')))
  t.equal(new Set(all.map(({ id }) => id)).size, 1)
  const [{ id, name, destination_type: type }] = all
  t.match({ name, type }, { name: 'Demo chat', type: 'slack' })
  const alertId = await raise(tenant)
  const [sent] = await deliveries(companyId)
  await server.jobs.settled(deliverJob, job => job.delivery_id === sent?.id)
  const [delivery] = (await look(tenant, `/sdk/alerts/${alertId}/deliveries`)).data.data
  t.match(delivery, {
    destination_id: id,
    status: 'delivered',
    attempts: [
      { n: 1, status_code: 200, error_class: null, address: null, response_body: /nothing was sent/ },
    ],
  })
})

t.test('a demo destination hides no failure of a real one', async t => {
  const { tenant, data } = await newcomer()
  await data('demo-destination')
  await addWebhook(tenant)
  const alertId = await raise(tenant)
  const sent = await deliveries(tenant.companyId)
  t.equal(sent.length, 2)
  for (const { id } of sent) await server.jobs.settled(deliverJob, job => job.delivery_id === id)
  t.strictSame((await deliveries(tenant.companyId)).map(({ status }) => status).sort(), [
    'delivered',
    'failed',
  ])
  t.equal((await look(tenant, `/sdk/alerts/${alertId}`)).data.delivery_failed, true)
})

t.test('viewers look and make nothing', async t => {
  const { tenant } = await newcomer()
  const email = `viewer-${tenant.companyId}@example.com`
  const password = 'a long walk at dawn'
  await server.plugins.auth.createUser({ companyId: tenant.companyId, email, password, role: 'viewer' })
  const { body } = await ask('POST', '/api/v1/auth/login', { email, password })
  for (const what of ['demo-asset', 'demo-lineage', 'demo-alert', 'demo-destination']) {
    const { status, body: refusal } = await ask('POST', `${ONBOARDING}/${what}`, undefined, body.access_token)
    t.match([status, refusal.error.details], [403, { required_scope: 'read-write' }], what)
    t.equal((await ask('POST', `${ONBOARDING}/${what}`, undefined, tenant.key)).status, 403, 'a key neither')
  }
})

t.test('without a demo there is no demo asset, and the reply says so', async t => {
  const off = await startServer(t, { settings: { DEMO_ENABLED: 'false', DATA_DIR: t.testdir() } })
  const { token } = await off.signUp()
  const { status, body } = await off.ask('POST', `${ONBOARDING}/demo-asset`, undefined, token)
  t.equal(status, 200)
  t.match(body, { success: false, data: null, error: 'DEMO_DISABLED', message: /DEMO_ENABLED/, meta: {} })
  t.notOk(existsSync(join(off.server.config.dataDir, 'demo')))
  t.match(
    (await off.ask('POST', `${ONBOARDING}/demo-lineage`, undefined, token)).body.error,
    'ASSET_NOT_FOUND',
  )
  t.equal((await off.ask('POST', `${ONBOARDING}/demo-alert`, undefined, token)).body.success, true)
})
