import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { discoverJob } from '../../../../plugins/catalog/discovery/jobs.ts'
import { Source } from '../../../../plugins/catalog/models.ts'
import { isOutdated } from '../../../../plugins/catalog/discovery/record.ts'
import { explicit, startWorlds } from '../../freshness/worlds.ts'

const folder = await mkdtemp(join(tmpdir(), 'tidemark-settings-'))
t.teardown(() => rm(folder, { recursive: true }))
const { server, tenant, query, addSource, world } = await startWorlds(t, {
  settings: {
    FILE_SOURCES: folder,
    EXTENSIONS: new URL('../../../helpers/extensions/zone-engines.ts', import.meta.url).href,
  },
})
// What it imports can be found once the server has loaded it.
const { handed } = await import('../../../helpers/extensions/zone-engines.ts')

const SOURCES = '/api/v1/sdk/assets'
const SCHEDULES = '/api/v1/sdk/freshness/schedules'

const post = (body: object) => tenant.ask('POST', SOURCES, { name: `source-${randomUUID()}`, ...body })
const patch = (id: string, body: object) => tenant.ask('PATCH', `${SOURCES}/${id}`, body)

async function record(id: string) {
  return (await tenant.ask('GET', `${SOURCES}/${id}`)).body.data
}

/** The row behind a source. */
async function rowOf(id: string): Promise<Source> {
  const row = await server.db.company(tenant.companyId, async trx => Source.query(trx).findById(id))
  if (!row) throw new Error(`There is no source ${id}`)
  return row
}

async function discover(id: string) {
  const { body } = await tenant.ask('POST', `${SOURCES}/${id}/discover`)
  await server.jobs.settled(discoverJob, data => data.run_id === body.data.job_id)
  return (await tenant.ask('GET', `/api/v1/sdk/jobs/${body.data.job_id}`)).body.data
}

function emptyFile(): string {
  const path = join(folder, `${randomUUID()}.db`)
  const database = new DatabaseSync(path)
  database.exec('create table orders (id integer)')
  database.close()
  return path
}

/** The reply to a refused field, as a client gets it. */
const refusal = (field: string, error: RegExp) => ({
  status: 400,
  body: { error: { code: 'VALIDATION_ERROR', details: { field, error } } },
})

const login = { host: 'db.example.com', database: 'shop', username: 'reader', password: 'secret' }
const key = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey
const file = { path: join(folder, 'any.db') }

/** A config of each engine; none of them is dialled. */
const CONFIGS: Record<string, object> = {
  postgresql: login,
  redshift: login,
  mysql: login,
  snowflake: {
    account: 'acme-one',
    warehouse: 'WH',
    database: 'SHOP',
    username: 'reader',
    password: 'token',
  },
  bigquery: {
    project_id: 'acme-shop',
    credentials_json: { type: 'service_account', client_email: 'reader@acme.example', private_key: key },
  },
  databricks: { host: 'adb-1.azuredatabricks.net', http_path: '/sql/1.0/warehouses/1a', access_token: 'pat' },
  duckdb: file,
  sqlite: file,
  zoned: file,
  zoneless: file,
}

t.test('a source of any engine has a time zone', async t => {
  t.strictSame(server.connectors.names(), Object.keys(CONFIGS).sort(), 'all of them are tried')
  for (const [engine, config] of Object.entries(CONFIGS)) {
    const made = await post({
      source_type: engine,
      connection_config: { ...config, timezone: 'Europe/Berlin' },
    })
    t.match(made, { status: 201, body: { data: { extra_params: { timezone: 'Europe/Berlin' } } } }, engine)
    const { id } = made.body.data
    const stored = await rowOf(id)
    t.equal(stored.config.timezone, 'Europe/Berlin', `${engine} stores it in the open`)

    const moved = await patch(id, { connection_config: { timezone: 'UTC' } })
    t.match(moved, { status: 200, body: { data: { extra_params: { timezone: 'UTC' } } } }, engine)
    t.equal((await rowOf(id)).secrets, stored.secrets, `${engine} keeps its secrets`)
    const bad = await patch(id, { connection_config: { timezone: 'Mars/Phobos' } })
    t.match(bad, refusal('connection_config.timezone', /IANA time zone such as Europe\/Berlin/), engine)

    const taken = await patch(id, { connection_config: { timezone: null } })
    t.equal(taken.status, 200, engine)
    t.notOk(Object.hasOwn(taken.body.data.extra_params, 'timezone'), `${engine} has it taken out`)
    const { timezone: _, ...rest } = stored.config
    t.strictSame((await rowOf(id)).config, rest, `${engine} keeps the rest`)
  }
})

t.test('what is no IANA zone is refused, and nothing is stored', async t => {
  const wrong = ['Mars/Phobos', '+02:00', 'UTC+2', '', ' UTC', 'x'.repeat(65), 5, true, {}, ['UTC'], null]
  const { body } = await post({ source_type: 'postgresql', connection_config: login })
  for (const timezone of wrong) {
    const connection_config = { ...login, timezone }
    const made = await post({ source_type: 'postgresql', connection_config })
    t.match(made, refusal('connection_config.timezone', /timezone/), JSON.stringify(timezone))
    if (timezone === null) continue
    const patched = await patch(body.data.id, { connection_config: { host: 'elsewhere.example', timezone } })
    t.match(patched, refusal('connection_config.timezone', /timezone/), JSON.stringify(timezone))
  }
  t.match(await record(body.data.id), { host: login.host, extra_params: { timezone: undefined } })
  t.match(
    await post({ source_type: 'postgresql', connection_config: { ...login, time_zone: 'UTC' } }),
    refusal(
      'connection_config.time_zone',
      /unknown field `connection_config\.time_zone`; did you mean `timezone`/,
    ),
    'a field that neither we nor the engine know',
  )
})

t.test('an engine is handed the zone only if its config has one', async t => {
  for (const engine of ['zoned', 'zoneless']) {
    const config = { path: emptyFile() }
    const { id } = await addSource(engine, { ...config, timezone: 'Asia/Tokyo' })
    t.match(await tenant.ask('POST', `${SOURCES}/${id}/test-connection`), {
      body: { data: { success: true } },
    })
    const configs = handed.filter(one => one.engine === engine)
    t.ok(configs.length >= 2, `${engine} was opened and tested`)
    for (const one of configs)
      t.strictSame(one.config, engine === 'zoned' ? { ...config, timezone: 'Asia/Tokyo' } : config)
    t.match(await record(id), { extra_params: { timezone: 'Asia/Tokyo' } })
  }
})

t.test('timestamps without a zone are read in that of their source', async t => {
  const { database, source, watch, freshness, check } = await world(
    t,
    `create table plain (updated_at timestamp); create table zoned (updated_at timestamptz)`,
  )
  await database.query(
    `insert into plain values ('2026-07-01 12:00'); insert into zoned values ('2026-07-01 12:00Z')`,
  )
  await watch('plain', explicit('24h'))
  await watch('zoned', explicit('24h'))
  const read = async (timezone: string | null) => {
    t.equal((await patch(source.id, { connection_config: { timezone } })).status, 200)
    await check(new Date('2026-07-01T20:00:00Z'))
    const [plain, zoned] = [await freshness('plain'), await freshness('zoned')]
    return [plain.data.last_updated, zoned.data.last_updated]
  }
  const noon = '2026-07-01T12:00:00.000Z'
  t.strictSame(await read('Asia/Tokyo'), ['2026-07-01T03:00:00.000Z', noon])
  t.strictSame(await read('America/New_York'), ['2026-07-01T16:00:00.000Z', noon])
  t.strictSame(await read(null), [noon, noon], 'that of the setting TIMEZONE')
})

t.test('another zone, or the same config again, leaves all that is known of a source', async t => {
  const { database, source } = await world(t, 'create table a (id int); create table b (id int)')
  const { id } = source
  t.match(await tenant.ask('POST', `${SOURCES}/${id}/test-connection`), { body: { data: { success: true } } })
  const before = await rowOf(id)
  t.match(before, { connectionStatus: 'connected', isEncrypted: Boolean })
  t.notOk(before.readPatterns?.isElsewhere)
  const { host, port, username, password } = database.config
  for (const connection_config of [
    { timezone: 'Asia/Tokyo' },
    { host, port: String(port), timezone: 'Asia/Tokyo' },
    { user: username, password, timezone: 'Europe/Berlin' },
    { ssl_ca: null, timezone: null },
    {},
  ]) {
    const label = JSON.stringify(Object.keys(connection_config))
    t.match(await patch(id, { connection_config }), { status: 200 }, label)
    const { config: _, updatedAt: __, ...after } = await rowOf(id)
    const { config: ___, updatedAt: ____, ...known } = before
    t.strictSame({ ...after }, { ...known }, label)
    t.notOk(isOutdated(server.vault, before, await rowOf(id)), 'a discovery that reads it meanwhile counts')
  }
  await database.query('drop table b')
  t.match(
    await discover(id),
    { status: 'completed', result: { changes_detected: 1 } },
    'drift is still reported',
  )
})

t.test('a failed source is not forgiven by another zone', async t => {
  const { source, database } = await world(t, 'create table a (id int)')
  await patch(source.id, { connection_config: { password: 'wrong' } })
  await tenant.ask('POST', `${SOURCES}/${source.id}/test-connection`)
  const failed = { connection_status: 'failed', connection_message: /password/ }
  t.match(await record(source.id), failed)
  const zoned = await patch(source.id, { connection_config: { timezone: 'Asia/Tokyo' } })
  t.match(zoned, { status: 200, body: { data: failed } })
  const righted = await patch(source.id, { connection_config: { password: database.config.password } })
  t.match(righted.body.data, { connection_status: 'untested', extra_params: { timezone: 'Asia/Tokyo' } })
})

t.test('another database is one, whatever zone comes with it', async t => {
  const { source } = await world(t, 'create table a (id int)')
  const { id } = source
  const zoned = { timezone: 'Asia/Tokyo' }
  t.match(
    await patch(id, { connection_config: { host: 'elsewhere.example', ...zoned } }),
    refusal('connection_config.password', /given again with another host/),
  )
  t.notMatch(await record(id), { extra_params: zoned }, 'nothing of it is stored')
  const before = await rowOf(id)
  const moved = await patch(id, { connection_config: { database: 'another', ...zoned } })
  t.match(moved.body.data, { connection_status: 'untested', database_name: 'another', extra_params: zoned })
  const after = await rowOf(id)
  t.match(after, { readPatterns: { isElsewhere: true }, isEncrypted: null })
  t.ok(
    isOutdated(server.vault, before, after),
    'a discovery that reads the former one meanwhile does not count',
  )
})

const DEFAULTS = {
  monitoring_mode: 'explicit',
  sla_threshold: '6h',
  check_interval: '15m',
  freshness_columns: ['Loaded_Ts', 'etl_at'],
}

t.test('freshness defaults are kept, shown, replaced as a whole and taken out', async t => {
  const made = await post({
    source_type: 'postgresql',
    connection_config: login,
    freshness_defaults: DEFAULTS,
  })
  t.match(made, { status: 201 })
  t.strictSame(made.body.data.freshness_defaults, DEFAULTS)
  const { id } = made.body.data
  t.strictSame((await record(id)).freshness_defaults, DEFAULTS)
  const replaced = await patch(id, { freshness_defaults: { check_interval: '1d' } })
  t.strictSame(replaced.body.data.freshness_defaults, { check_interval: '1d' })
  t.strictSame((await patch(id, { description: 'Orders' })).body.data.freshness_defaults, {
    check_interval: '1d',
  })
  t.equal((await patch(id, { freshness_defaults: null })).body.data.freshness_defaults, null)
  t.strictSame(await query(`select 1 from sources where id = $1 and freshness_defaults is null`, [id]), [
    { '?column?': 1 },
  ])
  const [none, named] = [undefined, null].map(freshness_defaults =>
    post({ source_type: 'postgresql', connection_config: login, freshness_defaults }),
  )
  for (const one of [await none, await named])
    t.match(one, { status: 201, body: { data: { freshness_defaults: null } } })
})

t.test('wrong freshness defaults are refused, with what to do', async t => {
  const { body } = await post({ source_type: 'postgresql', connection_config: login })
  const cases: [unknown, string, RegExp][] = [
    [
      { monitoring_mode: 'explicit' },
      '.sla_threshold',
      /required with monitoring_mode explicit, such as 24h/,
    ],
    [{ monitoring_mode: 'learn' }, '.monitoring_mode', /must be one of auto_learn, explicit, not "learn"/],
    [{ sla_threshold: '24' }, '.sla_threshold', /a duration from 1m to 400d, such as 90m/],
    [{ sla_threshold: '401d' }, '.sla_threshold', /1m to 400d/],
    [{ check_interval: '4m' }, '.check_interval', /5m to 1w/],
    [{ check_interval: '8d' }, '.check_interval', /5m to 1w/],
    [{ check_interval: null }, '.check_interval', /must be text/],
    [{ freshness_columns: [] }, '.freshness_columns', /at least 1/],
    [{ freshness_columns: 'ts' }, '.freshness_columns', /must be a list, not text/],
    [{ freshness_columns: Array.from({ length: 21 }, (_, i) => `c${i}`) }, '.freshness_columns', /20/],
    [{ freshness_columns: ['ts', 'TS'] }, '.freshness_columns.1', /repeats item 0/],
    [{ freshness_columns: ['ts', ''] }, '.freshness_columns.1', /empty/],
    [{ freshness_columns: [7] }, '.freshness_columns.0', /must be text/],
    [{ freshness_columns: ['x'.repeat(256)] }, '.freshness_columns.0', /255/],
    [{ freshness_column: 'ts' }, '.freshness_column', /did you mean `freshness_columns`\?/],
    [{ sla: '1h' }, '.sla', /did you mean `sla_threshold`\?/],
    [{}, '', /name a default; null takes all of them out/],
    ['24h', '', /must be a JSON object/],
    [[], '', /must be a JSON object/],
  ]
  for (const [freshness_defaults, field, error] of cases) {
    const wrong = refusal(`freshness_defaults${field}`, error)
    const label = JSON.stringify(freshness_defaults)
    const made = await post({ source_type: 'postgresql', connection_config: login, freshness_defaults })
    t.match(made, wrong, label)
    t.match(await patch(body.data.id, { freshness_defaults }), wrong, label)
  }
  t.equal((await record(body.data.id)).freshness_defaults, null)
})

t.test('the defaults of a source are not those of its tables', async t => {
  const { source, database } = await world(t, 'create table a (id int)')
  const table = encodeURIComponent(`${source.name}.${database.name}.public.a`)
  t.match(await patch(table, { freshness_defaults: DEFAULTS }), refusal('freshness_defaults', /source/))
})

t.test('schedules made later have the defaults of their source where they name nothing else', async t => {
  const columns = 'updated_at timestamptz, etl_at timestamptz, loaded_ts timestamptz'
  const names = ['before', 'plain', 'named', 'learning', 'third', 'after']
  const { source, watch } = await world(
    t,
    names
      .map(name => `create table ${name} (${columns}); insert into ${name} values (now(), now(), now())`)
      .join(';'),
  )
  const factory = {
    monitoring_mode: 'auto_learn',
    sla_threshold: null,
    check_interval: '1h',
    freshness_column: 'updated_at',
  }
  const before = await watch('before')
  t.match(before, factory)
  t.equal((await patch(source.id, { freshness_defaults: DEFAULTS })).status, 200)

  const terms = {
    monitoring_mode: 'explicit',
    sla_threshold: '6h',
    check_interval: '15m',
    freshness_column: 'loaded_ts',
  }
  t.match(await watch('plain'), terms, 'the first of the names, in any case')
  const own = { sla_threshold: '2h', check_interval: '30m', freshness_column: 'etl_at' }
  t.match(await watch('named', own), { ...own, monitoring_mode: 'explicit' }, 'what it names wins')
  t.match(await watch('learning', { monitoring_mode: 'auto_learn' }), {
    ...terms,
    monitoring_mode: 'auto_learn',
    sla_threshold: null,
  })

  await patch(source.id, { freshness_defaults: { freshness_columns: ['missing', 'etl_at'] } })
  t.match(await watch('third'), { ...factory, freshness_column: 'etl_at' }, 'the first name that is there')
  await patch(source.id, { freshness_defaults: null })
  t.match(await watch('after'), factory)
  const listed = (await tenant.ask('GET', `${SCHEDULES}?asset_id=${source.id}`)).body.data.data
  const kept = listed.find(({ id }: { id: string }) => id === before.id)
  t.match(kept, factory, 'existing schedules stay as they are')
})

t.test('the bodies of sources are described with both', async t => {
  const { body } = await tenant.ask('GET', '/openapi.json')
  const resolve = (schema: { $ref?: string }) =>
    schema.$ref ? body.components.schemas[schema.$ref.split('/').at(-1)!] : schema
  const bodies = [body.paths[SOURCES].post, body.paths[`${SOURCES}/{asset_id}`].patch].map(
    ({ requestBody }) => resolve(requestBody.content['application/json'].schema).properties,
  )
  for (const properties of bodies) {
    // A new source has the fields of one of the engines; a change is not asked which.
    const { anyOf, additionalProperties } = properties.connection_config
    for (const config of (anyOf ?? [properties.connection_config]).map(resolve))
      t.match(config.properties, { timezone: { description: /TIMEZONE/ } })
    if (!anyOf) t.not(additionalProperties, false, 'and what the engine declares')
    t.strictSame(properties.freshness_defaults.type, ['object', 'null'])
    t.match(properties.freshness_defaults.properties, {
      monitoring_mode: { enum: ['auto_learn', 'explicit'] },
      sla_threshold: Object,
      check_interval: Object,
      freshness_columns: { type: 'array', minItems: 1, maxItems: 20 },
    })
  }
})
