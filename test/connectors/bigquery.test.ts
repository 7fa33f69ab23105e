import { generateKeyPairSync } from 'node:crypto'
import jwt from 'jsonwebtoken'
import t, { type Test } from 'tap'
import { bigqueryDialect } from '../../connectors/bigquery/dialect.ts'
import { classifyBigqueryError } from '../../connectors/bigquery/errors.ts'
import { bigquery, type BigqueryConfig } from '../../connectors/bigquery/index.ts'
import { parseStringLiteral } from '../../connectors/bigquery/literal.ts'
import { findSelectViolation } from '../../connectors/bigquery/select-violation.ts'
import { makeBigquerySigner } from '../../connectors/bigquery/token.ts'
import { canonicalType, columnKind } from '../../connectors/bigquery/types.ts'
import { readRows, toParameter } from '../../connectors/bigquery/values.ts'
import { tablePath } from '../../connectors/catalog.ts'
import { testConnector } from '../../connectors/conformance.ts'
import type { Connection } from '../../connectors/connector.ts'
import { CHECK_ERROR_KINDS, ConnectorError } from '../../connectors/errors.ts'
import { RestFailure } from '../../connectors/rest/errors.ts'
import { raw, sql } from '../../connectors/sql.ts'
import { withoutComparison } from '../helpers/without-comparison.ts'
import { inGoogleSql, keyFile, keyPair, startBigquery, type Bigquery } from '../helpers/bigquery.ts'

/** As the kit writes texts. */
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Runs for minutes when nothing ends it. */
const SLOW = sql`select count(*) as n from unnest(generate_array(1, 1000000)) as a cross join unnest(generate_array(1, 1000000)) as b where mod(a, 7) = mod(b, 11)`

t.test('it conforms', async t => {
  const bigquery = await startBigquery(t)
  const { connector, config, egress, project, warehouse } = bigquery
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const result = await testConnector(t, {
    connector: withoutComparison(connector),
    config,
    egress,
    setup: () => ({
      execute: text => bigquery.execute(inGoogleSql(text)),
      catalog: project,
      schema: 'shop',
      refused: [
        {
          name: 'another key',
          config: { ...config, credentials_json: keyFile(privateKey) },
          kind: 'credentials',
        },
        {
          name: 'a missing project',
          config: { ...config, project_id: 'no-such-project' },
          kind: 'missing-object',
        },
        { name: 'a missing dataset', config: { ...config, dataset: 'nothing' }, kind: 'missing-object' },
      ],
      slow: SLOW,
      countRunning: async () => warehouse.running(),
      countStatements: () => bigquery.statements(),
      async revokeAccess() {
        await bigquery.execute('create table `tide-pool-1234`.`shop`.`secrets` (`id` int64)')
        bigquery.restrict('secrets')
        return {
          statement: sql`select * from ${connector.dialect.table({ catalog: project, schema: 'shop', name: 'secrets' })}`,
        }
      },
      partitionedTable: (table, column) => [`create table ${table} (${column} date) partition by ${column}`],
      types: {
        integer: 'int64',
        bigint: 'int64',
        varchar: 'string(200)',
        double: 'float64',
        decimal: 'numeric(20, 2)',
        boolean: 'bool',
        binary: 'bytes',
        date: 'date',
        time: 'time',
        timestamp: 'datetime',
        timestamptz: 'timestamp',
        json: 'json',
      },
      literals: {
        decimal: `numeric '123456789012345678.90'`,
        binary: `from_hex('00ff10')`,
        date: `date '2024-02-29'`,
        time: `time '12:34:56'`,
        timestamp: `datetime '2024-02-29 12:34:56'`,
        timestamptz: `timestamp '2024-02-29 13:34:56+01:00'`,
        json: `json '{"a": [1, "x", null], "b": {}}'`,
      },
      // Names of tables take letters, marks, numbers, connectors, dashes and blanks
      // (https://cloud.google.com/bigquery/docs/tables#table_naming).
      refusesNames: [
        'quotes',
        'backtick',
        'backslash',
        'bracket',
        'dots',
        'emoji',
        'injection',
        'placeholder',
        'percent',
        // BigQuery distinguishes table names by case; the double's DuckDB does not.
        'case twin',
      ],
      comment: (table, column, comment) => [
        `alter table ${table} set options (description = ${quoted(comment)})`,
        `alter table ${table} alter column ${column} set options (description = ${quoted(comment)})`,
      ],
      analyze: () => [],
      lacksUnique: true,
      hasFixedAddress: true,
    }),
  })
  t.match(result, { conforming: true, skipped: [] })
})

const QUICK = { timeoutMs: 20_000 }

/** A project and a session with it. */
async function openSession(
  t: Test,
  changes: Partial<BigqueryConfig> = {},
): Promise<{ project: Bigquery; connection: Connection }> {
  const project = await startBigquery(t)
  const connection = await project.connector.connect({ ...project.settings, ...changes }, project.options)
  t.teardown(() => connection.close())
  return { project, connection }
}

async function failure(doing: Promise<unknown>): Promise<ConnectorError> {
  const error = await doing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof ConnectorError) return error
  throw new Error(`not a ConnectorError: ${String(error)}`)
}

/** Two tables with keys, and one in another location. */
async function fill({ execute }: Bigquery): Promise<void> {
  const [customers, orders] = ['customers', 'orders'].map(name => `\`tide-pool-1234\`.\`shop\`.\`${name}\``)
  await execute(
    `create table ${customers} (country string(2) not null, id int64 not null, name string default 'unknown', primary key (id, country) not enforced)`,
  )
  await execute(
    `create table ${orders} (land string(2), customer int64, foreign key (land, customer) references ${customers} (country, id) not enforced)`,
  )
  await execute(`insert into ${customers} (country, id) values ('DE', 1)`)
  await execute(`alter table ${customers} set options (description = 'who "buys"')`)
  await execute(`alter table ${customers} alter column id set options (description = "it's a number")`)
  await execute('create table `tide-pool-1234`.`abroad`.`visits` (moment datetime)')
}

t.test('the configuration takes the key file as text or object, and keeps only what signs', async t => {
  const validate = (changes: object) =>
    bigquery.config.validate({ project_id: 'tide-pool-1234', credentials_json: keyFile(), ...changes })
  const { client_email, private_key, private_key_id, type } = keyFile()
  const kept = { type, client_email, private_key, private_key_id }
  for (const given of [keyFile(), JSON.stringify(keyFile(), null, 2), JSON.stringify(kept)]) {
    t.same(JSON.parse(validate({ credentials_json: given }).value.credentials_json), kept)
  }
  const refused = (changes: object) => validate(changes).error?.message ?? ''
  const credentials = (changes: object) => refused({ credentials_json: { ...keyFile(), ...changes } })
  t.match(refused({ credentials_json: 'not JSON' }), /no JSON/)
  t.match(refused({ credentials_json: 'null' }), /no JSON/)
  t.match(refused({ credentials_json: 5 }), /service account/)
  t.match(credentials({ type: 'authorized_user' }), /type must be service_account/)
  t.match(credentials({ client_email: 'unknown' }), /client_email/)
  t.match(credentials({ private_key: '-----BEGIN PRIVATE KEY-----' }), /private_key that can be read/)
  t.match(credentials({ private_key: undefined }), /private_key that can be read/)
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  t.match(credentials({ private_key: curve.export({ type: 'pkcs8', format: 'pem' }) }), /no RSA key/)
  t.match(credentials({ universe_domain: 'example.com' }), /universe_domain/)
  for (const project of ['My Project', '123456789012', 'a/../b', 'x'])
    t.match(refused({ project_id: project }), /project's id/)
  t.equal(refused({ project_id: 'example.com:old-project' }), '')
  t.match(refused({ dataset: 'project.dataset' }), /one dataset/)
  t.match(refused({ location: 'eu/../us' }), /location/)
  t.match(refused({ maximum_bytes_billed: 1000 }), /maximum_bytes_billed/)
  t.notMatch(credentials({ type: 'x' }), keyFile().private_key?.slice(40, 60), 'no secret is shown')
})

t.test('a token is good for less than an hour, may only read, and is renewed before its end', async t => {
  let now = Date.parse('2024-02-29T12:00:00Z')
  const sign = makeBigquerySigner(JSON.parse(JSON.stringify(keyFile())), () => now)
  const read = (header: string) =>
    jwt.verify(header.replace(/^Bearer /, ''), keyPair().publicKey, {
      algorithms: ['RS256'],
      complete: true,
      clockTimestamp: now / 1000,
    })
  const first = sign('read')
  const email = 'observer@tide-pool-1234.iam.gserviceaccount.com'
  const scope = 'https://www.googleapis.com/auth/bigquery.readonly'
  const { header, payload } = read(first)
  t.same(header, { alg: 'RS256', typ: 'JWT', kid: 'f00dfeed0123' })
  t.same(payload, { iss: email, sub: email, scope, iat: now / 1000, exp: now / 1000 + 3540 })
  now += 50 * 60_000
  t.equal(sign('read'), first)
  now += 5 * 60_000
  t.not(sign('read'), first)
  t.match(read(sign('cancel')).payload, { scope: 'https://www.googleapis.com/auth/bigquery' })
})

t.test('nothing but one query is sent', async t => {
  const queries = [
    'select 1',
    ' \n(select 1)',
    'WITH a as (select 1) select * from a',
    'select \'a;b\', "c;d", `e;f`',
    `select '''it's; "x"''', """a;\n'b'"""`,
    String.raw`select r'\';', b"\";"`,
    String.raw`select 'it\'s; fine'`,
    'select 1 -- a comment\n',
  ]
  for (const text of queries) t.equal(findSelectViolation(text), null, text)
  const others = [
    '',
    'drop table a',
    'selection',
    'begin select 1 end',
    'call a()',
    'execute immediate "drop table a"',
    'export data options() as select 1',
    '-- select\ndelete from a where true',
    'select 1; drop table a',
    'select 1;',
    `select 'a'; drop table b -- '`,
    String.raw`select 'a\\'; drop table b; --'`,
    `select '''a'''; drop table b`,
    `select ''''''; drop table b; select ''''''`,
    `select "it's"; drop table b; select 'x'`,
    'select 1 # ;\n',
    `select 1 -- ' ; drop table a '`,
    `select 1 /* ' */ ; drop table a /* ' */`,
    `select 'a\n'; drop table b; select '\n'`,
    'select `a\\\\`; drop table b; select `c`',
  ]
  for (const text of others) t.not(findSelectViolation(text), null, text)

  const { project, connection } = await openSession(t)
  const before = project.statements()
  for (const text of ['drop table `a`', 'select 1; select 2']) {
    t.match(await failure(connection.query(sql`${raw(text)}`, QUICK)), { kind: 'invalid-query' })
  }
  t.equal(project.statements(), before)
})

t.test('values have their types on the wire', async t => {
  const wire = (value: unknown) => {
    const given = toParameter(value)
    return given && [given.parameterType.type, given.parameterValue.value]
  }
  t.same(wire('a'), ['STRING', 'a'])
  t.same(wire(5), ['INT64', '5'])
  t.same(wire(-0.5), ['FLOAT64', '-0.5'])
  t.same(wire(NaN), ['FLOAT64', 'NaN'])
  t.same(wire(2 ** 60), ['FLOAT64', '1152921504606847000'])
  t.same(wire(2n ** 63n - 1n), ['INT64', '9223372036854775807'])
  t.same(wire(2n ** 63n), ['NUMERIC', '9223372036854775808'])
  t.same(wire(10n ** 30n), ['BIGNUMERIC', `1${'0'.repeat(30)}`])
  t.same(wire(true), ['BOOL', 'true'])
  t.same(wire(new Date('2024-02-29T12:34:56.789Z')), ['STRING', '2024-02-29 12:34:56.789'])
  t.same(wire(Uint8Array.of(0, 255)), ['BYTES', 'AP8='])
  t.same(wire({ a: 1 }), ['STRING', '{"a":1}'])
  t.equal(wire(null), null)
  t.throws(() => wire(10n ** 40n), TypeError)
  t.throws(() => wire(Symbol('a')), TypeError)
  const bound = bigqueryDialect.render(sql`select ${1}, ${null}, ${'a'}`)
  t.match(bound, { text: 'select ?, null, ?', values: { length: 2 } })
})

t.test('results arrive with all their types, nested ones as well', async t => {
  const inner = { name: '__proto__', type: 'STRUCT', fields: [{ name: 'b', type: 'BOOL' }] }
  const columns: [name: string, type: string, v: unknown, expected: unknown][] = [
    ['big', 'INTEGER', '9007199254740993', '9007199254740993'],
    ['float', 'FLOAT', 'NaN', NaN],
    ['endless', 'FLOAT64', '-Infinity', -Infinity],
    ['short', 'FLOAT64', 'inf', Infinity],
    ['number', 'NUMERIC', '1.5', '1.5'],
    ['truth', 'BOOLEAN', 'true', true],
    ['moment', 'TIMESTAMP', '-62135596800000000', new Date('0001-01-01T00:00:00Z')],
    ['naive', 'DATETIME', '2024-02-29T12:34:56.123456', new Date('2024-02-29T12:34:56.123Z')],
    ['bytes', 'BYTES', 'AP8=', Uint8Array.of(0, 255)],
    ['range', 'RANGE', '[2024-01-01, 2024-02-01)', '[2024-01-01, 2024-02-01)'],
    ['json', 'JSON', '{"a":[1]}', { a: [1] }],
    ['broken', 'JSON', '{', '{'],
    ['none', 'STRING', null, null],
  ]
  const fields = [
    ...columns.map(([name, type]) => ({ name, type })),
    { name: 'list', type: 'INT64', mode: 'REPEATED' },
    { name: 'records', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'a', type: 'STRING' }, inner] },
  ]
  const record = { f: [{ v: 'x' }, { v: { f: [{ v: 'false' }] } }] }
  const cells = [
    ...columns.map(([, , v]) => ({ v })),
    { v: [{ v: '1' }, { v: '2' }] },
    { v: [{ v: record }] },
  ]
  const [{ list, records, ...row } = {}] = readRows(fields, [{ f: cells }])
  t.same(row, Object.fromEntries(columns.map(([name, , , expected]) => [name, expected])))
  t.same(list, [1, 2])
  const [first] = records as [object]
  t.same(Object.keys(first), ['a', '__proto__'])
  t.same(Object.getOwnPropertyDescriptor(first, '__proto__')?.value, { b: false })
})

t.test('types are canonical and have their kind', async t => {
  const types = [
    ['INT64', 'int64', 'integer'],
    ['STRING(20)', 'string(20)', 'text'],
    ['NUMERIC(10, 2)', 'numeric(10,2)', 'decimal'],
    ['BIGNUMERIC', 'bignumeric', 'decimal'],
    ['DATETIME', 'datetime', 'timestamp'],
    ['ARRAY<STRUCT<a INT64, b NUMERIC(10, 2)>>', 'array<struct<a int64, b numeric(10,2)>>', 'other'],
    ['RANGE<DATE>', 'range<date>', 'other'],
    ['GEOGRAPHY', 'geography', 'other'],
    ['Integer', 'int64', 'integer'],
  ] as const
  for (const [rawType, type, kind] of types) {
    t.same([canonicalType(rawType), columnKind(rawType)], [type, kind])
  }
})

t.test('descriptions are read from the literals in which the catalog has them', async t => {
  t.equal(parseStringLiteral(String.raw`"it's \"so\"\n\\ \u00e9 \x41 \101"`), `it's "so"\n\\ é A A`)
  t.equal(parseStringLiteral('"""a\n"b" """'), 'a\n"b" ')
  t.equal(parseStringLiteral('no literal'), 'no literal')
})

t.test('names and numbers are written exactly', async t => {
  const text = (part: { strings: readonly string[] }) => part.strings.join('')
  t.equal(text(bigqueryDialect.quote('a`b\\c\nd')), '`a\\`b\\\\c\\nd`')
  const numbers = {
    '5': '5',
    '-9223372036854775808': '-9223372036854775808',
    '9223372036854775808': "bignumeric '9223372036854775808'",
    '0.1': "bignumeric '0.1'",
    '1e-7': "cast('1e-7' as float64)",
    '1e+300': "cast('1e+300' as float64)",
    ['1'.repeat(39)]: `cast('${'1'.repeat(39)}' as float64)`,
  }
  for (const [given, expected] of Object.entries(numbers)) {
    t.equal(text(bigqueryDialect.numberLiteral(given)), expected)
  }
  t.throws(() => bigqueryDialect.percentile(sql`a`, 2, sql`t`), RangeError)
})

t.test('keys, comments and all locations are read, by two statements for each location', async t => {
  const { project, connection } = await openSession(t)
  await fill(project)
  const { requests } = project.service
  const [statements, before] = [project.statements(), requests.length]
  const tables = await connection.introspect()
  t.equal(project.statements() - statements, 4)
  const lists = requests.slice(before).filter(({ path }) => path.endsWith('/datasets'))
  t.equal(lists.length, 2, 'one request for each page of datasets')
  t.same(tables.map(tablePath), [
    'tide-pool-1234.abroad.visits',
    'tide-pool-1234.shop.customers',
    'tide-pool-1234.shop.orders',
  ])
  const [, customers, orders] = tables
  t.match(customers, { comment: 'who "buys"', estimatedRows: 1 })
  t.same(
    customers?.columns.map(column => [
      column.name,
      column.rawType,
      column.nullable,
      column.default,
      column.comment,
    ]),
    [
      ['country', 'STRING(2)', false, null, null],
      ['id', 'INT64', false, null, "it's a number"],
      ['name', 'STRING', true, "'unknown'", null],
    ],
  )
  const table = { catalog: project.project, schema: 'shop', name: 'customers' }
  t.same(customers?.constraints, [{ name: 'customers.pk$', type: 'primary_key', columns: ['id', 'country'] }])
  t.same(orders?.constraints, [
    {
      name: 'orders.fk$1',
      type: 'foreign_key',
      columns: ['land', 'customer'],
      references: { table, columns: ['country', 'id'] },
    },
  ])
  const refs = tables.map(({ catalog, schema, name }) => ({ catalog, schema, name }))
  t.equal((await connection.estimates?.(refs))?.size, 3)
  t.equal((await connection.lastModified?.(refs))?.size, 3)
  t.same(
    await connection.estimates?.([{ catalog: 'elsewhere', schema: 'shop', name: 'customers' }]),
    new Map(),
  )
})

t.test('rights on one dataset are enough when it is named', async t => {
  const whole = await openSession(t)
  whole.project.hideRegions()
  t.match(await failure(whole.connection.introspect()), {
    kind: 'permission',
    message: /Metadata Viewer on the project, or set dataset/,
  })

  const { project, connection } = await openSession(t, { dataset: 'shop' })
  project.hideRegions()
  await fill(project)
  const tables = await connection.introspect()
  t.same(
    tables.map(({ name }) => name),
    ['customers', 'orders'],
  )
  t.match(tables[0], { comment: 'who "buys"', estimatedRows: 1, constraints: { length: 1 } })
  const refs = ['customers', 'nothing'].map(name => ({ catalog: project.project, schema: 'shop', name }))
  t.same([...((await connection.estimates?.(refs)) ?? [])], [['tide-pool-1234.shop.customers', 1]])
  t.equal((await connection.lastModified?.(refs))?.size, 1)
  t.same(await connection.query(sql`select id from customers`, QUICK), [{ id: 1 }], 'its tables need no path')
  const stages = await project.connector.test({ ...project.settings, dataset: 'shop' }, project.options)
  t.equal(stages.at(-1)?.message, 'The catalog has 2 tables and views in shop.')
})

t.test('times of modification are of tables whose rows BigQuery keeps', async t => {
  for (const changes of [{}, { dataset: 'shop' }]) {
    const { project, connection } = await openSession(t, changes)
    await fill(project)
    const path = (name: string) => `\`tide-pool-1234\`.\`shop\`.\`${name}\``
    await project.execute(`create view ${path('seen')} as select id from ${path('customers')}`)
    await project.execute(`create materialized view ${path('kept')} as select id from ${path('customers')}`)
    const refs = (await connection.introspect()).map(({ catalog, schema, name }) => ({
      catalog,
      schema,
      name,
    }))
    const names = [...((await connection.lastModified?.(refs)) ?? new Map<string, Date>()).keys()]
    t.same(
      names.filter(name => name.includes('.shop.')).sort(),
      ['tide-pool-1234.shop.customers', 'tide-pool-1234.shop.orders'],
      JSON.stringify(changes),
    )
    t.same(
      await connection.lastModified?.([{ catalog: 'tide-pool-1234', schema: 'shop', name: 'CUSTOMERS' }]),
      new Map(),
    )
  }
})

t.test('where only the catalog may not be read, the tables still can be', async t => {
  const { project, connection } = await openSession(t)
  await fill(project)
  project.hideRegions()
  const customers = { catalog: project.project, schema: 'shop', name: 'customers' }
  const error = await failure(connection.lastModified?.([customers]) ?? Promise.resolve())
  t.ok(error instanceof ConnectorError && CHECK_ERROR_KINDS.has(error.kind), String(error))
  const newest = sql`select max(id) as newest from ${bigqueryDialect.table(customers)}`
  t.same(await connection.query(newest, QUICK), [{ newest: 1 }])
})

t.test('a location limits what is read', async t => {
  const { project, connection } = await openSession(t, { location: 'eu' })
  await fill(project)
  t.same(
    (await connection.introspect()).map(({ schema }) => schema),
    ['abroad'],
  )
})

t.test('datasets whose keys cannot be read are listed without them', async t => {
  const { project, connection } = await openSession(t)
  await fill(project)
  project.restrictKeys('shop')
  t.same(
    (await connection.introspect()).map(({ name, constraints, constraintsError: error }) => [
      name,
      constraints,
      error?.kind,
    ]),
    [
      ['visits', [], undefined],
      ['customers', [], 'permission'],
      ['orders', [], 'permission'],
    ],
    'and say so',
  )
})

t.test('what the account may not see is distinguished from what was dropped', async t => {
  const { project, connection } = await openSession(t)
  await fill(project)
  const ref = (name: string, schema = 'shop', catalog = project.project) => ({ catalog, schema, name })
  const hidden = async (on: Connection, ...tables: ReturnType<typeof ref>[]) => {
    const at = project.service.requests.length
    const found = (await on.findHiddenTables?.(tables)) ?? new Map()
    const codes = tables.map(table => found.get(tablePath(table))?.code ?? 'gone')
    return [codes.join(' '), project.service.requests.length - at]
  }
  await project.execute('drop table `tide-pool-1234`.`shop`.`orders`')
  const both = [ref('customers'), ref('orders')]
  t.same(await hidden(connection, ref('orders')), ['gone', 2], 'the dataset, and a table that does not exist')
  t.same(await hidden(connection, ref('orders', 'dropped')), ['gone', 1])
  t.same(await hidden(connection, ref('orders', 'shop', 'another-project')), ['gone', 0], 'not meant')
  project.restrict('customers')
  project.narrow('shop')
  t.same(await hidden(connection, ...both), ['accessDenied accessDenied', 4], 'which cannot be known')
  project.closeDataset('abroad')
  t.same(await hidden(connection, ref('visits', 'abroad'), ref('hits', 'abroad')), [
    'accessDenied accessDenied',
    1,
  ])

  const european = await project.connector.connect({ ...project.settings, location: 'EU' }, project.options)
  t.same(await hidden(european, ...both), ['gone gone', 1], 'another location is not meant')
  await european.close()
  project.fail([401, 'authError'])
  t.match(await failure(connection.findHiddenTables?.(both) ?? Promise.resolve()), { kind: 'credentials' })
})

t.test('an introspection that is given up ends with its request or its statement', async t => {
  const { project, connection } = await openSession(t)
  const giving = new AbortController()
  const reading = failure(connection.introspect({ signal: giving.signal }))
  giving.abort()
  t.match(await reading, { kind: 'other', code: 'ABORTED' })
  t.equal(project.statements(), 0)
})

t.test('a short statement is one request, and a passing failure is tried again', async t => {
  const { project, connection } = await openSession(t)
  const { requests } = project.service
  t.equal(requests.length, 1, 'connecting asks once')
  await connection.query(sql`select ${1} as one`, QUICK)
  t.equal(requests.length, 2)
  t.match(requests.at(-1)?.body, {
    useLegacySql: false,
    parameterMode: 'POSITIONAL',
    labels: { tool: 'tidemark' },
    jobTimeoutMs: '20000',
    connectionProperties: [{ key: 'time_zone', value: 'UTC' }],
  })
  project.fail([403, 'rateLimitExceeded'], [500, 'backendError'])
  t.same(await connection.query(sql`select 1 as one`, QUICK), [{ one: 1 }])
  const ids = requests.slice(-3).map(({ body }) => (body as { requestId: string }).requestId)
  t.equal(new Set(ids).size, 3, 'what failed is not answered again')
  project.fail(...Array.from({ length: 4 }, (): [number, string] => [403, 'rateLimitExceeded']))
  t.match(await failure(connection.query(sql`select 1 as one`, QUICK)), {
    kind: 'network',
    message: /try again later/,
  })
  project.expire()
  t.match(await failure(connection.query(sql`select 1 as one`, QUICK)), { kind: 'credentials' })
})

t.test('a statement that is given up is cancelled where it runs', async t => {
  const { project, connection } = await openSession(t, { location: 'EU' })
  const doing = connection.query(SLOW, { timeoutMs: 60_000, signal: AbortSignal.timeout(200) })
  t.match(await failure(doing), { code: 'ABORTED' })
  const cancel = project.service.requests.at(-1)
  t.match(cancel, { method: 'POST', path: /\/jobs\/job_[\w-]+\/cancel$/ })
  t.equal(cancel?.query.get('location'), 'EU')
})

t.test('rows that get lost on the way are no rows that there are not', async t => {
  const { project, connection } = await openSession(t)
  project.losePages()
  t.match(await failure(connection.query(sql`select n from unnest(generate_array(1, 5000)) as n`, QUICK)), {
    code: 'INCOMPLETE',
    message: /try again/,
  })
})

t.test('a ceiling on the bill is kept to', async t => {
  const { project, connection } = await openSession(t, { maximum_bytes_billed: 10_485_760 })
  await fill(project)
  const [customers, orders] = ['customers', 'orders'].map(name =>
    bigqueryDialect.table({ catalog: project.project, schema: 'shop', name }),
  )
  t.equal((await connection.query(sql`select id from ${customers}`, QUICK)).length, 1)
  const both = sql`select id from ${customers} cross join ${orders}`
  t.match(await failure(connection.query(both, QUICK)), {
    kind: 'invalid-query',
    message: /maximum_bytes_billed/,
  })
})

t.test('failures have their kind and say what to do', async t => {
  const cases: [status: number, reason: string, message: string, kind: string, say: RegExp][] = [
    [401, 'authError', 'Invalid Credentials', 'credentials', /key of the service account/],
    [403, 'accessDenied', 'User does not have bigquery.jobs.create permission', 'permission', /Job User/],
    [403, 'accessDenied', 'Access Denied: Table p:d.t', 'permission', /p:d\.t.*Data Viewer/],
    [403, 'accessNotConfigured', 'BigQuery API has not been used', 'permission', /enable it/],
    [403, 'billingNotEnabled', 'Billing has not been enabled', 'permission', /Billing/],
    [403, 'quotaExceeded', 'Quota exceeded: free query bytes scanned', 'network', /free query.*quota/],
    [403, 'responseTooLarge', 'Response too large', 'invalid-query', /fewer rows/],
    [404, 'notFound', 'Not found: Project x', 'missing-object', /project_id/],
    [404, 'notFound', 'Not found: Table p:d.t was not found', 'missing-object', /p:d\.t.*discovery/],
    [400, 'invalidQuery', 'Unrecognized name: a at [1:8]', 'missing-object', /Unrecognized name: a/],
    [400, 'invalidQuery', 'Syntax error: Unexpected keyword FROM', 'invalid-query', /Syntax error/],
    [400, 'resourcesExceeded', 'Resources exceeded during query', 'invalid-query', /Resources/],
    [400, 'stopped', 'Job timed out after 5 seconds', 'timeout', /allow more time/],
    [499, 'stopped', 'Job execution was cancelled: User requested it', 'other', /cancelled/],
    [503, 'backendError', 'Error', 'network', /try again later/],
    [502, 'HTTP_502', 'Bad gateway', 'network', /try again later/],
    [400, 'unheardOf', 'Something', 'other', /Something/],
  ]
  for (const [status, reason, message, kind, say] of cases) {
    const error = classifyBigqueryError(new RestFailure(status, { code: reason, message }))
    t.match(error, { kind, message: say, engine: 'bigquery' }, reason)
  }
})
