import t, { type Test } from 'tap'
import { testConnector } from '../../connectors/conformance.ts'
import { tablePath } from '../../connectors/catalog.ts'
import type { Connection, ConnectOptions } from '../../connectors/connector.ts'
import { databricks, type DatabricksConfig } from '../../connectors/databricks/index.ts'
import { databricksDialect } from '../../connectors/databricks/dialect.ts'
import { classifyDatabricksError, toStatementFailure } from '../../connectors/databricks/errors.ts'
import { canonicalType, columnKind } from '../../connectors/databricks/types.ts'
import { readRows } from '../../connectors/databricks/values.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { RestFailure } from '../../connectors/rest/errors.ts'
import { raw, sql } from '../../connectors/sql.ts'
import { withoutComparison } from '../helpers/without-comparison.ts'
import { HOST, TOKEN, WAREHOUSE, startDatabricks, type Workspace } from '../helpers/databricks.ts'
import { withEscapedQuotes } from '../helpers/databricks/literals.ts'

t.test('it conforms', async t => {
  const { connector, config, ...workspace } = await startDatabricks(t)
  const result = await testConnector(t, {
    connector: withoutComparison(connector),
    config,
    egress: workspace.options.egress,
    setup: () => ({
      // The catalog also holds what the double makes of the kit's statements, so that quotes arrive as meant.
      execute: text => workspace.execute(withEscapedQuotes(text)),
      catalog: 'shop',
      schema: 'default',
      refused: [
        {
          name: 'a wrong token',
          config: { ...config, access_token: 'dapi-not-this-one' },
          kind: 'credentials',
        },
        {
          name: 'another warehouse',
          config: { ...config, http_path: '/sql/1.0/warehouses/ffffffffffffffff' },
          kind: 'missing-object',
        },
      ],
      slow: sql`select count(*) as n from range(0, 1000000) a cross join range(0, 1000000) b where hash(a.range, b.range) = 1`,
      countRunning: async () => workspace.running(),
      countStatements: () => workspace.statements().length,
      async revokeAccess() {
        await workspace.execute('create table `shop`.`default`.`secret` (`id` int)')
        workspace.revoke('"shop"."default"."secret"')
        return {
          statement: sql`select * from ${connector.dialect.table({ catalog: 'shop', schema: 'default', name: 'secret' })}`,
        }
      },
      partitionedTable: (table, column) => [
        `create table ${table} (${column} date)`,
        `insert into memory.main.dbx_partitions values ('default.conformance_partitioned', 'day', 1)`,
      ],
      types: {
        integer: 'int',
        varchar: 'string',
        double: 'double',
        binary: 'binary',
        time: null,
        timestamp: 'timestamp_ntz',
        timestamptz: 'timestamp',
        json: 'variant',
      },
      literals: { binary: `unhex('00ff10')`, json: `parse_json('{"a": [1, "x", null], "b": {}}')` },
      // Unity Catalog: no dots, blanks and slashes in names of tables, and all in lower case.
      refusesNames: [
        'quotes',
        'dots',
        'spaces',
        'emoji',
        'unicode',
        'right to left',
        'injection',
        'placeholder',
        'percent',
        'leading digits',
        'upper case',
        'case twin',
      ],
      lacksUnique: true,
    }),
  })
  t.match(result, { conforming: true, skipped: [] })
})

const QUICK = { timeoutMs: 20_000 }

/** A workspace and a session with it; without throttling, so that requests can be counted. */
async function openSession(
  t: Test,
  changes: Partial<DatabricksConfig> = {},
  more: Partial<ConnectOptions> = {},
): Promise<{ workspace: Workspace; connection: Connection }> {
  const workspace = await startDatabricks(t)
  workspace.knobs.throttleEvery = 0
  const config = { ...workspace.config, ...changes }
  const connection = await workspace.connector.connect(config, { ...workspace.options, ...more })
  t.teardown(() => connection.close())
  return { workspace, connection }
}

async function failure(doing: Promise<unknown>): Promise<ConnectorError> {
  const error = await doing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof ConnectorError) return error
  throw new Error(`not a ConnectorError: ${String(error)}`)
}

t.test('the configuration says what is wrong with it', async t => {
  const good = { host: HOST, http_path: `/sql/1.0/warehouses/${WAREHOUSE}`, access_token: TOKEN }
  const refused = (changes: object) =>
    databricks.config.validate({ ...good, ...changes }).error?.message ?? ''
  const accepted = (changes: object) => databricks.config.validate({ ...good, ...changes }).value
  t.same(accepted({ default_catalog: 'Main' }), { ...good, default_catalog: 'main' })
  for (const path of [`sql/1.0/warehouses/${WAREHOUSE}`, `/sql/1.0/endpoints/${WAREHOUSE}`])
    t.same(accepted({ http_path: path }), { ...good, http_path: path })
  t.match(refused({ host: `https://${HOST}` }), /without https:/)
  t.match(refused({ host: `${HOST}:443` }), /host name/)
  t.match(
    refused({ http_path: 'sql/protocolv1/o/1234567890/0123-456789-abcde' }),
    /that of a cluster.*Connection details/,
  )
  t.match(refused({ http_path: `/sql/1.0/warehouses/${WAREHOUSE}/../x` }), /names no SQL warehouse/)
  t.match(refused({ http_path: `/sql/1.0/warehouses/${WAREHOUSE}?o=1` }), /names no SQL warehouse/)
  t.match(refused({ default_catalog: 'hive_metastore' }), /hive_metastore has no information schema/)
  t.match(refused({ default_catalog: 'main.sales' }), /name of one catalog/)
  t.match(refused({ access_token: 'dapi\r\nx: y' }), /without blanks and line breaks/)
  t.notMatch(refused({ access_token: 'dapi secret' }), /dapi secret/)
  for (const key of ['port', 'schema', 'token', 'username']) t.match(refused({ [key]: 'x' }), /not allowed/)
})

t.test('requests are few', async t => {
  const { workspace, connection } = await openSession(t)
  const { service, knobs } = workspace
  knobs.secondMs = 1000
  const sent = () => service.requests.splice(0).map(({ method, path }) => `${method} ${path}`)
  t.same(sent(), [`GET /api/2.0/sql/warehouses/${WAREHOUSE}`], 'connecting asks for the warehouse')
  await connection.query(sql`select 1 as one`, QUICK)
  t.same(sent(), ['POST /api/2.0/sql/statements'], 'a short statement is one request')
  await connection.introspect()
  t.same(sent(), ['POST /api/2.0/sql/statements'], 'so is the whole catalog')
  await connection.introspect({ tables: [] })
  t.same(sent(), [], 'and nothing of it is no request')
  const stages = await workspace.connector.test(workspace.config, workspace.options)
  t.same(
    stages.map(({ name, status, message }) => [name, status, message]),
    [
      ['reach', 'passed', `${HOST}:${service.port} answers.`],
      ['tls', 'passed', 'The connection is encrypted and the certificate verified.'],
      ['sign_in', 'passed', 'The token is good, and the SQL warehouse runs.'],
      ['read_catalog', 'passed', 'The catalog has 0 tables and views.'],
    ],
  )
  t.equal(sent().length, 2)
})

t.test('a statement carries what it needs', async t => {
  const { workspace, connection } = await openSession(t)
  await connection.query(sql`select ${'a'} as a, ${1} as b, ${0.5} as c, ${null} as d`, {
    ...QUICK,
    maxRows: 3,
  })
  const { body, headers } = workspace.service.requests.at(-1) ?? {}
  t.same(body, {
    warehouse_id: WAREHOUSE,
    statement: 'select :p1 as a, :p2 as b, :p3 as c, :p4 as d',
    catalog: 'shop',
    parameters: [
      { name: 'p1', value: 'a', type: 'STRING' },
      { name: 'p2', value: '1', type: 'BIGINT' },
      { name: 'p3', value: '0.5', type: 'DOUBLE' },
      { name: 'p4' },
    ],
    row_limit: 3,
    disposition: 'INLINE',
    format: 'JSON_ARRAY',
    wait_timeout: '5s',
    on_wait_timeout: 'CONTINUE',
  })
  t.equal(headers?.authorization, `Bearer ${TOKEN}`)
  await connection.query(sql`select 1 as a`, { timeoutMs: 4000 })
  t.match(
    workspace.service.requests.at(-1)?.body,
    { on_wait_timeout: 'CANCEL' },
    'a brief one ends by itself',
  )
})

t.test('of more values than parameters, many share one', async t => {
  const texts = Array.from({ length: 300 }, (_, index) => `it's "${index}"`)
  const list = texts.map(text => sql`${text}`)
  const condition = list.reduce((all, each) => sql`${all}, ${each}`)
  const { text, values } = databricksDialect.render(
    sql`select ${-1} - ${-2}, ${new Date(0)}, ${null}, ${Buffer.from([1])} where 'x' in (${condition})`,
  )
  t.equal(values.length, 4)
  t.match(
    text,
    /select \(-1\) - \(-2\), cast\(element_at\(from_json\(:p1, 'array<string>'\), 1\) as TIMESTAMP\), null/,
  )
  t.notMatch(text, /it's/)
  const { connection } = await openSession(t)
  const found = await connection.query(
    sql`select count_if(x in (${condition})) as n from (select ${texts[299]} as x union all select ${'none'}) as v`,
    QUICK,
  )
  t.same(found, [{ n: 1 }])
})

t.test('which catalogs are read', async t => {
  const workspace = await startDatabricks(t)
  for (const catalog of ['shop', 'archive']) {
    await workspace.execute(`create table \`${catalog}\`.\`default\`.\`orders\` (\`id\` int)`)
  }
  const orders = async (changes: object) => {
    const { default_catalog: _, ...without } = workspace.config
    const connection = await workspace.connector.connect({ ...without, ...changes }, workspace.options)
    const found = await connection.introspect()
    await connection.close()
    return found.map(({ catalog, schema, name }) => `${catalog}.${schema}.${name}`)
  }
  t.same(await orders({ default_catalog: 'archive' }), ['archive.default.orders'])
  t.same(await orders({}), ['archive.default.orders', 'shop.default.orders'], 'all by default')
  const error = await failure(orders({ default_catalog: 'nowhere' }))
  t.match(error, { kind: 'missing-object', message: /no such catalog.*check default_catalog/ })
})

t.test('what the token may not see is distinguished from what was dropped', async t => {
  const { workspace, connection } = await openSession(t)
  for (const name of ['kept', 'lost', 'dropped'])
    await workspace.execute(`create table \`shop\`.\`default\`.\`${name}\` (\`id\` int)`)
  const ref = (name: string, schema = 'default', catalog = 'shop') => ({ catalog, schema, name })
  const hidden = async (...tables: ReturnType<typeof ref>[]) => {
    const before = workspace.statements().length
    const found = (await connection.findHiddenTables?.(tables)) ?? new Map()
    const kinds = tables.map(table => found.get(tablePath(table))?.kind ?? 'gone')
    return [kinds.join(' '), workspace.statements().length - before]
  }
  await workspace.execute('drop table `shop`.`default`.`dropped`')
  workspace.revoke('"shop"."default"."lost"')
  t.same(await hidden(ref('lost'), ref('dropped')), ['permission gone', 3])
  t.same(await hidden(ref('lost', 'default', 'archive')), ['gone', 0], 'a catalog that is not read')
  t.same(
    await hidden(ref('lost', 'no_schema'), ref('kept', 'no_schema')).then(([kinds]) => kinds),
    'gone gone',
  )
  workspace.revoke('"shop"."default"."')
  t.same(
    await hidden(ref('kept'), ref('dropped')),
    ['permission permission', 1],
    'a schema that may not be entered',
  )
  workspace.knobs.instead = () => ({ status: 401, body: { error_code: 'UNAUTHENTICATED', message: 'No.' } })
  t.match(await failure(connection.findHiddenTables?.([ref('kept')]) ?? Promise.resolve()), {
    kind: 'credentials',
  })
})

t.test('columns and result columns may have any name', async t => {
  const { workspace, connection } = await openSession(t)
  const names = [
    `it's a "quote"`,
    'a.b.c',
    ' space around ',
    'naïve 🦆',
    'x"; drop table y; --',
    '$1 ? :1 %s',
  ]
  const quoted = names.map(name => `${databricksDialect.quote(name).strings[0]} int`)
  await workspace.execute(`create table \`shop\`.\`default\`.\`odd\` (${quoted.join(', ')})`)
  await workspace.execute('insert into `shop`.`default`.`odd` values (1, 2, 3, 4, 5, 6)')
  const [table] = await connection.introspect()
  t.same(
    table?.columns.map(({ name }) => name),
    names,
  )
  const [row] = await connection.query(sql`select * from ${raw('`shop`.`default`.`odd`')}`, QUICK)
  t.same(row, Object.fromEntries(names.map((name, index) => [name, index + 1])))
})

t.test('results are whole or an error', async t => {
  const { workspace, connection } = await openSession(t)
  const { knobs } = workspace
  const many = sql`select range as n from range(0, 25)`
  knobs.chunkRows = 10
  const rows = await connection.query(many, QUICK)
  t.same(
    rows.map(({ n }) => n),
    Array.from({ length: 25 }, (_, index) => index),
  )
  t.equal((await connection.query(many, { ...QUICK, maxRows: 12 })).length, 12, 'a limit of ours is no harm')

  const statement = (manifest: object, result: object) => ({
    statement_id: 'x',
    status: { state: 'SUCCEEDED' },
    manifest: { schema: { columns: [{ name: 'n', type_text: 'INT' }] }, ...manifest },
    result,
  })
  const answers = (body: object) => {
    knobs.instead = ({ method }) => (method === 'POST' ? { body } : undefined)
  }
  answers(statement({ total_row_count: 1, truncated: true }, { data_array: [['1']] }))
  t.match(await failure(connection.query(many, QUICK)), { kind: 'other', code: 'INCOMPLETE' }, 'truncated')
  answers(statement({ total_row_count: 9, truncated: true }, { data_array: [['1']] }))
  t.same(await connection.query(many, { ...QUICK, maxRows: 1 }), [{ n: 1 }], 'cut where it was asked to be')
  answers(statement({ total_row_count: 2, truncated: false }, { data_array: [['1']] }))
  t.match(await failure(connection.query(many, QUICK)), { code: 'INCOMPLETE' }, 'a chunk is missing')
  answers({ statement_id: 'x', status: { state: 'CLOSED' } })
  t.match(await failure(connection.query(many, QUICK)), { kind: 'other', code: 'CLOSED' })
  answers({ statement_id: 'x', status: { state: 'CANCELED' } })
  t.match(await failure(connection.query(many, QUICK)), { kind: 'other', code: 'CANCELED' })
  knobs.instead = () => undefined

  knobs.inlineBytes = 50
  const error = await failure(connection.query(many, QUICK))
  t.match(error, { kind: 'invalid-query', code: 'RESULT_TOO_LARGE', message: /25 MiB/ })
})

t.test('a catalog too large for one reply is read in parts', async t => {
  const { workspace, connection } = await openSession(t)
  for (let index = 0; index < 60; index++) {
    await workspace.execute(`create table \`shop\`.\`default\`.\`t${index}\` (\`id\` int, \`label\` string)`)
  }
  const whole = await connection.introspect()
  workspace.knobs.inlineBytes = 6000
  t.same(await connection.introspect(), whole)
  t.equal(whole.length, 60)
  t.equal(workspace.statements().length, 1 + 1 + 32)
})

t.test('a busy service is asked again, and not twice for what it took', async t => {
  const { workspace, connection } = await openSession(t)
  const { knobs, service } = workspace
  const busy = (status: number, times: number, method: string) => {
    let left = times
    knobs.instead = exchange =>
      exchange.method === method && left-- > 0
        ? { status, body: { error_code: 'TEMPORARILY_UNAVAILABLE', message: 'Busy.' } }
        : undefined
  }
  busy(503, 2, 'POST')
  t.same(await connection.query(sql`select 1 as one`, QUICK), [{ one: 1 }])
  service.requests.length = 0
  busy(504, 1, 'POST')
  t.match(await failure(connection.query(sql`select 1 as one`, QUICK)), { kind: 'network' })
  t.equal(service.requests.length, 1, 'it may have been taken')
  busy(429, 9, 'POST')
  t.match(await failure(connection.query(sql`select 1 as one`, QUICK)), {
    kind: 'network',
    message: /not available|no more requests/,
  })
})

t.test('a statement that is given up ends in the warehouse', async t => {
  const { workspace, connection } = await openSession(t)
  const slow = sql`select count(*) as n from range(0, 1000000) a cross join range(0, 1000000) b where hash(a.range, b.range) = 1`
  workspace.knobs.losesCancels = true
  const error = await failure(connection.query(slow, { timeoutMs: 60_000, signal: AbortSignal.timeout(400) }))
  t.equal(error.code, 'ABORTED')
  t.equal(workspace.running(), 0, 'though the first cancel was lost')
})

t.test('a warehouse that does not run is reported', async t => {
  const { workspace, connection } = await openSession(t)
  const { knobs, connector, config, options } = workspace
  knobs.isPending = true
  const late = await failure(connection.query(sql`select 1 as one`, { timeoutMs: 5001 }))
  t.match(late, { kind: 'timeout', code: 'TIMEOUT', message: /waited for the SQL warehouse/ })
  knobs.isPending = false
  t.same(await connection.query(sql`select 1 as one`, QUICK), [{ one: 1 }])
  knobs.warehouseState = 'STOPPED'
  const stages = await connector.test(config, options)
  t.match(stages[2], { status: 'passed', message: /is stopped and starts with the first statement/ })
  knobs.warehouseState = 'DELETED'
  t.match(await failure(connector.connect(config, options)), { kind: 'missing-object', message: /http_path/ })
})

t.test('what else may go wrong on the way', async t => {
  const { workspace, connection } = await openSession(t)
  const { knobs, connector, config, options } = workspace
  knobs.isTokenRevoked = true
  const revoked = await failure(connection.query(sql`select 1 as one`, QUICK))
  t.match(revoked, { kind: 'credentials', message: /check access_token/ })
  knobs.isTokenRevoked = false
  const refused = async (status: number, body: unknown) => {
    knobs.instead = () => ({ status, body })
    return failure(connector.connect(config, options))
  }
  const echoed = await refused(400, { error_code: 'BAD_REQUEST', message: `Bad header: Bearer ${TOKEN}` })
  t.notMatch(echoed.message, TOKEN)
  t.match(await refused(200, '<html>Sign in</html>'), { kind: 'other', message: /check host/ })
  t.match(await refused(404, '<html>Nothing</html>'), {
    kind: 'missing-object',
    message: /check host and http_path/,
  })
  t.match(await refused(302, ''), { kind: 'network', message: /check the host/ })
  t.match(
    await refused(403, {
      error_code: 'PERMISSION_DENIED',
      message: 'You do not have permission to access the SQL warehouse.',
    }),
    { kind: 'permission', message: /CAN USE/ },
  )
  t.match(
    await refused(403, {
      error_code: 403,
      message: 'Source IP address: 1.2.3.4 is blocked by Databricks IP ACL',
    }),
    { kind: 'network', message: /IP access list/ },
  )
})

t.test('certificates are verified', async t => {
  const { connector, config, options } = await startDatabricks(t, 'self-signed')
  const stages = await connector.test(config, options)
  t.match(stages[1], { name: 'tls', status: 'failed', error: { kind: 'tls' } })
})

t.test('failures of statements are distinguished', async t => {
  const of = (message: string, state?: string, code = 'BAD_REQUEST') =>
    classifyDatabricksError(
      'databricks',
      toStatementFailure({ state: 'FAILED', error: { error_code: code, message }, sql_state: state }),
    )
  const kinds: [string, string, ...Parameters<typeof of>][] = [
    [
      'missing-object',
      'TABLE_OR_VIEW_NOT_FOUND',
      '[TABLE_OR_VIEW_NOT_FOUND] The table `x` cannot be found.',
      '42P01',
    ],
    [
      'missing-object',
      'UNRESOLVED_COLUMN.WITH_SUGGESTION',
      '[UNRESOLVED_COLUMN.WITH_SUGGESTION] No `y`.',
      '42703',
    ],
    ['missing-object', 'NO_SUCH_CATALOG_EXCEPTION', "[NO_SUCH_CATALOG_EXCEPTION] Catalog 'x' was not found."],
    ['missing-object', 'SCHEMA_NOT_FOUND', '[SCHEMA_NOT_FOUND] The schema `x` cannot be found.', '42704'],
    ['invalid-query', 'PARSE_SYNTAX_ERROR', "[PARSE_SYNTAX_ERROR] Syntax error at or near 'from'.", '42601'],
    ['invalid-query', 'DIVIDE_BY_ZERO', '[DIVIDE_BY_ZERO] Division by zero.', '22012'],
    ['invalid-query', 'CAST_INVALID_INPUT', "[CAST_INVALID_INPUT] The value 'abc' cannot be cast.", '22018'],
    ['invalid-query', 'UNRESOLVED_ROUTINE', '[UNRESOLVED_ROUTINE] Cannot resolve routine `nope`.', '42883'],
    ['invalid-query', 'NEW_CONDITION', '[NEW_CONDITION] Something new with the query.', '42XYZ'],
    [
      'permission',
      'INSUFFICIENT_PERMISSIONS',
      '[INSUFFICIENT_PERMISSIONS] Insufficient privileges: no SELECT.',
      '42501',
    ],
    ['permission', 'BAD_REQUEST', "PERMISSION_DENIED: User does not have USE SCHEMA on Schema 'main.x'."],
    ['timeout', 'DEADLINE_EXCEEDED', 'The statement took too long.', undefined, 'DEADLINE_EXCEEDED'],
    ['timeout', 'BAD_REQUEST', 'Statement timed out: it ran over STATEMENT_TIMEOUT.'],
    ['network', 'BAD_REQUEST', 'The SQL warehouse is stopped.'],
    ['network', 'TEMPORARILY_UNAVAILABLE', 'Try later.', undefined, 'TEMPORARILY_UNAVAILABLE'],
    [
      'invalid-query',
      'RESULT_TOO_LARGE',
      'Inline byte limit exceeded. Results can be of at most 26214400 bytes.',
    ],
    [
      'missing-object',
      'TABLE_OR_VIEW_NOT_FOUND',
      '[TABLE_OR_VIEW_NOT_FOUND] The table `warehouse`.`stopped` cannot be found.',
      '42P01',
    ],
    [
      'invalid-query',
      'CAST_INVALID_INPUT',
      "[CAST_INVALID_INPUT] The value 'token has expired' of the type STRING cannot be cast.",
      '22018',
    ],
    [
      'invalid-query',
      'CAST_INVALID_INPUT',
      "[CAST_INVALID_INPUT] The value 'IP access list' of the type STRING cannot be cast.",
      '22018',
    ],
    ['other', 'INTERNAL_ERROR', 'Something broke.', undefined, 'INTERNAL_ERROR'],
  ]
  for (const [kind, code, ...failed] of kinds) t.match(of(...failed), { kind, code }, code)
  t.match(
    of("[INSUFFICIENT_PERMISSIONS] User does not have permission SELECT on Table 'warehouse'.").message,
    /USE SCHEMA and SELECT/,
  )
  t.match(of('[INSUFFICIENT_PERMISSIONS] Insufficient privileges.').message, /grant the token's owner/)
  t.match(of('[TABLE_OR_VIEW_NOT_FOUND] The table cannot be found.').message, /found: run a discovery/)
  const message = "[PARSE_SYNTAX_ERROR] Syntax error at or near 'from'. SQLSTATE: 42601 (line 1, pos 7)"
  t.equal(of(`${message}\n\n== SQL ==\nselect from`).message, message, 'without the text or the plan')
  t.match(
    classifyDatabricksError(
      'databricks',
      new RestFailure(404, { code: 'RESOURCE_DOES_NOT_EXIST', message: 'Endpoint x does not exist.' }),
    ),
    {
      kind: 'missing-object',
      message: /check host and http_path/,
    },
  )
})

t.test('values arrive as what they are', async t => {
  const cases: [string, string, unknown][] = [
    ['TINYINT', '-1', -1],
    ['BIGINT', '9007199254740993', '9007199254740993'],
    ['DECIMAL(38,0)', '5', '5'],
    ['DOUBLE', 'NaN', NaN],
    ['DOUBLE', '-Infinity', -Infinity],
    ['DOUBLE', '1.0E300', 1e300],
    ['BOOLEAN', 'false', false],
    ['DATE', '0001-01-01', '0001-01-01'],
    ['TIMESTAMP', '2024-02-29T12:34:56.789Z', new Date('2024-02-29T12:34:56.789Z')],
    ['TIMESTAMP', '2024-02-29T13:34:56.789123+01:00', new Date('2024-02-29T12:34:56.789Z')],
    ['TIMESTAMP_NTZ', '2024-02-29T12:34:56', new Date('2024-02-29T12:34:56Z')],
    ['TIMESTAMP_NTZ', '+294247-01-10T04:00:54', '+294247-01-10T04:00:54'],
    ['TIMESTAMP', '0099-01-01T00:00:00.000Z', new Date('0099-01-01T00:00:00Z')],
    ['TIMESTAMP', '+292278994-08-17T07:12:55.807Z', '+292278994-08-17T07:12:55.807Z'],
    ['BINARY', 'AP8Q', Uint8Array.from([0, 255, 16])],
    ['VARIANT', '{"a":1}', { a: 1 }],
    ['VARIANT', '2024-01-01', '2024-01-01'],
    ['MAP<STRING, INT>', '{"a":1}', { a: 1 }],
    ['ARRAY<BIGINT>', '[9007199254740993]', '[9007199254740993]'],
    ['STRUCT<a: INT>', '{"a":1}', '{"a":1}'],
    ['INTERVAL DAY TO SECOND', '1 00:00:00', '1 00:00:00'],
  ]
  for (const [type, text, value] of cases) {
    const rows = readRows([{ name: '__proto__', type_text: type }], [[text], [null]])
    t.same(
      rows.map(row => Object.entries(row)),
      [[['__proto__', value]], [['__proto__', null]]],
      type,
    )
  }
  t.same(readRows([{ name: 'n', type_name: 'LONG' }], [['1']]), [{ n: 1 }], 'by the name of the type alone')
})

t.test('types have one canonical form', async t => {
  const cases: [string, string, string][] = [
    ['INT', 'int', 'integer'],
    ['LONG', 'bigint', 'integer'],
    ['DEC(10, 2)', 'decimal(10,2)', 'decimal'],
    ['VARCHAR(20)', 'varchar(20)', 'text'],
    ['string collate UTF8_LCASE', 'string collate utf8_lcase', 'text'],
    ['TIMESTAMP_NTZ', 'timestamp_ntz', 'timestamp'],
    ['timestamp', 'timestamp', 'timestamp'],
    ['VARIANT', 'variant', 'json'],
    ['map<string, int>', 'map<string,int>', 'json'],
    ['ARRAY<INT>', 'array<int>', 'other'],
    ['struct<a: int, b: string>', 'struct<a:int,b:string>', 'other'],
    ['interval day to second', 'interval day to second', 'other'],
    ['geography(4326)', 'geography(4326)', 'other'],
    ['', '', 'other'],
  ]
  for (const [type, canonical, kind] of cases)
    t.same([canonicalType(type), columnKind(type)], [canonical, kind], type)
})
