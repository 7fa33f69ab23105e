import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Row, StatementUsage } from '../../../connectors/connector.ts'
import { mysql } from '../../../connectors/mysql/index.ts'
import { openSession } from '../../../connectors/mysql/session.ts'
import { raw, sql } from '../../../connectors/sql.ts'
import { certify } from '../../helpers/certificates.ts'
import { mariadbAbsent, mysqlRunning, mysqlSettings, startShop, withMysql } from '../../helpers/mariadb.ts'
import type { Shop } from '../../helpers/mariadb.ts'
import { startMysqlProxy } from '../../helpers/mysql-proxy.ts'
import { connectOptions, failure } from '../../helpers/source.ts'

const skip = mariadbAbsent
const QUICK = { timeoutMs: 20_000 }

t.test("TLS is as in MySQL's own clients", { skip }, async t => {
  const shop = await startShop(t)
  const plain = await startMysqlProxy(t, { ...shop.config, withoutTls: true })
  const good = shop.server.authority
  const { cert: other } = await certify('self-signed')
  const connects = async (changes: object): Promise<string> => {
    const stages = await mysql.test(mysqlSettings(shop.config, changes), connectOptions)
    const [, tls] = stages
    if (tls?.status === 'failed') return `${tls.error?.kind}: ${tls.message}`
    t.ok(
      stages.every(stage => stage === tls || stage.status === 'passed'),
      JSON.stringify(stages.at(-1)),
    )
    return `${tls?.status}: ${tls?.message}`
  }
  const yes = 'passed: The connection is encrypted.'
  const no = 'skipped: The connection is not encrypted.'
  const unknown = /^tls: .* not signed by an authority that is known here: check ssl_ca/
  t.equal(await connects({ ssl: 'disable' }), no)
  t.equal(await connects({ ssl: 'prefer' }), yes)
  t.equal(await connects({ ssl: 'require' }), yes)
  t.match(await connects({ ssl: 'require', ssl_ca: other }), unknown)
  t.match(await connects({ ssl: 'verify-ca', ssl_ca: other }), unknown)
  t.equal(await connects({ ssl: 'verify-ca', ssl_ca: good }), yes)
  t.equal(await connects({ ssl: 'verify-ca', ssl_ca: good, host: 'elsewhere.test' }), yes)
  t.equal(await connects({ ssl: 'verify-full', ssl_ca: good, host: 'db.test' }), yes)
  t.equal(await connects({ ssl: 'verify-full', ssl_ca: good, host: '127.0.0.1' }), yes, 'by its address')
  const stranger = /^tls: The server's certificate is for another host: check host/
  t.match(await connects({ ssl: 'verify-full', ssl_ca: good, host: 'elsewhere.test' }), stranger)
  const addressed = {
    ...connectOptions,
    egress: { ...connectOptions.egress, address: async () => '127.0.0.1' },
  }
  t.match(
    await failure(
      mysql.connect(
        mysqlSettings(shop.config, { ssl: 'verify-full', ssl_ca: good, host: '127.0.0.9' }),
        addressed,
      ),
    ),
    { kind: 'tls', message: /for another host/ },
    'a certificate for localhost is none for an address',
  )

  t.equal(await connects({ ssl: 'prefer', port: plain.port }), no)
  for (const ssl of ['require', 'verify-ca', 'verify-full']) {
    t.match(
      await connects({ ssl, port: plain.port }),
      /^tls: The server does not offer TLS: turn it on there/,
    )
  }

  const strict = `${shop.name}_t`
  await shop.query(`create user ${strict} identified by 'x' require ssl`)
  t.teardown(() => shop.query(`drop user ${strict}`))
  await shop.query(`grant select on ${shop.name}.* to ${strict}`)
  const only = { username: strict, password: 'x' }
  t.match(
    await failure(mysql.connect(mysqlSettings(shop.config, { ...only, ssl: 'disable' }), connectOptions)),
    {
      kind: 'credentials',
      message: /without TLS: check username, password and ssl/,
    },
  )
  t.equal(await connects({ ...only, ssl: 'require' }), yes)

  t.test('a statement on an encrypted session can be ended', async t => {
    await withMysql(
      { ...shop.config, host: 'db.test', ssl: 'verify-full', ssl_ca: good },
      async connection => {
        const options = { timeoutMs: 30_000, signal: AbortSignal.timeout(200) }
        t.match(await failure(connection.query(sql`select sleep(60)`, options)), { code: 'ABORTED' })
        t.equal(await mysqlRunning(shop), 0)
        t.same(await connection.query(sql`select 1 as one`, QUICK), [{ one: 1 }])
      },
    )
  })
})

t.test('what answers is another server, or none', { skip }, async t => {
  const shop = await startShop(t)
  const speak = async (greeting: string | Buffer) => {
    const server = createServer(socket => socket.on('error', () => {}).write(greeting))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    return (server.address() as AddressInfo).port
  }
  const stages = async (port: number) => {
    const config = mysqlSettings(shop.config, { port })
    return (await mysql.test(config, { ...connectOptions, connectTimeoutMs: 500 }))[0]
  }
  t.match(await stages(await speak('SSH-2.0-OpenSSH_9.2\r\n')), {
    name: 'reach',
    status: 'failed',
    message: /does not speak MySQL's protocol: check host and port/,
  })
  t.match(await stages(await speak('')), { status: 'failed', message: /did not answer in time/ })
  const text = '\xff\x10\x04#08004Too many connections'
  const refusal = Buffer.from(`${String.fromCharCode(text.length)}\0\0\0${text}`, 'latin1')
  t.match(await stages(await speak(refusal)), {
    status: 'failed',
    error: { kind: 'network', code: '1040' },
    message: /no connection free/,
  })
})

t.test('a server that does not answer is given up', { skip }, async t => {
  const shop = await startShop(t)
  const proxy = await startMysqlProxy(t, shop.config)
  const config = mysqlSettings(shop.config, { port: proxy.port })
  const connection = await mysql.connect(config, connectOptions)
  const silenced = await mysql.connect(config, connectOptions)
  await silenced.query(sql`select 1 as one`, { timeoutMs: 50 })
  proxy.silence()

  t.test('while connecting', async t => {
    const [reach, ...others] = await mysql.test(config, { ...connectOptions, connectTimeoutMs: 300 })
    t.match(reach?.error, { kind: 'timeout', message: /did not answer in time/ })
    t.ok(others.every(stage => stage.status === 'skipped'))
    const signal = AbortSignal.timeout(100)
    t.match(await failure(mysql.connect(config, { ...connectOptions, signal })), { code: 'ABORTED' })
    const early = { ...connectOptions, signal: AbortSignal.abort() }
    t.match(await failure(mysql.connect(config, early)), { code: 'ABORTED' })
  })

  t.test('while a statement runs, and the session is closed', async t => {
    const statement = sql`select 1 as one`
    const signal = AbortSignal.timeout(50)
    const [late, given] = await Promise.all([
      failure(silenced.query(statement, { timeoutMs: 50 })),
      failure(connection.query(statement, { timeoutMs: 60_000, signal })),
    ])
    t.match(late, { kind: 'timeout' })
    t.match(given, { kind: 'other', code: 'ABORTED' })
    for (const session of [connection, silenced]) {
      t.match(await failure(session.query(statement, QUICK)), { kind: 'network', code: 'CLOSED' })
      await session.close()
    }
  })
})

/** Waits until the reader runs so many statements. */
async function untilRunning(shop: Shop, count: number): Promise<void> {
  while ((await mysqlRunning(shop)) !== count) await new Promise(resolve => setTimeout(resolve, 20))
}

t.test('a statement over its time is ended in the server', { skip }, async t => {
  const shop = await startShop(t)
  await shop.query('create table n (i int)')
  await shop.query('insert into n select seq from seq_1_to_3000')
  await withMysql(shop.config, async connection => {
    // The last one is nothing that MariaDB's own limit looks at.
    for (const slow of [
      sql`select sleep(60)`,
      sql`select count(*) from n a join n b join n c where a.i + b.i + c.i = -1`,
      sql`select benchmark(10000000000, md5('x'))`,
    ]) {
      const startedAt = performance.now()
      const rejected = failure(connection.query(slow, { timeoutMs: 400 }))
      await untilRunning(shop, 1)
      await untilRunning(shop, 0)
      t.comment(
        `${slow.strings[0]}: out of the process list after ${Math.round(performance.now() - startedAt)} ms`,
      )
      t.match(await rejected, { kind: 'timeout' })
      t.same(await connection.query(sql`select 1 as one`, QUICK), [{ one: 1 }], 'the session goes on')
    }
  })
})

t.test('what the server ends does not end this process', { skip }, async t => {
  const shop = await startShop(t)
  const kill = async () => {
    const sessions = await shop.query(
      `select id from information_schema.processlist where user = '${shop.config.username}'`,
    )
    t.equal(sessions.length, 1)
    await shop.query(`kill ${String(sessions[0]?.id)}`)
  }
  const config = mysqlSettings(shop.config)
  const busy = await mysql.connect(config, connectOptions)
  const cut = failure(busy.query(sql`select sleep(60)`, { timeoutMs: 60_000 }))
  await untilRunning(shop, 1)
  await kill()
  t.match(await cut, { kind: 'network', message: /(shutting down or ended|was cut)/ })
  t.match(await failure(busy.query(sql`select 1 as one`, QUICK)), { kind: 'network' })
  await busy.close()

  const idle = await mysql.connect(config, connectOptions)
  await kill()
  t.match(await failure(idle.query(sql`select 1 as one`, QUICK)), { kind: 'network' })
  await idle.close()

  const stopped = await mysql.connect(config, connectOptions)
  const ended = failure(stopped.query(sql`select sleep(60)`, { timeoutMs: 60_000 }))
  await untilRunning(shop, 1)
  const [{ id } = {}] = await shop.query(
    `select id from information_schema.processlist where user = '${shop.config.username}'`,
  )
  await shop.query(`kill query ${String(id)}`)
  t.match(await ended.catch(() => null), { kind: 'other', code: '1317', message: /ended in the database/ })
  t.same(await stopped.query(sql`select 1 as one`, QUICK), [{ one: 1 }])
  await stopped.close()

  const closing = await mysql.connect(config, connectOptions)
  const waiting = [60, 61].map(seconds =>
    failure(closing.query(sql`select sleep(${seconds})`, { timeoutMs: 60_000 })),
  )
  await untilRunning(shop, 1)
  await closing.close()
  for (const error of await Promise.all(waiting)) t.match(error, { kind: 'network', code: 'CLOSED' })
  t.equal(await mysqlRunning(shop), 0, 'closing ends the statement that runs')
})

t.test('rows that are taken as they arrive', { skip }, async t => {
  const shop = await startShop(t)
  const open = () => openSession(mysqlSettings(shop.config), connectOptions, QUICK.timeoutMs)
  const session = await open()
  const text = "select 'a' as name, null as __proto__ union all select 'b', 'own'"
  const taken: Row[] = []
  t.same(
    await session.run({ text, values: [], onRow: row => void taken.push(row) }, QUICK),
    [],
    'none is kept',
  )
  t.same(
    taken.map(row => Object.entries(row)),
    [
      [
        ['name', 'a'],
        ['__proto__', null],
      ],
      [
        ['name', 'b'],
        ['__proto__', 'own'],
      ],
    ],
  )
  const take = () => {
    throw new Error('No more of them')
  }
  const { cause } = await failure(session.run({ text, values: [], onRow: take }, QUICK))
  t.match(
    cause,
    { message: /not shown/, stack: /^Error\n +at take / },
    'the place of a fault, without its words',
  )
  t.same(await session.run({ text: 'select 1 as one', values: [] }, QUICK), [{ one: 1 }], 'it goes on')
  await session.close()

  const busy = await open()
  const cut = failure(busy.run({ text: 'select sleep(60)', values: [], onRow() {} }, { timeoutMs: 60_000 }))
  await untilRunning(shop, 1)
  const [{ id } = {}] = await shop.query(
    `select id from information_schema.processlist where user = '${shop.config.username}'`,
  )
  await shop.query(`kill ${String(id)}`)
  t.match(await cut, { kind: 'network', message: /(shutting down or ended|was cut)/ })
  await busy.close()
})

t.test('values of every kind', { skip }, async t => {
  const shop = await startShop(t)
  await shop.query(`set session sql_mode = ''`)
  await shop.query(
    `create table v (bo boolean, two boolean, tu tinyint(1) unsigned, b1 bit, b5 bit(12), bi bigint unsigned, f float, f2 float, db double, dc decimal(5,2), y year, zd date, zt datetime, pt datetime, dm datetime(6), ts timestamp(3) null, tm time(2), e enum('a','b'), st set('a','b'), vb varbinary(9), bn binary(3), js json, la varchar(9) character set latin1, du varchar(9), u uuid)`,
  )
  await shop.query(
    `insert into v values (true, 2, 1, b'1', b'101', 18446744073709551615, 0.1, 16777217, 0.1, 1.10, 2024, '0000-00-00', '0000-00-00', '2024-02-00 01:02:03', '2024-02-29 01:02:03.456789', convert_tz('2024-02-29 01:02:03.456', '+00:00', 'SYSTEM'), '-100:00:01.5', 'b', 'a,b', x'00ff', 'x', '{"a": [1]}', 'é', '🦆', '6ba7b810-9dad-11d1-80b4-00c04fd430c8')`,
  )
  await withMysql(shop.config, async connection => {
    t.same(await connection.query(sql`select * from v`, QUICK), [
      {
        bo: true,
        two: 2,
        tu: 1,
        b1: true,
        b5: Uint8Array.of(0, 5),
        bi: '18446744073709551615',
        f: 0.1,
        f2: 16777216,
        db: 0.1,
        dc: '1.10',
        y: 2024,
        zd: '0000-00-00',
        zt: '0000-00-00 00:00:00',
        pt: '2024-02-00 01:02:03',
        dm: new Date('2024-02-29T01:02:03.456Z'),
        ts: new Date('2024-02-29T01:02:03.456Z'),
        tm: '-100:00:01.5',
        e: 'b',
        st: 'a,b',
        vb: Uint8Array.of(0, 255),
        bn: Uint8Array.of(120, 0, 0),
        js: '{"a": [1]}',
        la: 'é',
        du: '🦆',
        u: '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
      },
    ])
    const value = async (statement: ReturnType<typeof sql>) =>
      Object.values((await connection.query(statement, QUICK))[0] ?? {})[0]
    t.same(await value(sql`select 9007199254740992`), '9007199254740992')
    t.same(await value(sql`select ${1} as v`), 1)
    t.same(await value(sql`select ${2 ** 53} + 1 as v`), 2 ** 53, 'beyond 2^53 a number is a double')
    t.same(await value(sql`select ${-(2n ** 63n)} as v`), '-9223372036854775808')
    t.same(await value(sql`select ${12345678901234567890n} as v`), '12345678901234567890')
    t.same(await value(sql`select ${0.1} + ${0.2} as v`), 0.1 + 0.2)
    t.same(await value(sql`select ${true} + ${true} as v`), 2)
    t.same(await value(sql`select hex(${Uint8Array.of(0, 1, 255)}) as v`), '0001FF')
    t.same(await value(sql`select ${{ a: 1 }} as v`), '{"a":1}')
    t.same(await value(sql`select ${'a\0b'} as v`), 'a\0b')
    t.same(await value(sql`select ${null} as v`), null)
    t.same(
      await value(sql`select ${'back\\slash'} = 'back\\\\slash' as v`),
      1,
      'back-slashes escape in texts, as usual',
    )
    const moment = new Date('2024-02-29T01:02:03.456Z')
    t.same(await value(sql`select count(*) as v from v where ts = ${moment}`), 1)
    const odd = await connection.query(raw('select 1 as __proto__, 2 as `a.b`, 3 as `x`, 4 as `x`'), QUICK)
    t.same(Object.entries(odd[0] ?? {}), [
      ['__proto__', 1],
      ['a.b', 2],
      ['x', 4],
    ])
    for (const bad of [new Date(NaN), Symbol('x'), NaN, Infinity]) {
      t.match(await failure(connection.query(sql`select ${bad} as v`, QUICK)), { kind: 'invalid-query' })
    }
    t.same(await value(sql`select 1`), 1, 'the session goes on')
  })
})

t.test('sessions only read, and leave nothing open', { skip }, async t => {
  const shop = await startShop(t)
  const { username } = shop.config
  await shop.query('create table kept (id int)')
  await shop.query('create table old (id int) engine = myisam')
  await shop.query('create sequence s')
  await shop.query(
    'create function put() returns int modifies sql data begin insert into kept values (1); return 1; end',
  )
  await shop.query('create procedure open_one() begin start transaction; insert into kept values (1); end')
  await shop.query(`grant all on ${shop.name}.* to ${username}`)
  await withMysql(shop.config, async connection => {
    const refused = async (text: string, expected: object) =>
      t.match(await failure(connection.query(raw(text), QUICK)), { kind: 'invalid-query', ...expected }, text)
    for (const text of [
      'select put()',
      'select next value for s',
      'with q as (select 1) select put() from q',
      '/* a comment */ select put()',
    ]) {
      await refused(text, { code: '1792', message: /writes, and sessions here only read/ })
    }
    for (const text of [
      'insert into kept values (1)',
      'insert into old values (1)',
      'create temporary table x (id int)',
      'begin',
      'start transaction read write',
      'set session tx_read_only = 0',
      'set autocommit = 0',
      'set statement tx_read_only = 0 for insert into old values (1)',
      'begin not atomic set session tx_read_only = 0; insert into kept values (1); end',
      'call open_one()',
      'lock tables kept write',
      'use information_schema',
      '/*! insert into kept values (1) */',
      '/*M! insert into kept values (1) */',
      '/* x */ -- y\n(# z\ninsert into kept values (1)',
      `load data local infile '/etc/hostname' into table kept`,
      'handler kept open',
      'do sleep(1)',
    ]) {
      await refused(text, { message: /does more than read: use a plain SELECT/ })
    }
    await refused('select 1 as a; select 2 as b', { code: '1064' })
    await refused('select 1 into @a', { message: /gives no rows: use a plain SELECT/ })
    t.match(await failure(connection.query(raw(`select 1 into outfile '/tmp/tidemark-never'`), QUICK)), {
      kind: 'permission',
      code: '1227',
      message: /needs a right beyond reading/,
    })
    t.same(await connection.query(raw('-- a comment\n( select 1 as one )'), QUICK), [{ one: 1 }])
    t.same(
      await connection.query(
        sql`select @@tx_read_only as r, @@autocommit as a, @@in_transaction as t`,
        QUICK,
      ),
      [{ r: 1, a: 1, t: 0 }],
    )
    const [idle] = await shop.query(
      `select p.command from information_schema.processlist p where p.user = '${username}'`,
    )
    t.same(idle, { command: 'Sleep' })
  })
  t.same(await shop.query('select * from kept union all select * from old'), [])
})

t.test('an answer too large to be kept is refused while it is on its way', { skip }, async t => {
  const shop = await startShop(t)
  const usages: StatementUsage[] = []
  const options = { ...connectOptions, onStatement: (taken: StatementUsage) => void usages.push(taken) }
  for (const ssl of ['disable', 'require']) {
    const connection = await mysql.connect(mysqlSettings(shop.config, { ssl }), options)
    await connection.query(sql`select 1 as one union all select 2`, QUICK)
    const large = raw(`select repeat('x', 15000000) as a from information_schema.collations limit 40`)
    t.match(await failure(connection.query(large, QUICK)), { kind: 'invalid-query', code: 'TOO_LARGE' }, ssl)
    await connection.close()
    const [settings, two, refused] = usages.splice(0)
    t.match(settings, { statements: 1, rows: 0 })
    t.match(two, { rows: 2 })
    t.ok(two && two.bytes > 0 && two.bytes < 2_000)
    t.ok(refused && refused.bytes > 32_000_000 && refused.bytes < 200_000_000, `${refused?.bytes} bytes`)
  }
})
