import t from 'tap'
import { testConnector } from '../../connectors/conformance.ts'
import { mysql } from '../../connectors/mysql/index.ts'
import { classifyMysqlError } from '../../connectors/mysql/errors.ts'
import { sql, type Sql } from '../../connectors/sql.ts'
import { connectOptions, failure } from '../helpers/source.ts'
import { startMysqlProxy } from '../helpers/mysql-proxy.ts'
import {
  mariadbAbsent,
  mysqlRunning,
  mysqlSettings,
  startShop,
  withMysql,
  type Shop,
} from '../helpers/mariadb.ts'

const skip = mariadbAbsent
const QUICK = { timeoutMs: 20_000 }

t.test('it conforms', { skip }, async t => {
  const shop = await startShop(t)
  const proxy = await startMysqlProxy(t, shop.config)
  const config = { ...shop.config, ssl: 'disable', port: proxy.port }
  const result = await testConnector(t, {
    connector: mysql,
    config,
    setup: () => ({
      execute: text => shop.query(text),
      catalog: shop.name,
      schema: shop.name,
      refused: [
        { name: 'a wrong password', config: { ...config, password: 'not-this-one' }, kind: 'credentials' },
        { name: 'no password', config: { ...config, password: '' }, kind: 'credentials' },
        { name: 'a wrong user', config: { ...config, username: 'no_such_user' }, kind: 'credentials' },
        { name: 'a missing database', config: { ...config, database: 'nothing' }, kind: 'permission' },
        { name: 'a closed port', config: { ...config, port: 1 }, kind: 'network' },
      ],
      slow: sql`select sleep(60)`,
      countRunning: () => mysqlRunning(shop),
      systemSchemas: ['mysql'],
      countSessions: () =>
        count(shop, `select 1 from information_schema.processlist where user = '${shop.config.username}'`),
      countTransactions: () =>
        count(
          shop,
          `select 1 from information_schema.innodb_trx t join information_schema.processlist p on p.id = t.trx_mysql_thread_id
            where p.user = '${shop.config.username}' and p.command = 'Sleep'`,
        ),
      countStatements: () => proxy.commands.filter(command => /^(query|prepare)/.test(command)).length,
      revokeAccess: async () => {
        const other = await startShop(t)
        await other.query('create table secret (id int)')
        return {
          statement: sql`select id from ${mysql.dialect.table({ catalog: other.name, schema: other.name, name: 'secret' })}`,
        }
      },
      partitionedTable: (table, column) => [
        `create table ${table} (${column} date) partition by range columns (${column})
          (partition p1 values less than ('2026-01-01'), partition p2 values less than maxvalue)`,
      ],
      // MariaDB's JSON is a longtext; the check that makes it one is shown only to accounts that may do more than read.
      types: { timestamp: 'datetime', timestamptz: 'timestamp', json: null },
      // The owner's session is in the server's zone, and MariaDB reads no offset.
      literals: { timestamptz: `convert_tz('2024-02-29 13:34:56', '+01:00', 'SYSTEM')` },
      // Names end in no blank, and hold characters of the first 65,536 only.
      refusesNames: ['spaces', 'emoji'],
      comment: (table, column, comment) => [
        `alter table ${table} comment '${comment.replaceAll("'", "''")}'`,
        `alter table ${table} modify ${column} varchar(200) comment '${comment.replaceAll("'", "''")}'`,
      ],
      analyze: table => [`analyze table ${table}`],
      async hideTable() {
        await shop.query('create table unseen (id int)')
        await shop.query('create table seen (id int)')
        const stranger = `${shop.name}_s`
        await shop.query(`create user ${stranger} identified by 'stranger-1'`)
        t.teardown(() => shop.query(`drop user ${stranger}`))
        await shop.query(`grant select on ${shop.name}.seen to ${stranger}`)
        const config = { ...shop.config, username: stranger, password: 'stranger-1' }
        return { table: { catalog: shop.name, schema: shop.name, name: 'unseen' }, config }
      },
      async hideColumns() {
        await shop.query(
          `create table partly (id int primary key, secret int, a int, unique (secret), unique both_of (a, secret),
             constraint to_own foreign key (a) references partly (id))`,
        )
        const username = `${shop.name}_p`
        await shop.query(`create user ${username} identified by 'partly-1'`)
        t.teardown(() => shop.query(`drop user ${username}`))
        await shop.query(`grant select (id, a) on ${shop.name}.partly to ${username}`)
        const config = { ...shop.config, username, password: 'partly-1' }
        return { table: { catalog: shop.name, schema: shop.name, name: 'partly' }, config }
      },
    }),
  })
  t.match(result, { conforming: true, skipped: [] })
})

t.test('the configuration says what is wrong with it', async t => {
  const good = { host: 'db.example.com', database: 'shop', user: 'reader', password: 'x' }
  t.same(mysqlSettings(good), {
    host: 'db.example.com',
    port: 3306,
    database: 'shop',
    username: 'reader',
    password: 'x',
    ssl: 'prefer',
  })
  const refused = (changes: object) => mysql.config.validate({ ...good, ...changes }).error?.message ?? ''
  t.match(refused({ host: '/run/mysqld/mysqld.sock' }), /host must be a host name or an address, not a path/)
  t.match(refused({ host: 'mysql://a@b' }), /not a path or URL/)
  t.match(refused({ username: 'both' }), /user/)
  t.match(refused({ ssl: 'Amazon RDS' }), /ssl/)
  t.match(refused({ database: 'shop\0other' }), /database.* must not hold a NUL/)
  t.match(refused({ user: 'reader\0' }), /username.* must not hold a NUL/)
  t.match(refused({ ssl_ca: '/etc/passwd' }), /certificate in PEM form/)
  for (const key of [
    'flags',
    'sslmode',
    'socketPath',
    'uri',
    'stream',
    'multipleStatements',
    'authPlugins',
  ]) {
    t.match(refused({ [key]: 'x' }), /is not allowed/, key)
  }
})

t.test('statements are counted', { skip }, async t => {
  const shop = await startShop(t)
  await shop.query('create table a (id int primary key)')
  const proxy = await startMysqlProxy(t, shop.config)
  const config = { ...shop.config, ssl: 'disable', port: proxy.port }
  const sent = () =>
    proxy.commands
      .splice(0)
      .filter(command => command !== 'close')
      .map(command => command.split(' ').slice(0, 3).join(' ').trim())

  await withMysql(config, async connection => {
    t.match(sent(), [/^query set @@session.tx_read_only$/], 'connecting sends one')
    await connection.introspect()
    t.match(sent(), [/^prepare/, 'execute'], 'reading the catalog sends one')
    const { catalog, schema, name } = { catalog: shop.name, schema: shop.name, name: 'a' }
    await connection.estimates?.([{ catalog, schema, name }])
    t.match(sent(), [/^prepare/, 'execute'], 'and so do estimates')
    t.same(await connection.estimates?.([]), new Map())
    t.same(await connection.introspect({ tables: [] }), [])
    t.same(sent(), [], 'nothing is asked about nothing')

    for (const timeoutMs of [5000, 5000, 6000]) await connection.query(sql`select ${1} as one`, { timeoutMs })
    t.match(
      sent(),
      [
        /^query set @@session.max_statement_time/,
        ...['prepare select ?', 'execute', 'execute'],
        /^query set @@session.max_statement_time/,
        'execute',
      ],
      'a limit is set only when it changes, a statement prepared only when it is another',
    )
  })

  const options = { ...connectOptions, statementTimeoutMs: 5000 }
  const connection = await mysql.connect(mysqlSettings(config), options)
  sent()
  await connection.query(sql`select 1 as one`, { timeoutMs: 5000 })
  t.same(sent(), ['prepare select 1', 'execute'], 'the limit that most statements have costs none')
  await connection.close()

  sent()
  const stages = await mysql.test(mysqlSettings(config), connectOptions)
  t.same(
    stages.map(stage => stage.status),
    ['passed', 'skipped', 'passed', 'passed'],
  )
  t.match(sent(), [/^query set/, /^prepare/, 'execute', 'quit'], 'a connection test sends two')
})

t.test('failures name their cause', { skip }, async t => {
  const shop = await startShop(t)
  const other = await startShop(t)
  await other.query('create table secret (id int)')
  await shop.query('create table mine (id int, hidden int)')
  await shop.query('create view broken as select id from mine')
  const limited = `${shop.name}_l`
  await shop.query(`create user ${limited} identified by 'x' with max_user_connections 1`)
  await shop.query(`grant select (id) on ${shop.name}.mine to ${limited}`)
  await shop.query(`create user ${limited}2 identified via ed25519 using password('x')`)
  t.teardown(() => shop.query(`drop user ${limited}, ${limited}2`))
  const fails = (changes: object) =>
    failure(mysql.connect(mysqlSettings(shop.config, changes), connectOptions))

  t.match(await fails({ password: 'not-this-one' }), { kind: 'credentials', code: '1045' })
  t.match(await fails({ database: 'nothing' }), {
    kind: 'permission',
    code: '1044',
    message: /no such database, or the account may not use it: check database, and grant/,
  })
  t.match(await fails({ username: 'root', password: shop.server.password, database: 'nothing' }), {
    kind: 'missing-object',
    code: '1049',
  })
  t.match(await fails({ username: `${limited}2`, password: 'x' }), {
    kind: 'credentials',
    message: /a method that is not supported here: use .* mysql_native_password/,
  })
  t.match(await fails({ port: 1 }), { kind: 'network', code: 'ECONNREFUSED' })

  await withMysql({ ...shop.config, username: limited, password: 'x' }, async connection => {
    t.match(await fails({ username: limited, password: 'x' }), { kind: 'network', code: '1226' })
    t.match(await failure(connection.query(sql`select hidden from mine`, QUICK)), {
      kind: 'permission',
      code: '1143',
      message: /^The account may not read "\S*hidden" \(1143\): grant the account SELECT/,
    })
    t.match(await failure(connection.query(sql`select * from ${ref(other, 'secret')}`, QUICK)), {
      kind: 'permission',
      code: '1142',
    })
    t.same(
      (await connection.introspect()).map(table => [table.name, table.columns.map(column => column.name)]),
      [['mine', ['id']]],
      'the catalog shows what may be read',
    )
  })

  await withMysql(shop.config, async connection => {
    t.match(await failure(connection.query(sql`select nothing`, QUICK)), {
      kind: 'missing-object',
      code: '1054',
      message: /^The column "nothing" does not exist \(1054\): run a discovery .* single quotes/,
    })
    t.match(await failure(connection.query(sql`select * from nothing`, QUICK)), { code: '1146' })
    t.match(await failure(connection.query(sql`select nothing(1)`, QUICK)), {
      kind: /missing-object|permission/,
    })
    t.match(await failure(connection.query(sql`select 1 + from`, QUICK)), {
      kind: 'invalid-query',
      code: '1064',
    })
    t.match(await failure(connection.query(sql`select (select 1 union select 2)`, QUICK)), {
      kind: 'invalid-query',
      code: '1242',
    })
    t.match(await failure(connection.query(sql`select 18446744073709551615 + 1 as v`, QUICK)), {
      kind: 'invalid-query',
      code: '1690',
    })
    await shop.query('drop table mine')
    t.match(await failure(connection.query(sql`select * from broken`, QUICK)), {
      kind: 'invalid-query',
      code: '1356',
    })
    t.same(
      (await connection.introspect()).map(({ name, comment }) => ({ name, comment })),
      [{ name: 'broken', comment: null }],
    )
    await shop.query('create table mine (id int)')
    await shop.query('lock table mine write')
    t.match(await failure(connection.query(sql`select * from mine`, QUICK)), {
      kind: 'timeout',
      code: '1205',
    })
    await shop.query('unlock tables')
    t.same(await connection.query(sql`select * from mine`, QUICK), [])
  })
})

t.test('errors that only MySQL 8, or bad luck, gives', async t => {
  const classified = (thrown: object) =>
    classifyMysqlError('mysql', Object.assign(new Error('as thrown'), thrown))
  const server = (errno: number, sqlState = 'HY000') => classified({ errno, sqlState, code: 'ER_SOMETHING' })
  const kinds: [number, string, string][] = [
    [1698, '28000', 'credentials'],
    [3118, 'HY000', 'credentials'],
    [3159, 'HY000', 'tls'],
    [3024, 'HY000', 'timeout'],
    [1213, '40001', 'timeout'],
    [1040, '08004', 'network'],
    [1203, '42000', 'network'],
    [1129, 'HY000', 'network'],
    [4031, 'HY000', 'network'],
    [1153, '08S01', 'invalid-query'],
    [3685, 'HY000', 'invalid-query'],
    [1267, 'HY000', 'invalid-query'],
    [3988, 'HY000', 'invalid-query'],
    [4078, 'HY000', 'invalid-query'],
    [4079, 'HY000', 'invalid-query'],
    [1305, '42000', 'missing-object'],
    [1370, '42000', 'permission'],
    [1105, 'HY000', 'other'],
  ]
  for (const [errno, state, kind] of kinds) {
    t.match(server(errno, state), { kind, code: String(errno) }, String(errno))
  }
  const near = { errno: 1064, sqlState: '42000', message: "syntax error near 'authentication plugin'" }
  t.match(classified(near), { kind: 'invalid-query' }, 'words of the statement mean nothing')
  t.match(server(1370, '42000').message, /^as thrown: grant the account SELECT/)
  t.match(classified({ code: 'PROTOCOL_CONNECTION_LOST', fatal: true }), { kind: 'network' })
  t.match(classified({ code: 'ETIMEDOUT', errno: -110 }), { kind: 'timeout', code: 'ETIMEDOUT' })
  const expired = Object.assign(new Error('certificate has expired'), { code: 'HANDSHAKE_SSL_ERROR' })
  t.match(classifyMysqlError('mysql', expired), {
    kind: 'tls',
    message: /has expired or is not yet valid: renew it/,
  })
  t.equal(
    classifyMysqlError('mysql', classifyMysqlError('mysql', expired)).message,
    classifyMysqlError('mysql', expired).message,
  )
})

t.test('an account with too many rights is pointed out', { skip }, async t => {
  const shop = await startShop(t)
  const catalogMessage = async () =>
    (await mysql.test(mysqlSettings(shop.config), connectOptions)).at(-1)?.message
  t.equal(await catalogMessage(), 'The catalog has 0 tables and views.')
  await shop.query(`grant insert on ${shop.name}.* to ${shop.config.username}`)
  t.match(await catalogMessage(), /may do more than read \(INSERT\): use one with only SELECT/)
  await shop.query(`grant file on *.* to ${shop.config.username}`)
  t.match(await catalogMessage(), /\(FILE, INSERT\)/)
})

function ref(shop: Shop, name: string): Sql {
  return mysql.dialect.table({ catalog: shop.name, schema: shop.name, name })
}

async function count(shop: Shop, select: string): Promise<number> {
  return (await shop.query(select)).length
}
