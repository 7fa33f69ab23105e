import net from 'node:net'
import pg from 'pg'
import { generate } from 'selfsigned'
import t from 'tap'
import type { StatementUsage } from '../../../connectors/connector.ts'
import { postgresql } from '../../../connectors/postgresql/index.ts'
import { raw, sql } from '../../../connectors/sql.ts'
import { authority, certify } from '../../helpers/certificates.ts'
import { startProxy } from '../../helpers/proxy.ts'
import { connectOptions, failure, running, settings, startSource, withSession } from '../../helpers/source.ts'

const QUICK = { timeoutMs: 20_000 }

t.test('TLS is as libpq has it', async t => {
  const source = await startSource(t)
  const pems = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 2048,
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  })
  const other = await generate([{ name: 'commonName', value: 'other' }], { keySize: 2048 })
  const encrypted = await startProxy(t, { ...source.config, tls: { key: pems.private, cert: pems.cert } })
  const plain = await startProxy(t, source.config)

  const connects = async (port: number, changes: object): Promise<string> => {
    const config = settings(source.config, { host: 'localhost', port, ...changes })
    const stages = await postgresql.test(config, connectOptions)
    const [, tls] = stages
    if (tls?.status === 'failed') return tls.error?.kind ?? ''
    t.ok(
      stages.every(stage => stage === tls || stage.status === 'passed'),
      JSON.stringify(stages.at(-1)),
    )
    return `${tls?.status}: ${tls?.message}`
  }
  const yes = 'passed: The connection is encrypted.'
  const no = 'skipped: The connection is not encrypted.'
  const good = pems.cert
  t.equal(await connects(encrypted.port, { sslmode: 'disable' }), no)
  t.equal(await connects(encrypted.port, { sslmode: 'prefer' }), yes)
  t.equal(await connects(encrypted.port, { sslmode: 'require' }), yes)
  t.equal(await connects(encrypted.port, { sslmode: 'require', ssl_ca: other.cert }), 'tls')
  t.equal(await connects(encrypted.port, { sslmode: 'verify-ca' }), 'tls')
  t.equal(await connects(encrypted.port, { sslmode: 'verify-ca', ssl_ca: good }), yes)
  t.equal(await connects(encrypted.port, { sslmode: 'verify-ca', ssl_ca: good, host: 'elsewhere.test' }), yes)
  t.equal(await connects(encrypted.port, { sslmode: 'verify-ca', ssl_ca: other.cert }), 'tls')
  t.equal(await connects(encrypted.port, { sslmode: 'verify-full', ssl_ca: good }), yes)
  t.equal(
    await connects(encrypted.port, { sslmode: 'verify-full', ssl_ca: good, host: 'elsewhere.test' }),
    'tls',
  )
  t.equal(await connects(encrypted.port, { sslmode: 'verify-full', ssl_ca: good, host: '127.0.0.1' }), 'tls')
  t.equal(await connects(plain.port, { sslmode: 'prefer' }), no)
  for (const sslmode of ['require', 'verify-ca', 'verify-full'])
    t.equal(await connects(plain.port, { sslmode }), 'tls')

  t.test('a statement on an encrypted session can be cancelled', async t => {
    const config = settings(source.config, {
      host: 'localhost',
      port: encrypted.port,
      sslmode: 'verify-full',
      ssl_ca: good,
    })
    const connection = await postgresql.connect(config, connectOptions)
    const error = await failure(
      connection.query(sql`select pg_sleep(60)`, { timeoutMs: 30_000, signal: AbortSignal.timeout(200) }),
    )
    t.match(error, { kind: 'other', code: 'ABORTED' })
    t.equal(await running(source), 0)
    t.same(await connection.query(sql`select 1 as one`, QUICK), [{ one: 1 }])
    await connection.close()
  })

  t.test('prefer goes without where the server takes this user only so', async t => {
    const tls = { key: pems.private, cert: pems.cert }
    const picky = await startProxy(t, { ...source.config, tls, refuseEncrypted: true })
    t.equal(await connects(picky.port, { sslmode: 'prefer' }), no)
    const required = postgresql.connect(
      settings(source.config, { port: picky.port, sslmode: 'require' }),
      connectOptions,
    )
    t.match(await failure(required), { kind: 'credentials', code: '28000', message: /pg_hba\.conf/ })
  })
})

/** What stands between us and the server: it may answer itself, or change the first packet. */
async function startPooler(
  t: { teardown(down: () => unknown): unknown },
  behind: { host: string; port: number },
  first: (packet: Buffer) => { pass: Buffer } | { answer: Buffer },
): Promise<number> {
  const sockets = new Set<net.Socket>()
  const server = net.createServer(client => {
    sockets.add(client.on('error', () => {}))
    client.once('data', packet => {
      const decided = first(packet)
      if ('answer' in decided) return client.end(decided.answer)
      const upstream = net.connect(behind.port, behind.host).on('error', () => {})
      sockets.add(upstream)
      upstream.write(decided.pass)
      client.pipe(upstream).pipe(client)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  })
  return (server.address() as net.AddressInfo).port
}

/** The ErrorResponse of a server that turns a sign-in down. */
function turnedDown(code: string, message: string): Buffer {
  const body = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

t.test('what a pooler or a server refuses at sign-in is reported', async t => {
  const source = await startSource(t)
  const refusal = async (first: Parameters<typeof startPooler>[2]) => {
    const port = await startPooler(t, source.config, first)
    const config = settings(source.config, { port, sslmode: 'disable' })
    const stages = await postgresql.test(config, connectOptions)
    t.equal(stages[2]?.status, 'failed')
    return failure(postgresql.connect(config, connectOptions))
  }
  for (const message of [
    'unsupported startup parameter: options',
    'unsupported startup parameter in options: default_transaction_read_only',
  ]) {
    const error = await refusal(() => ({ answer: turnedDown('08P01', message) }))
    t.match(error, { kind: 'other', message: /pooler refuses .* connect to the database itself/ })
  }
  const dropped = await refusal(packet => {
    const text = packet.toString('latin1').replace(/options\0[^\0]*\0/, '')
    const pass = Buffer.from(text, 'latin1')
    pass.writeInt32BE(pass.length, 0)
    return { pass }
  })
  t.match(dropped, { kind: 'other', message: /settings of the session did not arrive/ })
  const certificate = await refusal(() => ({
    answer: turnedDown('28000', 'connection requires a valid client certificate'),
  }))
  t.match(certificate, { kind: 'credentials', message: /client certificate/ })
})

t.test('an expired certificate is refused where certificates are looked at', async t => {
  const source = await startSource(t)
  const ca = (await authority()).cert
  for (const kind of ['expired', 'self-signed', 'unknown-authority', 'wrong-host', 'trusted'] as const) {
    const proxy = await startProxy(t, { ...source.config, tls: await certify(kind) })
    const failed = async (sslmode: string) => {
      const config = settings(source.config, { host: 'localhost', port: proxy.port, sslmode, ssl_ca: ca })
      const stages = await postgresql.test(config, connectOptions)
      return stages.find(stage => stage.status === 'failed')?.error
    }
    const found = await failed('verify-full')
    if (kind === 'trusted') t.equal(found, undefined)
    else t.match(found, { kind: 'tls', message: /certificate/ }, kind)
    if (kind === 'wrong-host') t.equal(await failed('verify-ca'), undefined, 'verify-ca takes any host')
  }
})

t.test('a server that does not answer is given up', async t => {
  const source = await startSource(t)
  const proxy = await startProxy(t, source.config)
  const config = settings(source.config, { port: proxy.port })
  const connection = await postgresql.connect(config, connectOptions)
  const silenced = await postgresql.connect(config, connectOptions)
  await silenced.query(sql`select 1 as one`, { timeoutMs: 50 })
  proxy.silence()

  t.test('while connecting: stage by stage', async t => {
    const stages = await postgresql.test(config, { ...connectOptions, connectTimeoutMs: 300 })
    t.same(
      stages.map(stage => stage.status),
      ['passed', 'skipped', 'failed', 'skipped'],
    )
    t.match(stages[2]?.error, { kind: 'timeout', message: /did not answer in time/ })
  })

  t.test('while connecting: when the signal aborts', async t => {
    const error = await failure(
      postgresql.connect(config, { ...connectOptions, signal: AbortSignal.timeout(100) }),
    )
    t.match(error, { kind: 'other', code: 'ABORTED' })
    const early = await failure(
      postgresql.connect(config, { ...connectOptions, signal: AbortSignal.abort() }),
    )
    t.match(early, { kind: 'other', code: 'ABORTED' })
  })

  t.test('while a name is looked up', async t => {
    const egress = { ...connectOptions.egress, address: () => new Promise<never>(() => {}) }
    const error = await failure(
      postgresql.connect(config, { ...connectOptions, egress, connectTimeoutMs: 100 }),
    )
    t.match(error, { kind: 'timeout' })
  })

  t.test('while a statement runs, and the session is closed', async t => {
    const statement = sql`select 1 as one`
    const [late, given] = await Promise.all([
      failure(silenced.query(statement, { timeoutMs: 50 })),
      failure(connection.query(statement, { timeoutMs: 60_000, signal: AbortSignal.timeout(50) })),
    ])
    t.match(late, { kind: 'timeout', message: /did not answer the statement/ })
    t.match(given, { kind: 'other', code: 'ABORTED' })
    for (const session of [connection, silenced]) {
      t.match(await failure(session.query(statement, QUICK)), { kind: 'network', code: 'CLOSED' })
      await session.close()
    }
  })
})

t.test('what the server ends does not end this process', async t => {
  const source = await startSource(t)
  const kill = async () => {
    const killed = await source.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tidemark' and datname = $1`,
      [source.name],
    )
    t.equal(killed.length, 1)
  }

  const busy = await postgresql.connect(settings(source.config), connectOptions)
  const cut = failure(busy.query(sql`select pg_sleep(60)`, { timeoutMs: 60_000 }))
  while ((await running(source)) === 0) await new Promise(resolve => setTimeout(resolve, 20))
  await kill()
  t.match(await cut, { kind: 'network', code: '57P01' })
  t.match(await failure(busy.query(sql`select 1 as one`, QUICK)), { kind: 'network' })
  await busy.close()

  const idle = await postgresql.connect(settings(source.config), connectOptions)
  await kill()
  t.match(await failure(idle.query(sql`select 1 as one`, QUICK)), { kind: 'network' })
  await idle.close()

  const closing = await postgresql.connect(settings(source.config), connectOptions)
  const ended = [60, 61].map(seconds =>
    failure(closing.query(sql`select pg_sleep(${seconds})`, { timeoutMs: 60_000 })),
  )
  while ((await running(source)) === 0) await new Promise(resolve => setTimeout(resolve, 20))
  await closing.close()
  for (const error of await Promise.all(ended)) t.match(error, { kind: 'network', code: 'CLOSED' })
  t.equal(await running(source), 0, 'closing ends the statement that runs')
})

t.test('values of every kind', async t => {
  const source = await startSource(t)
  await withSession(source.config, async connection => {
    const value = async (expression: string) =>
      Object.values((await connection.query(sql`select ${raw(expression)} as v`, QUICK))[0] ?? {})[0]
    t.same(await value(`true`), true)
    t.same(await value(`1::int2`), 1)
    t.same(await value(`9007199254740992`), '9007199254740992')
    t.same(await value(`1.10::numeric`), '1.10')
    t.same(await value(`10::numeric`), '10')
    t.same(await value(`'NaN'::float8`), NaN)
    t.same(await value(`'-Infinity'::float4`), -Infinity)
    t.same(await value(`0.1::float8 + 0.2::float8`), 0.1 + 0.2)
    t.same(await value(`'2024-02-29 01:02:03.456789'::timestamp`), new Date('2024-02-29T01:02:03.456Z'))
    t.same(await value(`'2024-02-29 01:02:03+05:30'::timestamptz`), new Date('2024-02-28T19:32:03Z'))
    t.same(await value(`'0044-03-15 00:00:00 BC'::timestamp`), new Date('-000043-03-15T00:00:00Z'))
    t.same(await value(`'0001-01-01'::timestamp`), new Date('0001-01-01T00:00:00Z'))
    t.same(await value(`'12024-01-01'::timestamp`), new Date('+012024-01-01T00:00:00Z'))
    t.same(await value(`'infinity'::timestamp`), 'infinity')
    t.same(await value(`'294276-12-31 23:59:59'::timestamp`), '294276-12-31 23:59:59')
    t.same(await value(`'2024-02-29'::date`), '2024-02-29')
    t.same(await value(`'12:34:56'::time`), '12:34:56')
    t.same(await value(`'{"a": [1, null, "x"]}'::jsonb`), { a: [1, null, 'x'] })
    t.same(await value(`'null'::json`), null)
    t.same(await value(`'\\x00ff10'::bytea`), Uint8Array.of(0, 255, 16))
    t.same(await value(`array[1, 2]`), '{1,2}')
    t.same(
      await value(`'6ba7b810-9dad-11d1-80b4-00c04fd430c8'::uuid`),
      '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
    )
    t.same(await value(`null::int`), null)

    const back = async (bound: unknown, type: string) =>
      Object.values((await connection.query(sql`select ${bound}::${raw(type)} as v`, QUICK))[0] ?? {})[0]
    t.same(
      await back(new Date('2024-02-29T01:02:03.456Z'), 'timestamp'),
      new Date('2024-02-29T01:02:03.456Z'),
    )
    t.same(
      await back(new Date('+012024-01-01T00:00:00Z'), 'timestamptz'),
      new Date('+012024-01-01T00:00:00Z'),
    )
    t.same(await back(Uint8Array.of(0, 1, 255), 'bytea'), Uint8Array.of(0, 1, 255))
    t.same(await back(12345678901234567890n, 'numeric'), '12345678901234567890')
    t.same(await back(-(2n ** 63n), 'bigint'), '-9223372036854775808')
    t.same(await back(0.1, 'numeric'), '0.1')
    t.same(await back(1e300, 'float8'), 1e300)
    t.same(await back(Infinity, 'float8'), Infinity)
    t.same(await back(false, 'boolean'), false)
    t.same(await back({ a: 1 }, 'jsonb'), { a: 1 })

    t.match(await failure(connection.query(sql`select ${'a\0b'} as v`, QUICK)), { kind: 'invalid-query' })
    t.match(await failure(connection.query(sql`select ${new Date(NaN)} as v`, QUICK)), {
      kind: 'invalid-query',
    })
    t.match(await failure(connection.query(sql`select ${Symbol('x')} as v`, QUICK)), {
      kind: 'invalid-query',
    })
    t.match(await failure(connection.query(raw('select 1\0; drop table x'), QUICK)), {
      kind: 'invalid-query',
    })
    t.same(await value('1'), 1, 'the session goes on')
  })
  t.equal(pg.types.getTypeParser(20)('1'), '1', 'the parsers of pg itself are as they were')
  t.equal(pg.defaults.parseInputDatesAsUTC, false)
})

t.test('sessions only read, and leave nothing open', async t => {
  const source = await startSource(t)
  const { username } = source.config
  await source.query('create table kept (id int)')
  await source.query(`grant all on schema public to ${username}`)
  await source.query(`grant all on kept to ${username}`)
  await withSession(source.config, async connection => {
    t.match(await failure(connection.query(sql`insert into kept values (1)`, QUICK)), { code: '25006' })
    t.match(await failure(connection.query(sql`copy kept from stdin`, QUICK)), { kind: 'invalid-query' })
    t.match(await failure(connection.query(sql`select 1 as a; select 2 as b`, QUICK)), { code: '42601' })
    for (const open of ['begin', 'begin read write', 'start transaction read write']) {
      t.match(await failure(connection.query(raw(open), QUICK)), { message: /opens a transaction/ })
      t.match(await failure(connection.query(sql`insert into kept values (1)`, QUICK)), { code: '25006' })
    }
    await connection.query(sql`copy (select 1) to stdout`, QUICK)
    t.same(await connection.query(sql`select count(*) as n from kept`, QUICK), [{ n: 0 }])
    const [idle] = await source.query(
      `select state, application_name from pg_stat_activity where usename = $1 and backend_type = 'client backend'`,
      [username],
    )
    t.same(idle, { state: 'idle', application_name: 'tidemark' })
  })
  for (const attempt of [
    `select set_config('default_transaction_read_only', 'off', false)`,
    'set session characteristics as transaction read write',
    'reset default_transaction_read_only',
    'discard all',
  ]) {
    await withSession(source.config, async connection => {
      await connection.query(raw(attempt), QUICK).catch(() => {})
      await failure(connection.query(sql`insert into kept values (1)`, QUICK))
    })
  }
  t.same(await source.query('select * from kept'), [])
})

t.test('a result too large to be kept is refused, and the session goes on', async t => {
  const source = await startSource(t)
  await withSession(source.config, async connection => {
    const large = raw(`select repeat('x', 4000000) as a from generate_series(1, 20)`)
    t.match(await failure(connection.query(large, QUICK)), {
      kind: 'invalid-query',
      message: /more than 32 MB/,
    })
    t.match(await connection.query(sql`select 1 as one`, QUICK), [{ one: 1 }])
  })
})

t.test('a value too large to be kept is refused while it is on its way', async t => {
  const source = await startSource(t)
  let bytes = 0
  const options = { ...connectOptions, onStatement: (taken: StatementUsage) => void (bytes = taken.bytes) }
  const connection = await postgresql.connect(settings(source.config), options)
  const large = raw(`select repeat('x', 80000000) as a`)
  t.match(await failure(connection.query(large, QUICK)), { kind: 'invalid-query', code: 'TOO_LARGE' })
  t.ok(bytes < 70_000_000, `${bytes} bytes were read`)
  t.match(await failure(connection.query(sql`select 1 as one`, QUICK)), { code: 'CLOSED' })
  await connection.close()
})

t.test('each statement is reported with its usage', async t => {
  const source = await startSource(t)
  await source.query('create table kept (n integer)')
  const usages: StatementUsage[] = []
  const options = { ...connectOptions, onStatement: (taken: StatementUsage) => void usages.push(taken) }
  const connection = await postgresql.connect(settings(source.config), options)
  await connection.introspect()
  await connection.query(sql`select n from generate_series(1, 5) n`, QUICK)
  await connection.query(sql`select n from generate_series(1, 3) n`, { ...QUICK, maxRows: 2 })
  await failure(connection.query(raw('select nowhere'), QUICK))
  await connection.close()
  t.match(usages, [
    { statements: 1, rows: 3 },
    // The time limit of the catalog's statements is another.
    { statements: 2, rows: 5 },
    { statements: 1, rows: 2 },
    { statements: 1, rows: 0, error: { code: '42703' } },
  ])
  t.ok(usages.every(({ bytes, durationMs }) => bytes > 0 && durationMs > 0))
})
