import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { conformanceTable, testConnector } from '../../connectors/conformance.ts'
import { accountHost } from '../../connectors/snowflake/config.ts'
import { makeSnowflakeClassifier } from '../../connectors/snowflake/errors.ts'
import { makeSnowflake } from '../../connectors/snowflake/index.ts'
import { introspect, modifiedAt } from '../../connectors/snowflake/introspect.ts'
import { readKeys } from '../../connectors/snowflake/keys.ts'
import { tokenAccount, fingerprint, makeSnowflakeSigner } from '../../connectors/snowflake/token.ts'
import { columnKind, formatType } from '../../connectors/snowflake/types.ts'
import { bindValues, readRows } from '../../connectors/snowflake/values.ts'
import { RestFailure } from '../../connectors/rest/errors.ts'
import { raw, sql } from '../../connectors/sql.ts'
import { withoutComparison } from '../helpers/without-comparison.ts'
import { failure } from '../helpers/source.ts'
import { keyPair, startSnowflake, withSnowflake } from '../helpers/snowflake.ts'
import { quoteName } from '../helpers/snowflake/tokens.ts'
import { INFORMATION_SCHEMA } from '../helpers/snowflake/translate.ts'
import { startService, type Answer } from '../helpers/warehouse.ts'

const QUICK = { timeoutMs: 20_000 }
const MINUTE = 60_000

t.test('it conforms', async t => {
  const double = await startSnowflake(t)
  const { connector, config, withToken, egress } = double
  const result = await testConnector(t, {
    connector: withoutComparison(connector),
    config,
    egress,
    setup: () => ({
      execute: double.execute,
      catalog: 'SHOP',
      schema: 'PUBLIC',
      partitionedTable: (table, column) => [`create table ${table} (${column} date) cluster by (${column})`],
      types: {
        binary: 'binary',
        timestamp: 'timestamp_ntz',
        timestamptz: 'timestamp_tz',
        json: 'variant',
      },
      literals: {
        binary: `to_binary('00ff10', 'HEX')`,
        json: `parse_json('{"a": [1, "x", null], "b": {}}')`,
      },
      refused: [
        { name: 'a wrong token', config: { ...withToken, password: 'correct horse' }, kind: 'credentials' },
        {
          name: 'a key of another user',
          config: { ...config, username: 'no_such_user' },
          kind: 'credentials',
        },
        {
          name: 'a role that was not granted',
          config: { ...config, role: 'ACCOUNTADMIN' },
          kind: 'credentials',
        },
        { name: 'a missing database', config: { ...config, database: 'NOTHING' }, kind: 'missing-object' },
        { name: 'a missing warehouse', config: { ...config, warehouse: 'small' }, kind: 'missing-object' },
        { name: 'a missing schema', config: { ...config, schema: 'NOTHING' }, kind: 'missing-object' },
        {
          name: 'an unknown account',
          config: { ...config, account: 'unknown-account' },
          kind: 'credentials',
        },
        { name: 'a host that does not resolve', config: { ...config, account: 'a-b' }, kind: 'network' },
      ],
      slow: sql`select system$wait(60)`,
      countRunning: async () => double.warehouse.running(),
      countStatements: double.statements,
      analyze: () => [],
      async revokeAccess() {
        await double.execute('create table "SHOP"."PUBLIC"."revoked" ("id" integer)')
        double.restrict('revoked')
        return { statement: sql`select "id" from "SHOP"."PUBLIC"."revoked"` }
      },
    }),
  })
  t.equal(result.conforming, true)
  t.comment(conformanceTable({ 'snowflake (double)': result }))
})

t.test('the configuration says what is wrong with it', async t => {
  const { connector, config, withToken } = await startSnowflake(t)
  const refused = (changes: object, from: object = withToken) =>
    connector.config.validate({ ...from, ...changes }).error?.message ?? ''
  t.equal(refused({}), '')
  t.equal(refused({}, config), '')
  for (const account of ['myorg-account1', 'xy12345', 'xy12345.us-east-2.aws', 'my_org-my_account'])
    t.equal(refused({ account }), '', account)
  for (const account of [
    'https://myorg-account1.snowflakecomputing.com',
    'myorg-account1.snowflakecomputing.com',
    'myorg-account1/path',
    'user@myorg',
    '..',
    'a.b:443',
  ]) {
    t.match(refused({ account }), /account must be the account identifier.*not a URL/, account)
  }
  t.match(refused({ password: undefined }), /private_key is missing: give the private key/)
  t.match(refused({ private_key: keyPair().privateKey }), /exclude each other/)
  t.match(refused({ private_key: '/keys/rsa.p8', password: undefined }), /private key in PEM form/)
  t.match(refused({ private_key_passphrase: 'x' }), /private_key/)
  for (const key of ['host', 'port', 'authenticator', 'token', 'parameters'])
    t.match(refused({ [key]: 'x' }), /is not allowed/, key)

  t.equal(accountHost('My_Org-My_Account'), 'my-org-my-account.snowflakecomputing.com')
  t.equal(accountHost('xy12345.eu-central-1'), 'xy12345.eu-central-1.snowflakecomputing.com')
  t.equal(accountHost('xy12345.cn-northwest-1.aws'), 'xy12345.cn-northwest-1.aws.snowflakecomputing.cn')
  t.equal(tokenAccount('my_org-my_account'), 'MY_ORG-MY_ACCOUNT')
  t.equal(tokenAccount('xy12345.us-east-2.aws'), 'XY12345')
  t.equal(tokenAccount('account-1234567890.global'), 'ACCOUNT')
})

t.test('tokens are signed with the private key', async t => {
  const { publicKey, privateKey } = keyPair()
  const config = { account: 'xy12345.eu-central-1', username: 'reader', warehouse: 'W', database: 'D' }
  const tokenAt = (sign: ReturnType<typeof makeSnowflakeSigner>, now: number) =>
    String(sign(now).authorization).replace('Bearer ', '')

  await t.test('for an hour at most, and anew before they run out', async t => {
    const sign = makeSnowflakeSigner({ ...config, private_key: privateKey })
    const now = Date.now()
    t.equal(sign(now)['x-snowflake-authorization-token-type'], 'KEYPAIR_JWT')
    const first = tokenAt(sign, now)
    const claims = jwt.verify(first, publicKey, { algorithms: ['RS256'] }) as jwt.JwtPayload
    t.equal(claims.sub, 'XY12345.READER')
    t.equal(claims.iss, `XY12345.READER.${fingerprint(createPrivateKey(privateKey))}`)
    t.equal(Number(claims.exp) - Number(claims.iat), 59 * 60)
    t.equal(tokenAt(sign, now + 50 * MINUTE), first)
    const second = jwt.decode(tokenAt(sign, now + 55 * MINUTE)) as jwt.JwtPayload
    t.ok(Number(second.exp) * 1000 > now + 100 * MINUTE)
  })

  await t.test('in every form that keys have', async t => {
    const options = { cipher: 'aes-256-cbc', passphrase: 'open sesame', format: 'pem' } as const
    const key = createPrivateKey(privateKey)
    const encrypted = String(key.export({ type: 'pkcs8', ...options }))
    const passphrase = { private_key_passphrase: 'open sesame' }
    for (const [name, settings] of Object.entries({
      'PKCS#8': { private_key: privateKey },
      'PKCS#1': { private_key: String(key.export({ type: 'pkcs1', format: 'pem' })) },
      encrypted: { private_key: encrypted, ...passphrase },
      'an older encryption': {
        private_key: String(key.export({ type: 'pkcs1', ...options })),
        ...passphrase,
      },
      'line breaks written out': { private_key: privateKey.replaceAll('\n', String.raw`\n`) },
    })) {
      const token = tokenAt(makeSnowflakeSigner({ ...config, ...settings }), Date.now())
      t.ok(jwt.verify(token, publicKey), name)
    }
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
    const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const der = Buffer.from(encrypted.replaceAll(/-----.*-----|\n/g, ''), 'base64')
    const rounds = der.indexOf(Buffer.from([0x02, 0x02, 0x08, 0x00]))
    t.ok(rounds > 0, 'the number of rounds was found')
    der.set([0x02, 0x02, 0x7f, 0xff], rounds)
    const slow = `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${der.toString('base64')}\n-----END ENCRYPTED PRIVATE KEY-----`
    for (const [settings, message] of [
      [{ private_key: encrypted }, /is encrypted: set private_key_passphrase/],
      [{ private_key: encrypted, private_key_passphrase: 'close sesame' }, /check private_key_passphrase/],
      [{ private_key: privateKey.slice(0, 900) }, /cannot be read: check that it is whole/],
      [{ private_key: String(small.export({ type: 'pkcs8', format: 'pem' })) }, /has 1024 bits/],
      [{ private_key: String(curve.export({ type: 'pkcs8', format: 'pem' })) }, /is no RSA key/],
      [{ private_key: slow, ...passphrase }, /check private_key_passphrase/],
    ] as const) {
      t.throws(() => makeSnowflakeSigner({ ...config, ...settings }), { kind: 'credentials', message })
    }
  })

  await t.test('a key whose opening would hold everything up is refused unopened', async t => {
    // SEQUENCE { SEQUENCE { INTEGER 2^31 } }: as many rounds as the format allows.
    const der = Buffer.from([0x30, 0x09, 0x30, 0x07, 0x02, 0x05, 0x00, 0x80, 0x00, 0x00, 0x00])
    const pem = `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${der.toString('base64')}\n-----END ENCRYPTED PRIVATE KEY-----`
    const refused = (key: string) =>
      t.throws(() => makeSnowflakeSigner({ ...config, private_key: key, private_key_passphrase: 'x' }), {
        message: /too many rounds/,
      })
    refused(pem)
    refused(pem.replaceAll('ENCRYPTED ', ''))
    // SEQUENCE { INTEGER 2^14, INTEGER 2^4, INTEGER 2^14 }: the cost of scrypt is their product.
    const scrypt = Buffer.from([0x30, 0x0b, 0x02, 0x02, 0x40, 0x00, 0x02, 0x01, 0x10, 0x02, 0x02, 0x40, 0x00])
    refused(pem.replace(der.toString('base64'), scrypt.toString('base64')))
    const harmless = pem.replace(der.toString('base64'), 'MAUwAwIBAQ==')
    const afterAnother = { private_key: `${harmless}\n${pem}`, private_key_passphrase: 'x' }
    t.throws(() => makeSnowflakeSigner({ ...config, ...afterAnother }), { message: /cannot be opened/ })
    const good = String(
      createPrivateKey(privateKey).export({
        type: 'pkcs8',
        format: 'pem',
        cipher: 'aes-256-cbc',
        passphrase: 'x',
      }),
    )
    const goodAfterAnother = { private_key: `${harmless}\n${good}`, private_key_passphrase: 'x' }
    t.throws(
      () => makeSnowflakeSigner({ ...config, ...goodAfterAnother }),
      { message: /cannot be opened/ },
      'only one is tried',
    )
  })
})

t.test('requests are counted and say who asks', async t => {
  const double = await startSnowflake(t)
  await double.execute('create table "SHOP"."PUBLIC"."a" ("id" integer)')
  const { requests } = double.service
  const since = (at: number) => requests.slice(at).filter(({ method }) => method === 'POST').length

  await withSnowflake(double, async connection => {
    t.equal(since(0), 1, 'connecting sends one statement')
    const [{ body, query, headers } = {}] = requests as {
      body: object
      query: URLSearchParams
      headers: object
    }[]
    t.match(body, {
      warehouse: 'SMALL',
      database: 'SHOP',
      timeout: 10,
      parameters: { TIMEZONE: 'UTC', QUERY_TAG: 'tidemark', MULTI_STATEMENT_COUNT: '1' },
    })
    t.match(headers, { 'user-agent': /^tidemark\// })
    t.equal(query?.get('async'), 'true')
    let at = requests.length
    await connection.introspect()
    t.equal(since(at), 5, 'reading the catalog sends five')
    at = requests.length
    await connection.estimates?.([{ catalog: 'SHOP', schema: 'PUBLIC', name: 'a' }])
    t.equal(since(at), 1)
    at = requests.length
    await connection.estimates?.([])
    t.equal(since(at), 0)
    await connection.query(sql`select 1 as one`, { timeoutMs: 1200, maxRows: 7 })
    t.match(requests[at]?.body, { timeout: 2, parameters: { ROWS_PER_RESULTSET: '7' } })
  })
  const at = requests.length
  const stages = await double.connector.test(double.config, double.options)
  t.ok(stages.every(stage => stage.status === 'passed'))
  t.equal(stages.at(-1)?.message, 'The catalog has 1 tables and views.')
  t.equal(since(at), 2, 'a connection test sends two')
})

t.test('a service that takes requests and never answers is given up in time', async t => {
  const { config, options } = await startSnowflake(t)
  const silence = Promise.withResolvers<Answer>()
  t.teardown(() => silence.resolve({ status: 400, body: {} }))
  const { port } = await startService(t, [accountHost(config.account)], () => silence.promise)
  const connecting = makeSnowflake({ port }).connect(config, {
    ...options,
    egress: { ...options.egress, address: async () => '127.0.0.1' },
    connectTimeoutMs: 300,
  })
  const late = sleep(10_000, new Error('still connecting'), { ref: false })
  t.match(await Promise.race([failure(connecting), late]), { kind: 'timeout', code: 'ETIMEDOUT' })
})

t.test('a busy service is asked again, and no statement runs twice', async t => {
  const double = await startSnowflake(t)
  await withSnowflake(double, async connection => {
    const before = double.statements()
    double.fail(429, 503)
    t.same(await connection.query(sql`select 1 as "one"`, QUICK), [{ one: 1 }])
    t.equal(double.statements(), before + 1)
    double.loseAnswer()
    t.same(await connection.query(sql`select 2 as "two"`, QUICK), [{ two: 2 }])
    t.equal(double.statements(), before + 2, 'handed over again, it was known by its id')
    const handed = double.statements()
    const { requests } = double.service
    const at = requests.length
    const doing = failure(connection.query(sql`select system$wait(60)`, QUICK))
    while (double.warehouse.running() === 0) await sleep(5)
    double.fail(...Array.from({ length: 8 }, () => 503))
    t.match(await doing, { kind: 'network' })
    t.equal(double.statements(), handed + 1)
    t.ok(
      requests.slice(at).some(({ path }) => path.endsWith('/cancel')),
      'cancelled, not left to run',
    )
    double.fail(400)
    t.match(await failure(connection.query(sql`select 1 as "one"`, QUICK)), { code: '400' })
  })
})

t.test('results of many pages', async t => {
  const double = await startSnowflake(t)
  await double.execute('create table "SHOP"."PUBLIC"."n" ("n" integer)')
  const many = Array.from({ length: 9000 }, (_, index) => `(${index})`).join(', ')
  await double.execute(`insert into "SHOP"."PUBLIC"."n" values ${many}`)
  await withSnowflake(double, async connection => {
    const at = double.service.requests.length
    const rows = await connection.query(sql`select "n" from "SHOP"."PUBLIC"."n" order by "n"`, QUICK)
    t.equal(rows.length, 9000)
    t.same(rows[8999], { n: 8999 })
    const parts = double.service.requests.slice(at).map(({ query }) => query.get('partition'))
    t.same(parts.filter(Boolean), ['1', '2', '3'])
    double.loseRow()
    const cut = await failure(connection.query(sql`select "n" from "SHOP"."PUBLIC"."n"`, QUICK))
    t.match(cut, { kind: 'other', code: 'INCOMPLETE' }, 'whole or an error')
    t.equal((await connection.query(sql`select "n" from "SHOP"."PUBLIC"."n"`, QUICK)).length, 9000)
    t.same(await connection.query(sql`select "n" from "SHOP"."PUBLIC"."n"`, { ...QUICK, maxRows: 0 }), [])
    const limit = double.service.requests.findLast(({ method }) => method === 'POST')?.body
    t.match(limit, { parameters: { ROWS_PER_RESULTSET: '1' } }, 'none would be no limit')
  })
})

t.test('failures name their cause', async t => {
  const double = await startSnowflake(t)
  const { config, withToken, connector, options } = double
  await withSnowflake(double, async connection => {
    const message = async (text: string) => {
      const { kind, code, message } = await failure(connection.query(raw(text), QUICK))
      return `${kind} ${code} ${message}`
    }
    t.match(
      await message('select * from "SHOP"."PUBLIC"."none"'),
      /^missing-object 002003 .*: run a discovery/,
    )
    t.match(await message('selec 1'), /^invalid-query 001003 /)
    t.match(await message('select 1; select 2'), /^invalid-query 000008 The text holds more than one/)
    t.match(await message('select nothing(1)'), /^invalid-query 002140 There is no .*function/)
    t.match(await message(`select 'x'::number from "SHOP"."PUBLIC"."none"`), /^(missing|invalid)/)
  })
  const refusal = async (changes: object) => failure(connector.connect({ ...config, ...changes }, options))
  t.match(await refusal({ private_key: undefined, password: 'secret-password' }), {
    kind: 'credentials',
    code: '394400',
    message: /^password is no programmatic access token that Snowflake takes.*or use a key pair/,
  })
  t.match(await refusal({ username: 'other' }), {
    kind: 'credentials',
    code: '390144',
    message: /RSA_PUBLIC_KEY_FP.*clock/,
  })
  t.match(await refusal({ database: 'shop' }), {
    kind: 'missing-object',
    message: /no database shop.*exact case that SHOW DATABASES prints/,
  })
  t.match(await failure(connector.connect({ ...withToken, role: 'X' }, options)), { message: /check role/ })

  const classify = makeSnowflakeClassifier(config)
  const kindOf = (code: string, message = 'said', status = 422) =>
    classify(new RestFailure(status, { code, message })).kind
  for (const [code, kind] of Object.entries({
    '390100': 'credentials',
    '390101': 'credentials',
    '390114': 'credentials',
    '390144': 'credentials',
    '390189': 'credentials',
    '390201': 'missing-object',
    '390420': 'credentials',
    '390422': 'credentials',
    '000606': 'other',
    '090030': 'invalid-query',
    '000604': 'other',
    '000605': 'timeout',
    '000630': 'timeout',
    '000904': 'invalid-query',
    '001003': 'invalid-query',
    '002003': 'missing-object',
    '003001': 'permission',
    '100038': 'invalid-query',
    '100051': 'invalid-query',
    '391911': 'invalid-query',
    '250001': 'network',
    '999999': 'other',
  })) {
    t.equal(kindOf(code), code === '000904' ? 'missing-object' : kind, code)
  }
  t.equal(classify(new RestFailure(401, {})).kind, 'credentials')
  t.equal(classify(new RestFailure(404, {})).kind, 'missing-object')
  t.equal(classify(new RestFailure(429, {})).kind, 'network')
  t.equal(classify(new RestFailure(408, { code: '1', message: 'x' })).kind, 'timeout')
})

t.test('a table without columns is dropped, or there and not listed', async t => {
  const double = await startSnowflake(t)
  const home = `"SHOP".${quoteName(INFORMATION_SCHEMA)}`
  for (const name of ['blind', 'brief', 'plain'])
    await double.execute(`create table "SHOP"."PUBLIC"."${name}" ("id" integer)`)
  await double.warehouse.execute(`alter view ${home}.COLUMNS rename to EVERY_COLUMN`)
  const listed = `select * from ${home}.EVERY_COLUMN where TABLE_NAME <> 'blind'`
  await double.warehouse.execute(`create view ${home}.COLUMNS as ${listed}`)
  const { connector } = double
  await withSnowflake(double, async connection => {
    const tables = await connection.introspect()
    t.match(tables, [{ name: 'blind', columns: [] }, { name: 'brief' }, { name: 'plain' }])
    t.match(tables[0]?.columnsError, {
      kind: 'invalid-query',
      engine: connector.name,
      message: /no columns of PUBLIC\.blind/,
    })
    t.notOk(tables[1]?.columnsError)
  })
  const rows = (sql: { strings: readonly string[] }) => {
    const text = sql.strings.join('')
    const row = { schema: 'PUBLIC', name: 'brief', type: 'BASE TABLE', rows: 0, comment: null }
    // Dropped after the first statement.
    return Promise.resolve(text.includes('row_count') && asked++ === 0 ? [row] : [])
  }
  let asked = 0
  t.same(await introspect(rows, { database: 'SHOP' }), [])
  t.equal(asked, 2)
})

t.test('the rules of foreign keys are those that SHOW prints', async t => {
  const row = {
    ...{ fk_schema_name: 'PUBLIC', fk_table_name: 'c', fk_column_name: 'p', key_sequence: 1 },
    ...{ pk_database_name: 'SHOP', pk_schema_name: 'PUBLIC', pk_table_name: 'p', pk_column_name: 'id' },
  }
  const shown = [
    { fk_name: 'a', delete_rule: 'NO ACTION', update_rule: 'NO ACTION', deferrability: 'NOT DEFERRABLE' },
    { fk_name: 'b', delete_rule: 'CASCADE', update_rule: 'SET NULL', deferrability: 'INITIALLY IMMEDIATE' },
    {
      fk_name: 'c',
      delete_rule: 'RESTRICT',
      update_rule: 'SET DEFAULT',
      deferrability: 'INITIALLY DEFERRED',
    },
  ].map(rules => ({ ...row, ...rules }))
  const tables = [{ catalog: 'SHOP', schema: 'PUBLIC', name: 'c' }]
  const keys = await readKeys(() => Promise.resolve(shown), { database: 'SHOP' }, 'IMPORTED', tables)
  t.same(
    keys.map(({ constraint }) => constraint.properties),
    [
      {},
      { onDelete: 'cascade', onUpdate: 'set_null', deferrable: true },
      { onDelete: 'restrict', onUpdate: 'set_default', deferrable: true, initiallyDeferred: true },
    ],
  )
})

t.test('keys beyond the ten thousand that SHOW lists are read all the same', async t => {
  const double = await startSnowflake(t)
  const table = (name: string) => `"SHOP"."PUBLIC"."${name}"`
  await double.execute(`create table ${table('a')} ("id" integer, primary key ("id"))`)
  await double.execute(`create table ${table('n')} ("x" integer, "y" integer, primary key ("x", "y"))`)
  await double.execute(
    `create table ${table('z')} ("id" integer, "x" integer, "y" integer, primary key ("id"), foreign key ("x", "y") references ${table('n')} ("x", "y"))`,
  )
  // One key of a column each, by name between a and n, of which the second column is the first that is not listed.
  const keys = `"SHOP".${quoteName(INFORMATION_SCHEMA)}.keys`
  const some = (kind: string, count: number) =>
    double.warehouse.execute(
      `insert into ${keys} select '${kind}', 'b' || i, 'KEY_' || i, 1, 'id', 'n', 'x', 'SHOP', 'PUBLIC' from range(${count}) r(i)`,
    )
  await some('PRIMARY', 9_998)
  await some('IMPORTED', 10_000)
  await withSnowflake(double, async connection => {
    const keysOf = (tables: Awaited<ReturnType<typeof connection.introspect>>) =>
      tables.flatMap(({ name, constraints }) =>
        constraints.map(({ type, columns }) => `${name} ${type} ${columns.join(', ')}`),
      )
    const sent = double.statements()
    t.same(keysOf(await connection.introspect()), [
      'a primary_key id',
      'n primary_key x, y',
      'z foreign_key x, y',
      'z primary_key id',
    ])
    t.equal(double.statements() - sent, 5 + 3 + 2, 'and asked for where they are missing')
    const one = await connection.introspect({ tables: [{ catalog: 'SHOP', schema: 'PUBLIC', name: 'n' }] })
    t.same(keysOf(one), ['n primary_key x, y'])
  })
})

t.test(
  'a schema that the role no longer sees may still be there; a table of one that it sees is gone',
  async t => {
    const double = await startSnowflake(t)
    await double.execute('create table "SHOP"."PUBLIC"."kept" ("id" integer)')
    await withSnowflake(double, async connection => {
      const [kept] = await connection.introspect()
      t.equal(kept?.name, 'kept')
      const at = (schema: string, name: string) => ({ catalog: 'SHOP', schema, name })
      const sent = double.statements()
      const hidden = await connection.findHiddenTables?.([
        at('PUBLIC', 'gone'),
        at('LOST', 'a'),
        at('LOST', 'b'),
      ])
      t.same([...(hidden?.keys() ?? [])], ['SHOP.LOST.a', 'SHOP.LOST.b'])
      t.match(hidden?.get('SHOP.LOST.a'), { kind: 'permission', message: /USAGE.*exclude_patterns/ })
      t.equal(double.statements() - sent, 1)
      t.equal((await connection.findHiddenTables?.([{ ...at('LOST', 'a'), catalog: 'ELSEWHERE' }]))?.size, 0)
    })
  },
)

t.test('the catalog', async t => {
  const double = await startSnowflake(t)
  await double.execute(
    'create table "SHOP"."PUBLIC".KINDS (i integer, n number(10,2), n38 number, f float, v varchar(20), vm varchar, b boolean, ' +
      'd date, t time(3), tn timestamp_ntz(6), tl timestamp_ltz, tz timestamp_tz, bi binary, va variant, o object, a array, g geography)',
  )
  await double.execute('create view "SHOP"."PUBLIC"."seen" as select i from "SHOP"."PUBLIC".KINDS')
  await withSnowflake(double, async connection => {
    const [kinds, seen] = await connection.introspect()
    t.same([kinds?.name, kinds?.kind, seen?.name, seen?.kind], ['KINDS', 'table', 'seen', 'view'])
    t.same(
      kinds?.columns.map(({ name, type, kind }) => `${name} ${type} ${kind}`),
      [
        'I number(38,0) integer',
        'N number(10,2) decimal',
        'N38 number(38,0) integer',
        'F float float',
        'V varchar(20) text',
        'VM varchar(16777216) text',
        'B boolean boolean',
        'D date date',
        'T time(3) time',
        'TN timestamp_ntz(6) timestamp',
        'TL timestamp_ltz(9) timestamp',
        'TZ timestamp_tz(9) timestamp',
        'BI binary(8388608) binary',
        'VA variant json',
        'O object json',
        'A array json',
        'G geography other',
      ],
    )
    const elsewhere = { catalog: 'OTHER', schema: 'PUBLIC', name: 'KINDS' }
    t.same(await connection.introspect({ tables: [elsewhere] }), [])
    const more = Array.from({ length: 1500 }, (_, index) => ({
      ...elsewhere,
      catalog: 'SHOP',
      name: `N${index}`,
    }))
    const some = await connection.introspect({ tables: [...more, { ...elsewhere, catalog: 'SHOP' }] })
    t.same(
      some.map(table => table.name),
      ['KINDS'],
      'more tables than are named one by one',
    )
  })
  await withSnowflake(double, async connection => t.equal((await connection.introspect()).length, 2), {
    schema: 'PUBLIC',
  })
  const untyped = { length: null, precision: null, scale: null, fraction: null }
  t.equal(formatType({ ...untyped, type: 'VECTOR' }), 'VECTOR')
  t.equal(columnKind({ ...untyped, type: 'VECTOR' }), 'other')
  t.equal(columnKind({ ...untyped, type: 'toString' }), 'other')
})

t.test('times of modification are those of rows', async t => {
  const at = (minutes: number) => new Date(Date.UTC(2024, 0, 1) + minutes * MINUTE)
  t.same(modifiedAt(at(0), at(9), at(0)), at(9), 'changed after it was made')
  t.same(modifiedAt(at(9), at(9), at(9)), at(9), 'made and filled by one statement')
  t.equal(modifiedAt(at(0), at(9), at(9)), null, 'altered: nothing is known of its rows')
  t.same(modifiedAt(at(0), at(9), null), at(9))
  t.equal(modifiedAt(at(0), null, null), null)

  const double = await startSnowflake(t)
  const refs = ['filled', 'altered'].map(name => ({ catalog: 'SHOP', schema: 'PUBLIC', name }))
  for (const { name } of refs) await double.execute(`create table "SHOP"."PUBLIC"."${name}" ("id" integer)`)
  await double.setMoments('filled', [at(0), at(9), at(5)])
  await double.setMoments('altered', [at(0), at(9), at(9)])
  await withSnowflake(double, async connection => {
    t.same([...((await connection.lastModified?.(refs)) ?? [])], [['SHOP.PUBLIC.filled', at(9)]])
    const more = Array.from({ length: 4000 }, (_, index) => ({
      catalog: 'SHOP',
      schema: 'PUBLIC',
      name: `N${index}`,
    }))
    const before = double.statements()
    t.equal((await connection.lastModified?.([...refs, ...more]))?.size, 1)
    t.equal(double.statements() - before, 1, 'one statement, however many tables')
    const unknown = { ...refs[0]!, name: 'FILLED' }
    t.same(await connection.lastModified?.([unknown]), new Map(), 'names differ by case')
  })
})

t.test('values as the wire writes them', async t => {
  const columns = Object.entries({
    i: { type: 'fixed', scale: 0 },
    big: { type: 'FIXED', scale: 0 },
    n: { type: 'fixed', scale: 2 },
    f: { type: 'real' },
    inf: { type: 'real' },
    nan: { type: 'real' },
    d: { type: 'date' },
    old: { type: 'date' },
    t: { type: 'time', scale: 9 },
    ntz: { type: 'timestamp_ntz', scale: 9 },
    early: { type: 'timestamp_ntz', scale: 9 },
    tz: { type: 'timestamp_tz', scale: 9 },
    bi: { type: 'binary' },
    b: { type: 'boolean' },
    v: { type: 'variant' },
    a: { type: 'array' },
    new: { type: 'decfloat' },
    none: { type: 'text' },
  }).map(([name, column]) => ({ name, ...column }))
  const data = [
    '42',
    '12345678901234567890123456789012345678',
    '12345678.91',
    '1.5',
    '-inf',
    'NaN',
    '20735',
    '-25567',
    '45296.123456789',
    '1791549296.123456789',
    '-0.500000000',
    '1791524096.123456789 1860',
    'DEADBEEF',
    'true',
    '{\n  "a": 1\n}',
    '[\n  1,\n  undefined\n]',
    '1E+40',
    null,
  ]
  t.same(readRows(columns, [data]), [
    {
      i: 42,
      big: '12345678901234567890123456789012345678',
      n: '12345678.91',
      f: 1.5,
      inf: -Infinity,
      nan: NaN,
      d: '2026-10-09',
      old: '1900-01-01',
      t: '12:34:56.123456789',
      ntz: new Date('2026-10-09T12:34:56.123Z'),
      early: new Date('1969-12-31T23:59:59.500Z'),
      tz: new Date('2026-10-09T05:34:56.123Z'),
      bi: Buffer.from('deadbeef', 'hex'),
      b: true,
      v: { a: 1 },
      a: '[\n  1,\n  undefined\n]',
      new: '1E+40',
      none: null,
    },
  ])
  t.same(
    bindValues([1, 1.5, 2n ** 60n, 'x', true, null, new Date('2024-02-29T12:34:56.789Z'), Buffer.from('ab')]),
    {
      1: { type: 'FIXED', value: '1' },
      2: { type: 'REAL', value: '1.5' },
      3: { type: 'FIXED', value: '1152921504606846976' },
      4: { type: 'TEXT', value: 'x' },
      5: { type: 'BOOLEAN', value: 'true' },
      6: { type: 'TEXT', value: null },
      7: { type: 'TIMESTAMP_NTZ', value: '1709210096789000000' },
      8: { type: 'BINARY', value: '6162' },
    },
  )
})
