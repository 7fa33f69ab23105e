import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, mkdtemp, readFile, readdir, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '@hapi/hapi'
import t from 'tap'
import type { Test } from 'tap'
import { build } from '../../../server/build.ts'
import { readConfig } from '../../../server/settings/config.ts'
import { changeKey, openKeyFile, keyFile } from '../../../server/security/key-file.ts'
import { rotateSecrets } from '../../../server/security/rotate.ts'
import { makeVault } from '../../../server/security/vault.ts'
import { command } from '../../helpers/command.ts'
import { watchedLog } from '../../helpers/log-watch.ts'
import { SECRET_KEY, startServer, type Tenant, type TestServer } from '../../helpers/server.ts'
import { startSource } from '../../helpers/source.ts'

const newKey = () => randomBytes(32).toString('base64')
const idOf = (key: string) => makeVault(key).keyId

/** Another process of the same database, which holds these keys. */
async function process(t: Test, app: TestServer, secretKey: string | (() => string)): Promise<Server> {
  const ownerUrl = app.server.config.databaseUrl as string
  const server = await build({
    config: readConfig({ PORT: '0', DATABASE_URL: ownerUrl, SECRET_KEY, LOG_LEVEL: 'silent' }),
    ownerUrl,
    secretKey,
    log: watchedLog(t),
    sourceAllow: ['127.0.0.0/8'],
    webhookAllow: ['127.0.0.0/8'],
    sweeps: false,
  })
  await server.initialize()
  t.teardown(() => server.stop({ timeout: 1_000 }))
  return server
}

async function call(server: Server, method: string, url: string, credential?: string, payload?: object) {
  const headers = credential === undefined ? {} : { authorization: `Bearer ${credential}` }
  const reply = await server.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: reply.statusCode, body: reply.payload === '' ? null : JSON.parse(reply.payload) }
}

/** Every text of every table that is sealed, by its place. */
async function sealedTexts({ query }: TestServer): Promise<{ place: string; text: string }[]> {
  const columns = await query(
    `select table_name as table, column_name as column from information_schema.columns
     join information_schema.tables using (table_schema, table_name)
     where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE' and data_type in ('text', 'jsonb', 'character varying')`,
  )
  const found: { place: string; text: string }[] = []
  for (const { table, column } of columns) {
    const schema = (await query('select to_regclass($1) as known', [`public.${table}`]))[0]?.known
    const rows = await query(
      `select cast(${column} as text) as text from ${schema ? 'public' : 'pgboss'}.${table}
       where cast(${column} as text) ~ '^"?v1\\.[0-9a-f]{8}\\.'`,
    )
    found.push(...rows.map(({ text }) => ({ place: `${table}.${column}`, text: String(text) })))
  }
  return found
}

async function addSecrets(tenant: Tenant, config: object): Promise<{ source: string; destination: string }> {
  const source = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name: randomUUID(),
    source_type: 'postgresql',
    connection_config: config,
  })
  const destination = await tenant.ask('POST', '/api/v1/sdk/alerts/destinations', {
    name: randomUUID(),
    destination_type: 'webhook',
    config: { url: 'https://127.0.0.1:9/hook', headers: { Authorization: 'Bearer of-the-receiver' } },
  })
  if (source.status !== 201 || destination.status !== 201)
    throw new Error(JSON.stringify([source.body, destination.body]))
  return { source: source.body.data.id, destination: destination.body.data.id }
}

t.test('all that is sealed is sealed anew, beside running traffic, and the old key can go', async t => {
  const app = await startServer(t, { isOwn: true })
  const [tenant, other] = [await app.signUp(), await app.signUp('Other')]
  const database = await startSource(t)
  const made: { source: string; destination: string }[] = []
  for (let index = 0; index < 6; index++)
    made.push(await addSecrets(index % 2 ? other : tenant, database.config))
  const fresh = newKey()
  const both = `${fresh},${SECRET_KEY}`
  const [worker, operator] = [await process(t, app, both), await process(t, app, both)]

  let isOver = false
  const failures: unknown[] = []
  const traffic = (async () => {
    for (let index = 0; !isOver || index < 3; index++) {
      const { source } = made[(index % 3) * 2] as { source: string }
      const tested = await call(worker, 'POST', `/api/v1/sdk/assets/${source}/test-connection`, tenant.key)
      if (tested.body?.data?.success !== true) failures.push(tested.body)
      // A password that is given meanwhile is sealed too.
      const connection_config = { password: database.config.password }
      const patched = await call(worker, 'PATCH', `/api/v1/sdk/assets/${source}`, tenant.key, {
        connection_config,
      })
      if (patched.status !== 200) failures.push(patched.body)
    }
  })()
  const rotation = await rotateSecrets(operator).finally(() => (isOver = true))
  await traffic
  t.strictSame(failures, [], 'nothing failed meanwhile')
  t.match(rotation, { keyId: idOf(fresh), remaining: 0, unopened: [] })
  t.ok(rotation.resealed >= 18, 'sources, and two of each destination')

  const sealed = await sealedTexts(app)
  t.strictSame(
    [...new Set(sealed.map(({ place }) => place))].sort(),
    ['destinations.secrets', 'destinations.signing_secrets', 'installation.sealed', 'sources.secrets'],
    'code that stores sealed texts elsewhere adds them to server.sealed',
  )
  t.ok(sealed.every(({ text }) => text.startsWith(`v1.${idOf(fresh)}.`)))
  t.match(await rotateSecrets(operator), { resealed: 0, remaining: 0 }, 'again, there is nothing to do')

  const log = (await call(worker, 'GET', '/api/v1/audit-log?action=secrets.rotated', tenant.key)).body.data
  t.match(log.map(({ actor, details }: Record<string, unknown>) => ({ actor, details })).slice(-3), [
    { actor: 'cli', details: { key_id: idOf(fresh), table: 'sources', column: 'secrets' } },
    { details: { table: 'destinations', column: 'signing_secrets', count: 3 } },
    { details: { table: 'destinations', column: 'secrets', count: 3 } },
  ])

  const after = await process(t, app, fresh)
  for (const [index, { source, destination }] of made.entries()) {
    const { key } = index % 2 ? other : tenant
    const tested = await call(after, 'POST', `/api/v1/sdk/assets/${source}/test-connection`, key)
    t.equal(tested.body.data.success, true, 'the source opens')
    const sent = await call(after, 'POST', `/api/v1/sdk/alerts/destinations/${destination}/test`, key)
    t.equal(sent.status, 200, 'the destination opens')
  }
})

t.test('a rotation that was ended in the middle goes on where it was', async t => {
  const app = await startServer(t, { isOwn: true })
  const tenant = await app.signUp()
  const database = await startSource(t)
  for (let index = 0; index < 3; index++) await addSecrets(tenant, database.config)
  const fresh = newKey()
  const operator = await process(t, app, `${fresh},${SECRET_KEY}`)
  await app.query(
    `create function stumble() returns trigger language plpgsql as $$ begin
       raise exception 'the power went out'; end $$;
     create trigger stumble before update of signing_secrets on destinations for each row execute function stumble()`,
  )
  await t.rejects(rotateSecrets(operator), /power/)
  await t.rejects(process(t, app, fresh), { name: 'ConfigError' }, 'the old key is needed still')
  const halfway = await sealedTexts(app)
  t.ok(
    halfway.some(({ text }) => text.includes(idOf(fresh))) &&
      halfway.some(({ text }) => text.includes(idOf(SECRET_KEY))),
  )
  await app.query('drop trigger stumble on destinations')
  t.match(
    await rotateSecrets(operator),
    { remaining: 0, resealed: 7 },
    'the rest, and the installation’s own',
  )
  await process(t, app, fresh)
})

t.test('one that does not open is named, and keeps the old key needed', async t => {
  const app = await startServer(t, { isOwn: true })
  const tenant = await app.signUp()
  const database = await startSource(t)
  const [{ source: one }, { source: two }] = [
    await addSecrets(tenant, database.config),
    await addSecrets(tenant, database.config),
  ]
  await app.query('update sources set secrets = (select secrets from sources where id = $1) where id = $2', [
    one,
    two,
  ])
  const fresh = newKey()
  const operator = await process(t, app, `${fresh},${SECRET_KEY}`)
  const rotation = await rotateSecrets(operator)
  t.match(rotation, { remaining: 1, unopened: [{ table: 'sources', column: 'secrets', id: two }] })
  await t.rejects(process(t, app, fresh), { name: 'ConfigError' })
})

t.test('a wrong key stops the start with a sentence', async t => {
  const app = await startServer(t, { isOwn: true })
  const [right, wrong] = [idOf(SECRET_KEY), newKey()]
  await t.rejects(process(t, app, wrong), {
    name: 'ConfigError',
    message: new RegExp(`SECRET_KEY is not the key of this database.*${right}.*${idOf(wrong)}`, 's'),
  })
  await process(t, app, `${wrong},${SECRET_KEY}`)
})

t.test('a database from before key ids were stored does not accept another key', async t => {
  const app = await startServer(t, { isOwn: true })
  await addSecrets(await app.signUp(), { host: '10.0.0.1', database: 'x', username: 'x', password: 'x' })
  await app.query('delete from installation')
  await t.rejects(process(t, app, newKey()), { name: 'ConfigError', message: new RegExp(idOf(SECRET_KEY)) })
  await process(t, app, SECRET_KEY)
})

t.test('processes before and after the change of the key work side by side', async t => {
  const app = await startServer(t, { isOwn: true })
  const tenant = await app.signUp()
  const { body: login } = await app.ask('POST', '/api/v1/auth/login', {
    email: tenant.email,
    password: tenant.password,
  })
  const fresh = newKey()
  const newer = await process(t, app, `${fresh},${SECRET_KEY}`)
  t.equal((await call(newer, 'GET', '/api/v1/auth/me', login.access_token)).status, 200, 'the access token')
  const refreshed = await call(newer, 'PUT', '/api/v1/auth/tokens/current', undefined, {
    refresh_token: login.refresh_token,
  })
  t.equal(refreshed.status, 200, 'the refresh token')
  t.equal((await call(newer, 'GET', '/api/v1/auth/me', refreshed.body.access_token)).status, 200)
  const again = await call(newer, 'PUT', '/api/v1/auth/tokens/current', undefined, {
    refresh_token: login.refresh_token,
  })
  t.equal(again.body.refresh_token, refreshed.body.refresh_token, 'asked twice, it gives the same')

  // The password of the application role has not changed under the one that runs already.
  await app.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'tidemark'`,
  )
  for (const server of [app.server, newer]) {
    const look = () => call(server, 'GET', '/api/v1/assets', tenant.key)
    let reply = await look()
    // Until it has noticed that its connections are gone.
    for (let times = 0; reply.status === 503 && times < 20; times++) reply = await wait(50).then(look)
    t.equal(reply.status, 200, JSON.stringify(reply.body))
  }

  await rotateSecrets(newer)
  const last = await process(t, app, fresh)
  t.equal((await call(last, 'GET', '/api/v1/assets', tenant.key)).status, 200, 'API keys do not depend on it')
  const later = await call(last, 'PUT', '/api/v1/auth/tokens/current', undefined, {
    refresh_token: refreshed.body.refresh_token,
  })
  t.equal(later.status, 200, 'sessions outlive the old key')
})

t.test('a successor made under the old key is given again under the new one', async t => {
  const app = await startServer(t, { isOwn: true })
  const tenant = await app.signUp()
  const { body: login } = await app.ask('POST', '/api/v1/auth/login', {
    email: tenant.email,
    password: tenant.password,
  })
  const body = { refresh_token: login.refresh_token }
  const first = await app.ask('PUT', '/api/v1/auth/tokens/current', body)
  const newer = await process(t, app, `${newKey()},${SECRET_KEY}`)
  const second = await call(newer, 'PUT', '/api/v1/auth/tokens/current', undefined, body)
  t.strictSame([second.status, second.body.refresh_token], [200, first.body.refresh_token])
})

/** A data folder with a key, as a first start makes it. */
async function folder(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tidemark-key-'))
  t.teardown(() => rm(path, { recursive: true, force: true }))
  return path
}

const keysIn = async (dataDir: string) => (await readFile(keyFile(dataDir), 'utf8')).trim().split(',')

t.test('the key of a data folder is changed without a moment in which one is lost', async t => {
  const dataDir = await folder(t)
  await t.rejects(changeKey(dataDir), { name: 'StartError', message: /first start makes one/ })
  const key = await openKeyFile(dataDir)
  const [first] = await keysIn(dataDir)
  const vault = makeVault(key)
  const sealed = vault.seal('secret', 'here')

  const change = await changeKey(dataDir)
  const [second, ...behind] = await keysIn(dataDir)
  t.strictSame(behind, [first], 'the old one stays behind the new one')
  t.equal((await stat(keyFile(dataDir))).mode & 0o777, 0o600)
  t.equal(vault.keyId, idOf(second as string), 'a vault that is open already seals with the new one')
  t.equal(vault.open(sealed, 'here'), 'secret', 'and opens what the old one sealed')
  await t.rejects(changeKey(dataDir), { message: /Another process/ })
  t.type(await change.end(), Date, 'too early for the old one to go')
  change.release()

  const resumed = await changeKey(dataDir)
  t.strictSame(await keysIn(dataDir), [second, first], 'a change that was begun goes on')
  const long = new Date(Date.now() - 16 * 60_000)
  await utimes(keyFile(dataDir), long, long)
  t.equal(await resumed.end(), null)
  resumed.release()
  t.strictSame(await keysIn(dataDir), [second])
  t.throws(() => vault.open(sealed, 'here'), /not in SECRET_KEY/)
  t.strictSame(
    (await readdir(dataDir)).filter(name => !/^secret\.key(\.lock)?$/.test(name)),
    [],
    'no draft is left',
  )
})

t.test('a key file that is damaged while the process runs changes nothing', async t => {
  const dataDir = await folder(t)
  const vault = makeVault(await openKeyFile(dataDir))
  const { keyId } = vault
  await rm(keyFile(dataDir))
  t.equal(vault.keyId, keyId)
})

t.test('the commands say what was done and what comes next', async t => {
  const app = await startServer(t, { isOwn: true })
  const tenant = await app.signUp()
  await addSecrets(tenant, { host: '10.0.0.1', database: 'x', username: 'x', password: 'x' })
  const fresh = newKey()
  const of = (key: string) => ({ DATABASE_URL: app.server.config.databaseUrl as string, SECRET_KEY: key })
  const rotate = ['settings', 'rotate-secret']

  const nothing = await command(rotate, of(SECRET_KEY))
  t.match(
    [nothing.code, nothing.out],
    [0, /Encrypted 0 secrets again.*SECRET_KEY holds one key.*behind it.*then put the new one in front/s],
  )
  const wrong = await command(rotate, of(fresh))
  t.match([wrong.code, wrong.err], [2, /SECRET_KEY is not the key of this database/])
  const done = await command([...rotate, '--json'], of(`${fresh},${SECRET_KEY}`))
  t.match(
    [done.code, JSON.parse(done.out)],
    [0, { key_id: idOf(fresh), resealed: 4, older_key_ends_at: null }],
  )
  t.match((await command(rotate, of(`${fresh},${SECRET_KEY}`))).out, /15 minutes.*remove the others/s)

  const verify = await command(['audit', 'verify'], of(fresh))
  t.match(
    [verify.code, verify.out],
    [0, /The audit log of Acme is whole: \d+ entries, the last of hash [0-9a-f]{64}/],
  )
  await app.query('set session_replication_role = replica')
  await app.query(`update audit_log set actor = 'stranger' where sequence = 2`)
  await app.query('set session_replication_role = origin')
  const broken = await command(['audit', 'verify', '--json'], of(fresh))
  t.match([broken.code, JSON.parse(broken.out)], [1, { is_whole: false, broken_at: 2 }])
})

t.test('the key of an embedded database is changed by one command', async t => {
  const dataDir = await folder(t)
  await chmod(dataDir, 0o755)
  const settings = { DATA_DIR: dataDir, DEMO_ENABLED: 'false' }
  const rotate = ['settings', 'rotate-secret', '--json']
  t.match(await command(rotate, settings), { code: 1, err: /first start makes one/ })
  t.match(await command(['companies', 'create', 'Acme'], settings), { code: 0 })
  const [first] = await keysIn(dataDir)
  const begun = await command(rotate, settings)
  const [second, ...behind] = await keysIn(dataDir)
  t.strictSame(behind, [first])
  t.match(
    [begun.code, JSON.parse(begun.out)],
    [0, { key_id: idOf(second as string), resealed: 1, older_key_ends_at: /Z$/ }],
  )
  const long = new Date(Date.now() - 16 * 60_000)
  await utimes(keyFile(dataDir), long, long)
  const ended = await command(rotate, settings)
  t.match([ended.code, JSON.parse(ended.out)], [0, { resealed: 0, older_key_ends_at: null }])
  t.strictSame(await keysIn(dataDir), [second])
  t.match(await command(['audit', 'verify'], settings), { code: 0, out: /Acme is whole: 1 entries/ })
})
