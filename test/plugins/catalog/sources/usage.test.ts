import net from 'node:net'
import t from 'tap'
import type { Connection, Connector } from '../../../../connectors/connector.ts'
import { ConnectorError } from '../../../../connectors/errors.ts'
import { sql } from '../../../../connectors/sql.ts'
import { dispatchDiscoveries, discoverJob } from '../../../../plugins/catalog/discovery/jobs.ts'
import { makeConnectorCalls } from '../../../../plugins/catalog/sources/connector-calls.ts'
import { openSession } from '../../../../plugins/catalog/sources/session.ts'
import { makeMeter } from '../../../../plugins/catalog/sources/usage.ts'
import { refreshJob } from '../../../../plugins/freshness/jobs.ts'
import { profileJob } from '../../../../plugins/profiles/job.ts'
import { scanJob } from '../../../../plugins/checks/jobs.ts'
import { expireRows } from '../../../../server/database/retention.ts'
import { logPostgresql } from '../../../helpers/statement-log.ts'
import { discover, makeStage, makeWorldOn, type World } from '../../../helpers/world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const ORDERS = [
  'create table orders (id int primary key, email text, placed_at timestamptz)',
  `insert into orders values (1, 'ann@x.org', now()), (2, null, now())`,
]

const usagePath = ({ asset }: Pick<World, 'asset'>) => `/api/v1/sdk/assets/${asset.id}/usage`

async function usage(world: Pick<World, 'asset' | 'tenant'>, query = '') {
  return (await world.tenant.ask('GET', `${usagePath(world)}${query}`)).body.data
}

/** A gate before a source that can be shut: it counts who dials, and hangs up. */
async function gated(world: World, t: { teardown(down: () => unknown): unknown }) {
  const { host, port } = world.source.config
  const gate = { isShut: false, dialled: 0 }
  const open = new Set<net.Socket>()
  const keep = (socket: net.Socket) => {
    open.add(socket)
    return socket.on('error', () => {}).on('close', () => open.delete(socket))
  }
  const listener = net.createServer(client => {
    gate.dialled += 1
    keep(client)
    if (gate.isShut) return client.destroy()
    const upstream = keep(net.connect(port, host))
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    return upstream.on('close', () => client.destroy())
  })
  await new Promise<void>(done => listener.listen(0, '127.0.0.1', done))
  t.teardown(async () => {
    for (const socket of open) socket.destroy()
    await new Promise(done => listener.close(done))
  })
  const at = listener.address() as net.AddressInfo
  await world.tenant.ask('PATCH', `/api/v1/sdk/assets/${world.asset.id}`, {
    connection_config: { ...world.source.config, host: '127.0.0.1', port: at.port, sslmode: 'disable' },
  })
  return gate
}

/** The source behind an asset, as features get it. */
async function sourceOf({ app, tenant, asset }: World, server = app.server) {
  return server.db.company(
    tenant.companyId,
    async trx => (await server.plugins.catalog.findAsset(trx, asset.id)).source,
  )
}

/** Opens a session as a sweep would, and returns `reached` or why it failed. */
async function scheduled(world: World, server = world.app.server): Promise<string> {
  const source = await sourceOf(world, server)
  const asking = (connection: Connection) => connection.query(sql`select 1 as one`, { timeoutMs: 1_000 })
  const options = { purpose: 'scan', isScheduled: true } as const
  return server.plugins.catalog.withConnection(source, asking, options).then(
    () => 'reached',
    (error: Error) => (error instanceof ConnectorError && error.code !== '' ? error.code : error.message),
  )
}

const record = async ({ tenant, asset }: World) =>
  (await tenant.ask('GET', `/api/v1/sdk/assets/${asset.id}`)).body.data

t.test('what is stored of a source’s use is what its own log has, by purpose', async t => {
  const world = await makeWorldOn(t, stage, ORDERS)
  const { tenant, asset, source, app } = world
  const log = await logPostgresql(source)
  await discover(world)
  await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/test-connection`)
  const rules = `/api/v1/sdk/validity/${asset.id}`
  const rule = { rule_type: 'NOT_NULL', table_path: 'orders', column_name: 'email' }
  await tenant.ask('POST', `/api/v1/sdk/validity/dry-run`, { asset_id: asset.id, ...rule })
  const made = await tenant.ask('POST', rules, rule)
  await tenant.ask('POST', `${rules}/${made.body.data.uuid}/check`, { sample_limit: 10 })
  const failing = { ...rule, rule_type: 'CUSTOM_SQL', rule_config: { sql_expression: '1 / (id - id) = 1' } }
  const custom = await tenant.ask('POST', rules, failing)
  t.equal(custom.status, 201, JSON.stringify(custom.body))
  await tenant.ask('POST', `${rules}/${custom.body.data.uuid}/check`)
  const scheduled = await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
    asset_id: asset.id,
    table_path: 'orders',
    freshness_column: 'placed_at',
    monitoring_mode: 'explicit',
    sla_threshold: '24h',
  })
  t.equal(scheduled.status, 201)
  const refreshed = app.server.jobs.settled(refreshJob, ({ source_id }) => source_id === asset.id)
  await tenant.ask('POST', `/api/v1/sdk/freshness/${asset.id}/refresh`)
  t.equal(await refreshed, 'completed')
  const profiled = app.server.jobs.settled(profileJob, ({ source_id }) => source_id === asset.id)
  await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/profile`)
  t.equal(await profiled, 'completed')

  const { statements, settings, sessions } = await log.take()
  const used = await usage(world)
  t.match(used.total, {
    sessions: sessions.length,
    // CUSTOM_SQL was parsed alone when it was made and before it ran, which no log of the server has.
    statements: statements.length + settings.length + 2,
    failures: statements.filter(({ error }) => error).length,
  })
  t.ok(used.total.seconds > 0 && used.total.bytes > 100 && used.total.rows > 10)
  for (const purpose of ['scan', 'freshness', 'discovery', 'profile', 'test', 'dry_run'])
    t.ok(used.by_purpose[purpose].statements > 0, purpose)
  t.ok(used.by_purpose.discovery.rows > 3, 'rows that are read and not kept count')
  t.equal(used.days.length, 30)
  t.same({ ...used.days.at(-1), day: undefined }, { ...used.total, day: undefined }, 'all of it today')
  t.match(used.days[0], { statements: 0, seconds: 0 }, 'days without use are there')

  await app.query(`update source_usage set day = day - 401 where purpose = 'test'`)
  await app.query(`update source_usage set day = day - 10 where purpose = 'scan'`)
  const [{ day } = {}] = await app.query(
    `select to_char(day, 'YYYY-MM-DD') as day from source_usage where purpose = 'scan'`,
  )
  const then = await usage(world, `?from=${day}&to=${day}`)
  t.match(then, { from: day, to: day, total: used.by_purpose.scan, days: { length: 1 } })
  t.match(await expireRows(app.server), { source_usage: 1 }, 'and is forgotten after 400 days')
})

t.test('the use of a source is shown to those who may read it, and only there', async t => {
  const world = await makeWorldOn(t, stage, ORDERS)
  await discover(world)
  const { tenant, app, asset } = world
  const made = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reads', scope: 'read-only' })
  if (made.status === 201)
    t.equal((await app.ask('GET', usagePath(world), undefined, made.body.data.key)).status, 200)
  const tables = await tenant.ask('GET', `/api/v1/assets?source=${String(asset.name)}&asset_type=table`)
  const [table] = tables.body.data
  t.match(await tenant.ask('GET', `/api/v1/sdk/assets/${table.id}/usage`), {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', details: { asset_id: asset.id } } },
  })
  for (const wrong of [
    'days=0',
    'days=401',
    'to=2026-01-01',
    'from=2026-02-30',
    'from=2026-1-1',
    'from=2026-02-02&to=2026-02-01',
    'from=2020-01-01&to=2026-02-01',
    'days=3&from=2026-01-01',
  ])
    t.match(await tenant.ask('GET', `${usagePath(world)}?${wrong}`), { status: 400 }, wrong)
})

t.test('a source that cannot be reached is left alone, and people are not held back', async t => {
  const world = await makeWorldOn(t, stage, ORDERS)
  await discover(world)
  const gate = await gated(world, t)
  const { tenant, asset, app } = world
  t.equal(await scheduled(world), 'reached')
  gate.isShut = true
  gate.dialled = 0
  for (let n = 1; n <= 5; n += 1) {
    t.match(await record(world), { consecutive_failures: n - 1, retry_at: null })
    t.not(await scheduled(world), 'reached')
  }
  t.equal(gate.dialled, 5)
  t.equal(await scheduled(world), 'PAUSED')
  t.equal(gate.dialled, 5, 'after five failures it is not dialled')
  const paused = await record(world)
  t.equal(paused.consecutive_failures, 5)
  const pause = async () => {
    const [row] = await app.query(
      `select round(extract(epoch from dial_after - now()))::int as left, pause_seconds from sources where id = $1`,
      [asset.id],
    )
    return row as { left: number; pause_seconds: number }
  }
  t.match(await pause(), { pause_seconds: 60 })
  t.ok(Date.parse(paused.retry_at) - Date.parse(paused.failing_since) >= 60_000)

  t.match(await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/test-connection`), {
    body: { data: { success: false } },
  })
  t.equal(gate.dialled, 6, 'people are not held back')
  t.match(await pause(), { pause_seconds: 60 }, 'and do not make it longer')

  const rules = `/api/v1/sdk/validity/${asset.id}`
  const made = await tenant.ask('POST', rules, {
    rule_type: 'NOT_NULL',
    table_path: 'orders',
    column_name: 'email',
  })
  gate.dialled = 0
  const ended = app.server.jobs.settled(scanJob, () => true)
  await app.server.plugins.checks.dispatch()
  await ended
  t.equal(gate.dialled, 0)
  const results = await tenant.ask('GET', `${rules}/${made.body.data.uuid}/results`)
  t.match(
    results.body.data.items,
    [{ status: 'error', error_message: /could not be reached since .* is tried again at .*Z/ }],
    'what was due is an error that says so',
  )
  await app.query(`update sources set discovery_interval = 'hourly', next_run_at = now() where id = $1`, [
    asset.id,
  ])
  t.match(await dispatchDiscoveries(app.server), { requested: 0 }, 'a discovery waits')

  await app.query('update sources set dial_after = now() where id = $1', [asset.id])
  t.not(await scheduled(world), 'reached')
  t.match(await pause(), { pause_seconds: 120 }, 'each try that fails doubles it')
  await app.query('update sources set dial_after = now(), pause_seconds = 3000 where id = $1', [asset.id])
  t.not(await scheduled(world), 'reached')
  t.match(await pause(), { pause_seconds: 3_600 }, 'to an hour at most')

  gate.isShut = false
  t.match(await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/test-connection`), {
    body: { data: { success: true } },
  })
  t.match(await record(world), { consecutive_failures: 0, failing_since: null, retry_at: null })
  t.equal(await scheduled(world), 'reached', 'any success ends it')
  const discovered = app.server.jobs.settled(discoverJob, () => true)
  t.match(await dispatchDiscoveries(app.server), { requested: 1 })
  t.equal(await discovered, 'completed')
})

t.test('after a pause one process tries, and the others wait for what it finds', async t => {
  const world = await makeWorldOn(t, stage, ORDERS)
  const gate = await gated(world, t)
  const { app, asset, tenant } = world
  const twin = await app.startTwin()
  const all = () =>
    Promise.all(
      Array.from({ length: 8 }, (_, index) => scheduled(world, index % 2 === 0 ? app.server : twin)),
    )
  const halfOpen = async () => {
    gate.dialled = 0
    await app.query(
      `update sources set connection_failures = 5, failing_since = now(), pause_seconds = 60,
         dial_after = now(), trial_until = null, max_concurrency = 8 where id = $1`,
      [asset.id],
    )
  }
  gate.isShut = true
  await halfOpen()
  const failed = await all()
  t.equal(gate.dialled, 1, 'two processes with eight sweeps dial once')
  t.equal(failed.filter(found => found === 'PAUSED').length, 7)

  gate.isShut = false
  await halfOpen()
  t.same(new Set(await all()), new Set(['reached']), 'where it goes through, all the others do')

  await halfOpen()
  await app.query(`update sources set trial_until = now() + interval '1 minute' where id = $1`, [asset.id])
  const change = { connection_config: { sslmode: 'prefer' } }
  await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, change)
  t.match(
    await record(world),
    { consecutive_failures: 0, retry_at: null },
    'another connection is tried at once',
  )
})

t.test('what a former connection does says nothing of the one that took its place', async t => {
  const world = await makeWorldOn(t, stage, ORDERS)
  const { tenant, asset, app } = world
  const { catalog } = app.server.plugins
  const gate = await gated(world, t)
  const former = await sourceOf(world)
  const refusal = new ConnectorError({ kind: 'credentials', engine: 'postgresql', message: 'wrong password' })
  const mend = { connection_config: { port: world.source.config.port } }
  const session = catalog.withConnection(
    former,
    async () => {
      const mended = await tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, {
        connection_config: { ...mend.connection_config, password: world.source.config.password },
      })
      t.equal(mended.status, 200, JSON.stringify(mended.body))
      throw refusal
    },
    { purpose: 'scan', isScheduled: true },
  )
  await t.rejects(session, refusal)
  await app.server.db.company(tenant.companyId, trx => catalog.recordConnectionStatus(trx, former, refusal))
  t.match(await record(world), {
    consecutive_failures: 0,
    retry_at: null,
    connection_status: 'untested',
    connection_error: null,
  })
  const [{ places } = {}] = await app.query(
    'select count(*)::int as places from source_sessions where source_id = $1',
    [asset.id],
  )
  t.equal(places, 0, 'its place is given back')
  t.equal((await usage(world)).total.sessions, 1, 'and what it used is known')
  gate.isShut = true
  t.equal(await scheduled(world), 'reached')
})

t.test('a wrong password is not tried again at once', async t => {
  const world = await makeWorldOn(t, stage, ORDERS)
  const { app, asset, source } = world
  await source.query(`alter role ${source.config.username} password 'another'`)
  t.equal(await scheduled(world), '28P01')
  t.equal(await scheduled(world), 'PAUSED')
  const [row] = await app.query('select pause_seconds from sources where id = $1', [asset.id])
  t.match(row, { pause_seconds: 300 })
})

const callsOf = (engine: Partial<Connector>) =>
  makeConnectorCalls(engine as Connector, {
    secrets: [],
    log: stage.app.server.pino,
    deadlines: stage.app.server.deadlines,
  })

t.test('calls of a connector without metering are counted, and a closed session is opened again', async t => {
  const LARGE = 2
  let opened = 0
  const engine: Partial<Connector> = {
    name: 'acme',
    connect: async () => {
      opened += 1
      let isCut = false
      return {
        introspect: async () => [],
        async query(_statement, { timeoutMs }) {
          if (isCut) throw new Error('the session is closed')
          isCut = timeoutMs === LARGE
          if (!isCut) return [{ a: 1 }, { a: 2 }]
          throw new ConnectorError({
            kind: 'invalid-query',
            engine: 'acme',
            code: 'TOO_LARGE',
            message: 'no',
          })
        },
        close: async () => {},
      }
    },
  }
  const meter = makeMeter(() => {})
  const session = await openSession(engine as Connector, {}, {} as never, {
    calls: callsOf(engine),
    onCall: meter.onCall,
  })
  t.equal(session.lastModified, undefined, 'what the engine lacks stays away')
  await session.query(sql`select 1`, { timeoutMs: 1 })
  await t.rejects(session.query(sql`select large`, { timeoutMs: LARGE }), { code: 'TOO_LARGE' })
  const [one] = await Promise.all([
    session.query(sql`select 2`, { timeoutMs: 1 }),
    session.query(sql`select 3`, { timeoutMs: 1 }),
  ])
  t.same(one, [{ a: 1 }, { a: 2 }])
  t.equal(opened, 2)
  await session.close()
  t.match(meter.take(), { sessions: 1, statements: 4, failures: 1, rows: 6, bytes: 0 })
  t.equal(meter.take(), null)
})

t.test('nonsense of a connector neither loses what was read nor keeps its place', async t => {
  const engine: Partial<Connector> = {
    name: 'acme',
    connect: async () => ({
      introspect: async () => [],
      query: async () => [{ a: 1 }],
      close: () => Promise.reject(new Error('closed already')),
    }),
  }
  const session = await openSession(engine as Connector, {}, {} as never, {
    calls: callsOf(engine),
    onCall: () => {},
  })
  t.same(await session.query(sql`select 1`, { timeoutMs: 1 }), [{ a: 1 }])
  await session.close()

  const totals: object[] = []
  const meter = makeMeter(taken => totals.push(taken))
  for (const wrong of [NaN, -1, Infinity, undefined as never])
    meter.onStatement({ statements: wrong, rows: wrong, bytes: wrong, durationMs: wrong })
  meter.onStatement({ statements: 1, rows: 2.4, bytes: 10.6, durationMs: 0.5 })
  const found = { statements: 1, rows: 2, bytes: 11 }
  t.match(totals.at(-1), found)
  t.match(meter.take(), { ...found, milliseconds: 0.5 })
})
