import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { remoteClient } from '../../../server/cli/client.ts'
import { waitUntilFresh } from '../../../plugins/freshness/command/freshness-command.ts'
import { checkFreshness } from '../../../plugins/freshness/command/freshness-check.ts'
import { command as tidemark } from '../../helpers/command.ts'
import { certify } from '../../helpers/certificates.ts'
import { SECRET_KEY } from '../../helpers/server.ts'
import { explicit, startWorlds } from './worlds.ts'

const main = new URL('../../../server/main.ts', import.meta.url).pathname

const { server, tenant, query, world } = await startWorlds(t)
const shop = await world(
  t,
  `create table orders (id int, updated_at timestamptz);
   create table late (id int, updated_at timestamptz);
   create table bare (id int, updated_at timestamptz);
   create table broken (id int, updated_at timestamptz);
   create table steady (id int, updated_at timestamptz);
   create table unwatched (id int, updated_at timestamptz);
   insert into orders values (1, now() - interval '90 minutes');
   insert into late values (1, now() - interval '26 hours 10 minutes');
   insert into broken values (1, now());
   insert into steady values (1, now() - interval '1 hour')`,
)
for (const table of ['orders', 'late', 'bare', 'broken']) await shop.watch(table, explicit('24h'))
await shop.watch('steady', { monitoring_mode: 'auto_learn' })
await shop.database.query('alter table broken drop column updated_at')
/** A source all of whose tables are fresh. */
const calm = await world(
  t,
  `create table a (id int, updated_at timestamptz); create table b (id int, updated_at timestamptz);
   insert into a values (1, now()); insert into b values (1, now() - interval '20 hours')`,
)
for (const table of ['a', 'b']) await calm.watch(table, explicit('24h'))

const named = (table: string) => `${shop.source.name}.${shop.database.name}.public.${table}`
const remote = { TIDEMARK_URL: server.info.uri, TIDEMARK_API_KEY: tenant.key }
const local = { DATABASE_URL: String(server.config.databaseUrl), SECRET_KEY, EGRESS_ALLOW: '127.0.0.0/8' }
const mine = ['--company', tenant.companyId]

const freshness = (asset: string, ...words: string[]) => tidemark(['freshness', asset, ...words], remote)
const nearby = (asset: string, ...words: string[]) => tidemark(['freshness', asset, ...words, ...mine], local)

/** Another HTTP server, which gives all requests the same answer. */
async function stranger(t: Test, answer: http.RequestListener, tls?: https.ServerOptions): Promise<string> {
  const other = tls ? https.createServer(tls, answer) : http.createServer(answer)
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  return `${tls ? 'https' : 'http'}://127.0.0.1:${(other.address() as AddressInfo).port}`
}

/** Sets the time of a table's last check to an interval ago. */
async function checkedAgo(table: string, ago: string) {
  await query(
    `update checks s set last_checked_at = now() - cast($2 as interval) from tables t
     where t.id = s.table_id and t.qualified_name = $1`,
    [named(table), ago],
  )
}

for (const [where, ask] of [
  ['over HTTP', freshness],
  ['on the database of the settings', nearby],
] as const) {
  t.test(`${where}, the exit code says how fresh a table is, and one line says why`, async t => {
    const fresh = await ask(named('orders'))
    t.match(fresh, { code: 0, err: '' })
    const expected = /; next update expected by (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC\n$/
    t.match(fresh.out, `fresh: ${named('orders')} was updated 9`)
    t.match(fresh.out, / updated 9\d min ago \(updated_at\), allowed 24h/)
    t.match(fresh.out, expected)
    t.strictSame(await ask(named('late')), {
      code: 1,
      out: `stale: ${named('late')} was last updated 26 h ago (updated_at), allowed 24h\n`,
      err: '',
    })
    t.strictSame(await ask(named('bare')), {
      code: 5,
      out: `unknown: ${named('bare')}: no row has a value in updated_at\n`,
      err: '',
    })
    t.match(await ask(named('steady')), {
      code: 5,
      out: /^unknown: .*its cadence is learned: 1 of 7 updates seen$/m,
      err: '',
    })
    const broken = await ask(named('broken'))
    t.match(broken, { code: 5, out: `error: ${named('broken')} could not be checked: `, err: '' })
    t.equal(broken.out.split('\n').length, 2, 'in one line')
  })

  t.test(`${where}, a request that fails has another exit code than stale data`, async t => {
    t.match(await ask('no.such.table.here'), { code: 3, out: '', err: /no such asset.*qualified name/ })
    t.match(await ask(named('unwatched')), {
      code: 2,
      out: '',
      err: /is not monitored.*freshness\/schedules/,
    })
    t.match(await ask(named('orders'), '--wait', '30'), { code: 2, out: '', err: /duration from 1m to 7d/ })
    t.match(await ask(named('orders'), '--timeout', '8d'), {
      code: 2,
      out: '',
      err: /duration from 1m to 7d/,
    })
  })

  t.test(`${where}, a source is fresh when each of its monitored tables is`, async t => {
    const stale = await ask(shop.source.name)
    t.match(stale, { code: 1, err: '' })
    t.match(
      stale.out,
      `stale: of 5 monitored tables of ${shop.source.name} 1 stale, 1 could not be checked, 2 unknown; worst: ` +
        `${named('late')} was last updated 26 h ago (updated_at), allowed 24h`,
    )
    const fresh = await ask(calm.source.id)
    t.match(fresh, { code: 0, err: '' })
    t.match(
      fresh.out,
      `fresh: all 2 monitored tables of ${calm.source.name}; nearest to its limit: ` +
        `${calm.source.name}.${calm.database.name}.public.b was updated 20 h ago`,
    )
  })

  t.test(`${where}, the table is checked, unless --no-refresh asks for the last result`, async t => {
    t.teardown(() =>
      shop.database.query(`update late set updated_at = now() - interval '26 hours 10 minutes'`),
    )
    await checkedAgo('late', '50 minutes 30 seconds')
    await shop.database.query('update late set updated_at = now()')
    const stored = await ask(named('late'), '--no-refresh')
    t.match(stored, { code: 1, err: '' })
    t.match(
      stored.out,
      /\(as of its last check, 50 min ago, at .*\d\d:\d\d UTC\)\n$/,
      'the result is marked as stored',
    )
    t.match(await ask(named('late')), { code: 0, out: /updated less than a minute ago/ })
    t.match(await ask(named('late'), '--no-refresh'), { code: 0 })
  })

  t.test(`${where}, an age is counted up to now, so that a table ages between its checks`, async t => {
    await query(
      `update checks s set last_checked_at = now() - interval '2 hours', status = 'warning',
         settings = s.settings || jsonb_build_object('lastUpdated', now() - interval '25 hours 10 minutes') from tables t where t.id = s.table_id and t.qualified_name = $1`,
      [named('orders')],
    )
    t.match(await ask(named('orders'), '--no-refresh'), { code: 1, out: /^stale: .* last updated 25 h ago/ })
    t.match(await ask(named('orders')), { code: 0, out: /9\d min ago/ })
  })

  t.test(`${where}, JSON contains the status with its records`, async t => {
    const { code, out } = await ask(named('late'), '--json')
    t.equal(code, 1)
    t.match(JSON.parse(out), {
      asset: named('late'),
      status: 'stale',
      message: /^stale: /,
      is_refreshed: true,
      tables: [{ asset: named('late'), status: 'stale', sla_threshold: '24h', sla_status: 'violated' }],
    })
    const source = JSON.parse((await ask(shop.source.name, '--json')).out)
    t.match(source, { asset: shop.source.name, status: 'stale' })
    t.equal(source.tables.length, 5)
  })

  t.test(`${where}, waiting ends at once when the data is fresh or waiting cannot help`, async t => {
    t.match(await ask(named('orders'), '--wait', '1h'), { code: 0, err: '' })
    t.match(await ask(named('steady'), '--wait', '1h'), { code: 5, out: /learned/, err: '' })
    t.match(await ask('missing', '--wait', '1h'), { code: 3 })
    const access = (level: string) =>
      tenant.ask('PATCH', `/api/v1/sdk/assets/${calm.source.id}`, { query_access_level: level })
    t.teardown(() => access('full'))
    t.match(await access('schema_only'), { status: 200 })
    const closed = await ask(`${calm.source.name}.${calm.database.name}.public.a`, '--wait', '1h')
    t.match(closed, { code: 5, out: /^error: .*schema_only/, err: '' })
  })
}

t.test('waiting ends when the data arrives, and reports stale data when the time is over', async t => {
  t.teardown(() => shop.database.query(`update late set updated_at = now() - interval '26 hours 10 minutes'`))
  const client = remoteClient(server.info.uri, tenant.key)
  const { signal } = new AbortController()
  const notes: string[] = []
  const options = { signal, note: (line: string) => notes.push(line) }
  const checkOnce = () => checkFreshness(client, named('late'), { refresh: true, ...options })
  const inVain = await waitUntilFresh(checkOnce, { waitMs: 300, intervalMs: 100, ...options })
  t.equal(inVain.status, 'stale')
  notes.length = 0

  let checks = 0
  const arriving = async () => {
    const found = await checkOnce()
    if (++checks === 2) await shop.database.query('update late set updated_at = now()')
    return found
  }
  t.equal((await waitUntilFresh(arriving, { waitMs: 60_000, intervalMs: 100, ...options })).status, 'fresh')
  t.equal(checks, 3)
  t.equal(notes.length, 1)
  t.match(notes[0], /^stale: .*; waiting until .*\d\d:\d\d UTC$/)
})

t.test(
  'a service that is unavailable for a moment does not end the waiting; at the deadline it does',
  async t => {
    const { signal } = new AbortController()
    const options = { signal, note: () => undefined }
    const closed = await closedPort()
    const away = remoteClient(`http://127.0.0.1:${closed}`, 'aa_x', 10)
    const there = remoteClient(server.info.uri, tenant.key)
    let checks = 0
    const flaky = () =>
      checkFreshness(checks++ === 0 ? away : there, named('orders'), { refresh: true, ...options })
    t.equal((await waitUntilFresh(flaky, { waitMs: 60_000, intervalMs: 10, ...options })).status, 'fresh')
    await t.rejects(
      waitUntilFresh(() => checkFreshness(away, named('orders'), { refresh: true, ...options }), {
        waitMs: 0,
        intervalMs: 10,
        ...options,
      }),
      { exitCode: 5, message: /cannot be reached \(ECONNREFUSED\)/ },
    )
    const nowhere = remoteClient('http://no-such-host.invalid', 'aa_x', 10)
    await t.rejects(checkFreshness(nowhere, named('orders'), { refresh: true, ...options }), {
      exitCode: 5,
      message: /cannot be reached/,
    })
  },
)

async function closedPort(): Promise<number> {
  const closed = http.createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  closed.close()
  await once(closed, 'close')
  return port
}

t.test('a read-only key gets the result of the last check, and a note about it', async t => {
  const { body } = await tenant.ask('POST', '/api/v1/api-keys', { name: 'reader', scope: 'read-only' })
  const settings = { ...remote, TIDEMARK_API_KEY: body.data.key as string }
  await freshness(named('late'))
  await checkedAgo('late', '190 minutes')
  const stale = await tidemark(['freshness', named('late')], settings)
  t.match(stale, { code: 1, err: /may not start a check.*read-write/ })
  t.match(stale.out, /^stale: .*\(as of its last check, 3 h ago, at /)
  t.match(await tidemark(['freshness', named('orders')], settings), {
    code: 0,
    out: /^fresh: .*as of its last check/,
  })
})

t.test('wrong credentials and addresses have other exit codes than missing assets', async t => {
  const ask = (settings: Record<string, string>, ...words: string[]) =>
    tidemark(['freshness', named('orders'), ...words], settings)
  t.match(await ask({ ...remote, TIDEMARK_API_KEY: 'aa_wrong' }), {
    code: 2,
    out: '',
    err: /API key is unknown/,
  })
  t.match(await ask({ TIDEMARK_URL: remote.TIDEMARK_URL }), { code: 2, err: /API key is needed/ })
  t.match(await ask({ TIDEMARK_URL: remote.TIDEMARK_URL, TIDEMARK_API_KEY: '' }), {
    code: 2,
    err: /key is needed/,
  })
  t.match(await ask({ TIDEMARK_API_KEY: tenant.key }), { code: 2, err: /no address/ })
  t.match(await ask(remote, '--company', 'Acme'), { code: 2, err: /cannot be used with/ })
  t.match(await ask(remote, '--url', 'ftp://x'), { code: 2, err: /must be an address/ })
  const page = `${server.info.uri}/docs`
  t.match(await ask(remote, '--url', page), { code: 2, err: /does not answer as Tidemark does: check --url/ })
  t.match(await ask(remote, '--url', 'http://me:canary@127.0.0.1'), { code: 2, err: /no user and password/ })
  t.match(await ask(local), { code: 2, err: /--company/ }, 'two companies')
  t.match(await ask(local, '--company', 'Missing'), { code: 3, err: /no company/ })
  t.match(await ask({ PORT: 'abc' }), { code: 2, err: /PORT must be a number/ })
  const { port } = new URL(local.DATABASE_URL)
  const DATABASE_URL = `postgres://stranger:canary@127.0.0.1:${port}/postgres`
  const refused = await ask({ ...local, DATABASE_URL })
  t.match(refused, { code: 5, out: '', err: /refuses the user stranger/ }, 'never 1, which means stale')
  t.notMatch(refused.err, 'canary')
})

t.test('another service gets neither trust nor a second request with the key', async t => {
  const ask = (url: string) => tidemark(['freshness', named('orders')], { ...remote, TIDEMARK_URL: url })
  const seen: (string | undefined)[] = []
  const thief = await stranger(t, (request, response) => {
    seen.push(request.headers.authorization)
    response.end('{}')
  })
  const moved = await stranger(t, (request, response) => {
    response.writeHead(302, { location: `${thief}${request.url}` }).end()
  })
  t.match(await ask(moved), { code: 2, out: '', err: `redirects to ${thief}` })
  t.strictSame(seen, [], 'the key stays here')
  t.match(await ask(thief), { code: 2, out: '', err: /does not answer as Tidemark/ })
  const page = await stranger(t, (_request, response) => response.end('<html>'))
  t.match(await ask(page), { code: 2, out: '', err: /does not answer as Tidemark/ })
  const missing = await stranger(t, (_request, response) => response.writeHead(404).end('no'))
  t.match(await ask(missing), { code: 2, out: '', err: /does not answer as Tidemark/ })
  const forged = await stranger(t, (_request, response) => response.end(), await certify('self-signed'))
  const untrusted = await ask(forged)
  t.match(untrusted, { code: 5, out: '', err: /certificate .* is not trusted/ })
  t.notMatch(untrusted.err, tenant.key)
})

t.test('a rate-limited request waits for Retry-After, and is repeated', async t => {
  let answers = 0
  const busy = await stranger(t, (_request, response) => {
    const standing = ++answers === 1 ? { 'retry-after': '1' } : {}
    response.writeHead(answers === 1 ? 429 : 401, { ...standing, 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { code: 'X', message: `answer ${answers}` } }))
  })
  t.match(await tidemark(['freshness', 'x'], { ...remote, TIDEMARK_URL: busy }), {
    code: 2,
    err: 'answer 2\n',
  })

  const made = await tenant.ask('POST', '/api/v1/api-keys', { name: 'busy', scope: 'read-only' })
  const key = made.body.data.key as string
  await query(`update companies set plan = 'starter' where company_id = $1`, [tenant.companyId])
  t.teardown(() =>
    query(`update companies set plan = 'enterprise' where company_id = $1`, [tenant.companyId]),
  )
  const statuses: number[] = []
  while (!statuses.includes(429) && statuses.length < 30) {
    const headers = { authorization: `Bearer ${key}` }
    statuses.push((await fetch(`${server.info.uri}/api/v1/sdk/freshness?limit=1`, { headers })).status)
  }
  t.ok(statuses.includes(429), 'the key has used up its burst')
  const gate = tidemark(['freshness', named('orders'), '--no-refresh'], { ...remote, TIDEMARK_API_KEY: key })
  t.match(await gate, { code: 0, out: /^fresh/ })
})

t.test('paused schedules do not count, and are an error if there are no others', async t => {
  const { body } = await tenant.ask('GET', `/api/v1/sdk/freshness/schedules?asset_id=${shop.source.name}`)
  const pause = (which: (path: string) => boolean, isActive: boolean) =>
    Promise.all(
      (body.data.data as { id: string; table_path: string }[])
        .filter(({ table_path: path }) => which(path))
        .map(({ id }) =>
          tenant.ask('PATCH', `/api/v1/sdk/freshness/schedules/${id}`, { is_active: isActive }),
        ),
    )
  t.teardown(() => pause(() => true, true))
  await pause(path => !path.endsWith('.orders'), false)
  t.match(await freshness(shop.source.name), { code: 0, out: /the one monitored table of/ })
  t.match(await freshness(named('late')), { code: 1 }, 'a paused table can still be checked by name')
  await pause(() => true, false)
  t.match(await freshness(shop.source.name), { code: 2, out: '', err: /schedules of .* are paused/ })
  t.match(await nearby(shop.source.name), { code: 2, out: '', err: /schedules of .* are paused/ })
  t.match(await freshness(shop.source.name, '--no-refresh'), { code: 5, out: /^unknown: .*paused/ })
})

t.test('a check that no worker runs, or that was cancelled, is an error', async t => {
  // A proxy of the service that replaces the status of jobs.
  let status = 'pending'
  const tooLate = new AbortController()
  const idle = await stranger(t, (request, response) => {
    if (request.url?.includes('/sdk/jobs/')) {
      response.end(JSON.stringify({ data: { status } }))
      if (status === 'pending') tooLate.abort(new DOMException('The time is over', 'TimeoutError'))
      return
    }
    const { method, url, headers } = request
    void fetch(`${server.info.uri}${url}`, {
      method,
      headers: { authorization: String(headers.authorization) },
    }).then(async reply => response.writeHead(reply.status).end(await reply.text()))
  })
  const hurried = { refresh: true, note: () => undefined, signal: tooLate.signal }
  const looking = checkFreshness(remoteClient(idle, tenant.key), named('orders'), hurried)
  await t.rejects(looking, { exitCode: 5, message: /is still pending: .*ROLE all or worker/ })
  status = 'cancelled'
  const settings = { ...remote, TIDEMARK_URL: idle }
  const cancelled = await tidemark(['freshness', named('orders')], settings)
  t.match(cancelled, { code: 5, out: '', err: /could not be checked: its check was cancelled/ })
})

t.test('the process exits with the code, also when it is interrupted', async t => {
  const start = (words: string[], settings: Record<string, string>) => {
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = spawn(process.execPath, [main, 'freshness', ...words], {
      env: { PATH, NODE_COMPILE_CACHE, ...settings },
    })
    const text = { out: '', err: '' }
    child.stdout.on('data', chunk => (text.out += String(chunk)))
    child.stderr.on('data', chunk => (text.err += String(chunk)))
    t.teardown(() => child.kill('SIGKILL'))
    return { child, text, ended: once(child, 'close').then(([code]) => ({ code: code as number, ...text })) }
  }
  const waiting = start([named('late'), '--wait', '30m'], remote)
  const noted = once(waiting.child.stderr, 'data')
  const [fresh, near, missing] = await Promise.all([
    start([named('orders')], remote).ended,
    start([named('late'), ...mine], local).ended,
    start(['missing'], remote).ended,
  ])
  t.match(fresh, { code: 0, out: /^fresh: [^\n]*\n$/, err: '' })
  t.match(near, { code: 1, out: /^stale: [^\n]*\n$/, err: '' })
  t.match(missing, { code: 3, out: '', err: /no such asset/ })

  await noted
  waiting.child.kill('SIGINT')
  t.match(await waiting.ended, { code: 5, out: '', err: /waiting until .*\nStopped before it was fresh\n$/ })
})

t.test('its help explains the exit codes', async t => {
  const { code, out } = await tidemark(['freshness', '--help'])
  t.equal(code, 0)
  t.match(out, /0 {2}fresh\n.*1 {2}stale\n.*5 {2}unknown.*--wait 30m &&/s)
  t.match((await tidemark(['--help'])).out, /freshness \[options\] <asset>/)
})
