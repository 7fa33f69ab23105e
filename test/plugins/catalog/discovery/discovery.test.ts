import net from 'node:net'
import t from 'tap'
import { discoverJob, dispatchDiscoveries } from '../../../../plugins/catalog/discovery/jobs.ts'
import { mariadbAbsent, startShop } from '../../../helpers/mariadb.ts'
import { startServer } from '../../../helpers/server.ts'
import { discover, makeWorld, type World } from '../../../helpers/world.ts'

const SHOP = [
  'create table customers (id int primary key, email varchar(100) not null)',
  'create table orders (id int primary key, customer_id int references customers, total numeric(10,2))',
  'create schema staging',
  'create table staging.orders_raw (id int, payload text)',
]

/** The open changes of a source and its open alerts of drift, as people see them. */
async function openDrift({ tenant, asset }: Pick<World, 'tenant' | 'asset'>) {
  const { body } = await tenant.ask('GET', `/api/v1/assets/${asset.id}/schema-changes?limit=1000`)
  const alerts = await tenant.ask('GET', '/api/v1/sdk/alerts?limit=100')
  const changes = body.data.changes as { acknowledged: boolean; change_type: string; object_name: string }[]
  return {
    changes: changes
      .filter(({ acknowledged }) => !acknowledged)
      .map(({ change_type: type, object_name: name }) => `${type} ${name}`)
      .toSorted(),
    all: changes.length,
    alerts: (alerts.body.data.data as { event_type: string; status: string }[]).filter(
      alert => alert.event_type === 'schema_change' && alert.status === 'triggered',
    ).length,
  }
}

t.test('a reverted change closes its alert and is still recorded as a change', async t => {
  const world = await makeWorld(t, SHOP)
  const { source } = world
  await discover(world)
  await source.query('alter table customers drop column email')
  await source.query('alter table orders alter column total type numeric(12,2)')
  await discover(world)
  t.same(await openDrift(world), {
    changes: ['column_removed email', 'column_type_changed total'],
    all: 2,
    alerts: 2,
  })

  await source.query('alter table customers add column email varchar(100) not null')
  await discover(world)
  t.same(await openDrift(world), { changes: ['column_type_changed total'], all: 3, alerts: 1 })

  await source.query('alter table orders alter column total type numeric(10,2), add column note text')
  await discover(world)
  t.same(
    await openDrift(world),
    { changes: ['column_added note'], all: 5, alerts: 1 },
    'half of it came back',
  )

  await source.query('alter table orders drop column note')
  await source.query('drop table staging.orders_raw')
  await discover(world)
  t.same(await openDrift(world), { changes: ['table_removed orders_raw'], all: 7, alerts: 1 })

  await source.query('create table staging.orders_raw (id int, payload jsonb)')
  await discover(world)
  const other = await openDrift(world)
  t.same(other.changes, ['table_added orders_raw', 'table_removed orders_raw'], 'it is not what it was')
  await source.query('alter table staging.orders_raw alter column payload type text')
  await discover(world)
  t.match(await openDrift(world), { changes: [], alerts: 0 })
})

t.test('patterns say what is read; what enters or leaves them is no drift', async t => {
  const world = await makeWorld(t, [
    ...SHOP,
    'create table "odd.name" (id int)',
    'create view v as select 1 as one',
  ])
  const { tenant, asset, source } = world
  const patch = (body: object) => tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, body)
  const names = async () => {
    const { body } = await tenant.ask('GET', '/api/v1/assets?limit=100')
    return (body.data as { asset_type: string; name: string }[])
      .filter(({ asset_type: type }) => type !== 'source')
      .map(({ name }) => name)
      .toSorted()
  }
  const patched = await patch({
    include_patterns: ['PUBLIC.*', 'staging.*_raw'],
    exclude_patterns: ['"odd.name"', 'v'],
  })
  t.equal(patched.status, 200)
  await discover(world)
  t.same(await names(), ['customers', 'orders', 'orders_raw'])

  await patch({ include_patterns: ['public.*'], exclude_patterns: [] })
  await source.query('create table public.fresh (id int)')
  t.match(
    (await discover(world)).result,
    { changes_detected: 1, table_count: 5 },
    'only what was made since is new',
  )
  t.same(await names(), ['customers', 'fresh', 'odd.name', 'orders', 'v'])
  const left = await tenant.ask('GET', `/api/v1/assets/shop.${source.name}.staging.orders_raw`)
  t.match(left.body, { is_active: false, name: 'orders_raw' }, 'what left stays readable')
  t.same((await openDrift(world)).changes, ['table_added fresh'])

  await patch({ include_patterns: [] })
  t.match(
    (await discover(world)).result,
    { changes_detected: 0, table_count: 6 },
    'and comes back without news',
  )

  for (const pattern of ['a.b.c.d', 'a..b', '', 'x"y']) {
    t.match(await patch({ include_patterns: [pattern] }), {
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR', details: { field: /^include_patterns/ } } },
    })
  }
})

t.test('a source that is pointed at another database starts over there', async t => {
  const world = await makeWorld(t, SHOP)
  const other = await makeWorld(t, ['create table elsewhere (id int)'])
  await discover(world)
  await world.tenant.ask('PATCH', `/api/v1/sdk/assets/${world.asset.id}`, {
    connection_config: other.source.config,
  })
  t.match((await discover(world)).result, { table_count: 1, changes_detected: 0 })
  t.match(await openDrift(world), { changes: [], alerts: 0 })
})

t.test('a paused source is not discovered by hand', async t => {
  const world = await makeWorld(t, SHOP)
  const { tenant, asset } = world
  const path = `/api/v1/sdk/assets/${asset.id}`
  await tenant.ask('PATCH', path, { is_active: false })
  for (let count = 0; count < 11; count += 1)
    t.match(await tenant.ask('POST', `${path}/discover`), {
      status: 409,
      body: { error: { code: 'CONFLICT', message: /set its is_active to true first/ } },
    })
  t.match((await tenant.ask('GET', path)).body.data, { discovery_state: 'never' })
  await tenant.ask('PATCH', path, { is_active: true })
  t.match(await discover(world), { status: 'completed' }, 'what was refused counts for no limit')
})

t.test('a secret is only kept for the place it was given for', async t => {
  const { tenant, asset, source } = await makeWorld(t, SHOP)
  const patch = (config: object) =>
    tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, { connection_config: config })
  t.match(await patch({ host: 'localhost' }), {
    status: 400,
    body: { error: { details: { field: 'connection_config.password', error: /given again.*host/ } } },
  })
  t.equal((await patch({ host: 'localhost', password: source.config.password })).status, 200)
  t.equal((await patch({ host: 'localhost' })).status, 200, 'the same host is no other place')
  t.equal(
    (await patch({ database: 'other' })).status,
    200,
    'the same server may be asked for another database',
  )
})

t.test('discovery retries a source that cannot be reached, and raises one alert for the outage', async t => {
  const world = await makeWorld(t, SHOP)
  const { app, tenant, asset, source } = world
  await discover(world)
  const { port, password } = source.config
  const closed = await unusedPort()
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, {
    connection_config: { port: closed, password },
  })
  t.match(await discover(world), { status: 'failed', error: { code: 'network' } })
  const delays = [await retryMinutes(world)]
  for (let failure = 0; failure < 4; failure += 1) {
    await retryNow(world)
    delays.push(await retryMinutes(world))
  }
  t.same(delays, [1, 5, 15, 60, null], 'later and later, and not for ever')
  const alerts = await app.query(`select status, occurrences from alerts where kind = 'connection_failed'`)
  t.match(alerts, [{ status: 'triggered', occurrences: 5 }])
  t.match((await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).body, {
    discovery_state: 'failed',
    connection_status: 'failed',
    table_count: 3,
  })

  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, {
    connection_config: { port, password },
  })
  t.equal((await discover(world)).status, 'completed')
  t.match(await app.query('select failed_discoveries, retry_at from sources'), [
    { failed_discoveries: 0, retry_at: null },
  ])
  t.match(await app.query(`select status from alerts where kind = 'connection_failed'`), [
    { status: 'resolved' },
  ])

  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, { connection_config: { password: 'wrong' } })
  t.match(await discover(world), { status: 'failed', error: { code: 'credentials' } })
  t.equal(await retryMinutes(world), null, 'a wrong password is not tried again')
})

t.test('a cancelled discovery leaves the source alone and records nothing', async t => {
  const world = await makeWorld(t, SHOP)
  const { app, tenant, asset, source } = world
  await discover(world)
  await source.query('alter table customers add column phone text')
  // A lock on the catalog makes the reading wait for as long as it is held.
  await source.query('begin')
  await source.query('lock table pg_catalog.pg_class in access exclusive mode')
  const asked = await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/discover`)
  const job = asked.body.data.job_id as string
  await until(async () => (await tenant.ask('GET', `/api/v1/sdk/jobs/${job}`)).body.data.status === 'running')
  t.match((await tenant.ask('POST', `/api/v1/sdk/jobs/${job}/cancel`)).body.data, { status: 'cancelled' })
  await app.server.jobs.settled(discoverJob, data => data.run_id === job)
  await source.query('rollback')
  t.match((await tenant.ask('GET', `/api/v1/sdk/jobs/${job}`)).body.data, {
    status: 'cancelled',
    error: null,
  })
  t.match((await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).body, {
    discovery_state: 'completed',
    connection_status: 'connected',
    schema_change_status: 'none',
  })
  t.match(
    (await discover(world)).result,
    { changes_detected: 1 },
    'the next one finds what was there to find',
  )
})

t.test(
  'tables that can no longer be read are reported, and are not recorded as removed',
  { skip: mariadbAbsent },
  async t => {
    const shop = await startShop(t)
    for (const name of ['a', 'b', 'c']) await shop.query(`create table ${name} (id int primary key, n int)`)
    await shop.query('create view seen as select id, n from c')
    const app = await startServer(t)
    const tenant = await app.signUp()
    const account = await limitedAccount(shop)
    for (const name of ['a', 'b', 'c', 'seen'])
      await shop.query(`grant select on ${shop.name}.${name} to ${account.name}`)
    const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
      name: 'maria',
      source_type: 'mysql',
      connection_config: { ...shop.config, username: account.user, password: account.password },
    })
    const world = { app, tenant, asset: made.body.data as World['asset'] }
    t.match((await discover(world)).result, { table_count: 4, unread_count: 0 })

    await shop.query(`revoke select on ${shop.name}.a from ${account.name}`)
    await shop.query('drop table b')
    await shop.query('alter table c drop column n')
    const { result } = await discover(world)
    t.match(result, { table_count: 1, unread_count: 2, changes_detected: 2 })
    t.same(
      (result.unread as { table_path: string }[]).map(({ table_path: path }) => path).toSorted(),
      [`${shop.name}.${shop.name}.a`, `${shop.name}.${shop.name}.seen`],
      'the lost grant, and the view that broke',
    )
    t.same((await openDrift(world)).changes, ['column_removed n', 'table_removed b'])
    const hidden = await tenant.ask('GET', `/api/v1/assets/maria.${shop.name}.${shop.name}.a`)
    t.match(hidden.body, {
      is_active: true,
      columns: [{ name: 'id' }, { name: 'n' }],
      read_error: { code: 'permission' },
    })
    const record = await tenant.ask('GET', `/api/v1/assets/${asset(world)}`)
    t.match(record.body, { schema_status: 'error', connection_status: 'connected' })
    const unreadAlerts = await app.query(
      `select severity, status, title from alerts where kind = 'connection_failed' and status <> 'resolved'`,
    )
    t.match(unreadAlerts, [{ severity: 'warning', title: /^maria: 2 tables cannot be read, the first is / }])

    await shop.query(`grant select on ${shop.name}.a to ${account.name}`)
    await shop.query('alter table c add column n int')
    t.match((await discover(world)).result, { table_count: 3, unread_count: 0, changes_detected: 1 })
    t.match(
      await app.query(`select status from alerts where kind = 'connection_failed'`),
      [{ status: 'resolved' }],
      'all is read again',
    )
    t.match((await tenant.ask('GET', `/api/v1/assets/maria.${shop.name}.${shop.name}.a`)).body, {
      read_error: null,
    })
  },
)

function asset(world: Pick<World, 'asset'>): string {
  return world.asset.id
}

/** An account without a right of its own. */
async function limitedAccount(shop: { query(text: string): Promise<unknown>; name: string }) {
  const user = `${shop.name.slice(0, 20)}_few`
  const name = `'${user}'@'%'`
  await shop.query(`create user ${name} identified by 'few-rights'`)
  return { name, user, password: 'few-rights' }
}

async function unusedPort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as net.AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Minutes until the next try, or null. */
async function retryMinutes({ app }: World): Promise<number | null> {
  const [row] = await app.query(
    'select round(extract(epoch from retry_at - now()) / 60)::int as minutes from sources',
  )
  return row?.minutes as number | null
}

/** Lets the time of the next try come, and waits for it to end. */
async function retryNow({ app }: World): Promise<void> {
  await app.query('update sources set retry_at = now()')
  await dispatchDiscoveries(app.server)
  const [run] = await app.query('select id from runs order by created_at desc, id desc limit 1')
  await app.server.jobs.settled(discoverJob, data => data.run_id === run?.id)
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setTimeout(resolve, 50))
}
