/** CUSTOM_SQL in the engines' own SQL: what is accepted runs and counts right, what is refused has its sentence. */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import mysql2 from 'mysql2/promise'
import t, { type Test } from 'tap'
import { buildCheckContext } from '../../../checks/rows/context.ts'
import { validateOnEngine, validationSession } from '../../../checks/engine-validation.ts'
import { scan } from '../../../checks/scan.ts'
import { checkCustomSql, parseCustomSql } from '../../../checks/sql/custom-sql.ts'
import { renderCustomSql } from '../../../checks/sql/render.ts'
import { bigqueryDialect } from '../../../connectors/bigquery/dialect.ts'
import type { TableInfo, TableRef } from '../../../connectors/catalog.ts'
import type { Connection, Connector } from '../../../connectors/connector.ts'
import { databricksDialect } from '../../../connectors/databricks/dialect.ts'
import type { Dialect } from '../../../connectors/dialect.ts'
import type { Lexicon, QuoteForm } from '../../../connectors/lexicon.ts'
import { mysqlDialect } from '../../../connectors/mysql/dialect.ts'
import { mysql } from '../../../connectors/mysql/index.ts'
import { postgresqlDialect } from '../../../connectors/postgresql/dialect.ts'
import { postgresql } from '../../../connectors/postgresql/index.ts'
import { redshiftDialect } from '../../../connectors/redshift/dialect.ts'
import { snowflakeDialect } from '../../../connectors/snowflake/dialect.ts'
import { ConnectorError } from '../../../connectors/errors.ts'
import { raw, sql } from '../../../connectors/sql.ts'
import { resolveHostModules } from '../../../server/extensions.ts'
import { mariadbAbsent, mysqlSettings, startShop, testMariadb } from '../../helpers/mariadb.ts'
import { share, sharedCount } from '../../helpers/share.ts'
import { connectOptions, failure, settings, startSource } from '../../helpers/source.ts'
import { REFUSED } from './attacks.ts'
import { COUNTED, ENGINES, REFUSED_OWN, ROWS, SENT, type EngineName } from './engine-sql-cases.ts'
import { check } from '../scan-helpers.ts'
import { readAs } from './engine-readings.ts'

resolveHostModules()
const { sqlite } = await import('../../../plugin-template/connector.ts')

const DIALECTS: Readonly<Record<EngineName, Dialect>> = {
  postgresql: postgresqlDialect,
  redshift: redshiftDialect,
  mysql: mysqlDialect,
  snowflake: snowflakeDialect,
  bigquery: bigqueryDialect,
  databricks: databricksDialect,
  sqlite: sqlite.dialect,
}
const columns = ['id', 'amount', 'status', 'odd name'].map(name => ({ name }))
const file = joinPath(tmpdir(), `tidemark-own-${randomUUID()}`)
const named = (text: string) =>
  JSON.stringify(text)
    .replaceAll(/[^ -~]/g, '?')
    .slice(0, 100)

const read = (engine: EngineName, text: string) =>
  checkCustomSql(text.replaceAll('{file}', file), { dialect: DIALECTS[engine], columns })

t.test('what could do harm is refused on its engine, with the sentence', async t => {
  for (const engine of ENGINES) {
    for (const [sentence, texts] of REFUSED_OWN[engine]) {
      for (const text of share(texts, `refused by ${engine}, ${sentence}`)) {
        const reading = await read(engine, text)
        t.match(
          'error' in reading ? reading.error : `accepted: ${reading.text}`,
          sentence,
          `${engine}: ${named(text)}`,
        )
      }
    }
  }
})

t.test('what no engine may run alike is refused or harmless in the own SQL of each', async t => {
  const harmful = /sleep|drop|delete|update|insert|randomblob|wait|load|lock|outfile|benchmark|into/i
  for (const engine of ENGINES) {
    const dialect = DIALECTS[engine]
    const accepted: string[] = []
    for (const text of share(
      REFUSED.flatMap(([, texts]) => texts),
      `attacks on ${engine}`,
    )) {
      const reading = await read(engine, text)
      if ('error' in reading) continue
      // What one engine has for code, another has for a text.
      const { code } = readAs(engine, dialect.render(renderCustomSql(reading, dialect)).text)
      if (harmful.test(code)) accepted.push(`${text}: ${code}`)
    }
    t.strictSame(accepted, [], engine)
  }
})

t.test('what no real engine is here for is written out as it was read', async t => {
  for (const [engine, texts] of Object.entries(SENT) as [keyof typeof SENT, (typeof SENT)['redshift']][]) {
    for (const [text, expected = text] of share<(typeof texts)[number]>(texts, `sent to ${engine}`)) {
      const reading = await read(engine, text)
      const sent =
        'error' in reading
          ? reading.error
          : DIALECTS[engine].render(renderCustomSql(reading, DIALECTS[engine])).text.trim()
      t.equal(sent, expected, `${engine}: ${named(text)}`)
    }
  }
})

t.test('where double quotes hold both, the table decides between a column and a text', async t => {
  const sent = async (text: string, names: string[]) => {
    const reading = await checkCustomSql(text, {
      dialect: mysqlDialect,
      columns: names.map(name => ({ name })),
    })
    return 'error' in reading
      ? reading.error
      : mysqlDialect.render(renderCustomSql(reading, mysqlDialect)).text.trim()
  }
  t.equal(await sent('"open" is not null', ['open']), '`open` is not null')
  t.equal(await sent('"open" is not null', ['closed']), "'open' is not null")
  t.equal(await sent('coalesce("A", "b")', ['a']), "coalesce(`A`, 'b')")
  t.match(await sent('kind = "open"', ['open']), /write `open` for the column or 'open' for the text/)
  t.equal(await sent('kind = "open"', ['closed']), "kind = 'open'")
})

t.test('a name that is longer than those of PostgreSQL is read whole', async t => {
  for (const dialect of [mysqlDialect, redshiftDialect, bigqueryDialect]) {
    const quote = (name: string) => dialect.render(dialect.quote(name)).text
    const [long, other] = ['名'.repeat(30), `${'名'.repeat(30)}b`]
    const text = `${quote(long)} > 0 and ${quote(other)} > 0 and ${'A'.repeat(64)}(b) = 1`
    const reading = await checkCustomSql(text, { dialect })
    t.match(reading, { form: 'expression' })
    if ('error' in reading) continue
    t.strictSame(reading.columns.toSorted(), ['b', long, other].toSorted())
    t.match(
      reading.calls.filter(({ kind }) => kind === 'function'),
      [{ name: 'a'.repeat(64) }],
    )
  }
})

/** A real engine with the table. */
interface World {
  connector: Connector
  connection: Connection
  table: TableInfo
}

async function open(connector: Connector, connection: Connection, ref: TableRef): Promise<World> {
  const [table] = await connection.introspect({ tables: [ref] })
  if (!table) throw new Error(`no table ${ref.name}`)
  return { connector, connection, table }
}

async function run({ connector, connection, table }: World, text: string) {
  const rule = check('CUSTOM_SQL', undefined, { sql_expression: text })
  const { outcomes } = await scan(connection, connector, table, [rule], { timeoutMs: 10_000, sampleLimit: 5 })
  return outcomes[0]
}

/** A column that is not there is missed when the check is made, whatever the names in the question are. */
async function missesColumns(t: Test, { connector, connection, table }: World): Promise<void> {
  for (const name of ['x', 'y', 'q']) {
    for (const text of [`${name} > 0`, `select id, status from t where ${name} > 0`]) {
      const rule = check('CUSTOM_SQL', undefined, { sql_expression: text })
      const context = buildCheckContext(connector, table, rule)
      const question = validateOnEngine(rule.type, context, validationSession(connection, 10_000))
      t.match(await failure(question), { message: new RegExp(name) }, named(text))
    }
  }
}

async function counts(t: Test, world: World, engine: keyof typeof COUNTED): Promise<void> {
  for (const [text, invalid] of share(COUNTED[engine], `counted on ${engine}`)) {
    const outcome = await run(world, text)
    t.match(outcome, { status: 'counted', invalid }, named(text))
    if (outcome?.status === 'counted')
      t.equal(outcome.samples.length, Math.min(5, invalid), `${named(text)} has samples`)
  }
}

/** Signs and words of an engine with what could do harm, put together at random; without a lexicon PostgreSQL's. */
function sentences(lexicon: Lexicon | undefined): fc.Arbitrary<string> {
  const signs = lexicon?.symbols ?? ['=', '<>', '#', '#>>', '@>', '||', '::', '(', ')', ',', '-', '/', '*']
  const quoted = (forms: readonly QuoteForm[] | undefined, content: string) =>
    forms?.map(({ open, close }) => `${open}${content}${close}`)
  const operands = [
    ...(quoted(lexicon?.names, 'amount') ?? ['"amount"', 'U&"amount"']),
    ...(quoted(lexicon?.texts, 'a') ?? ["'a'", "E'a'", '$$a$$', '$x$a$x$']),
    ...['amount', 'id', 'status', '"status"', '1', '.5', '(id)', 'abs(id)', "x'61'", 'null'],
  ]
  const operators = [
    ...(lexicon ? signs : ['=', '<>', '<', '||', '-', '#', '/', '*']),
    ...['and', 'or', 'like', '=', '<', '+', '='],
    ...Object.keys(lexicon?.operators ?? {}),
  ]
  const odd = [
    ...[
      'and',
      'not',
      'is',
      'in',
      'between',
      'case when',
      'end',
      'as',
      'from t',
      'where',
      'order by',
      'select',
    ],
    ...[
      'select * from t',
      'union',
      'with x as',
      'limit 1',
      'limit 0, 1',
      'group by',
      'for update',
      'interval',
      'day',
    ],
    ...[
      'binary',
      'using',
      "separator ','",
      'against',
      'match',
      'use index',
      'with rollup',
      'character set',
      't',
    ],
    ...[
      'into outfile',
      'touch()',
      '`touch`()',
      '"touch"()',
      '[touch]()',
      'touch',
      '()',
      '(1)',
      '@x',
      ':=',
      ';',
    ],
    ...["'", '"', '`', '[', ']', "n'", "x'", "E'", 'U&"', "r'", '$$', '$a$', "'''", '"""', '\\', "\\'", "''"],
    ...['--', '-- ', '#', '//', '/*', '*/', '/*!', '/*M!', '\n', '\0', '/* x */', '-- x\n'],
    ...[...signs, ...(lexicon?.modifiers ?? [])],
  ]
  const noise = fc.oneof({ weight: 12, arbitrary: fc.constant('') }, fc.constantFrom(...odd))
  const gap = fc.constantFrom(' ', ' ', ' ', '', '/**/', '\n')
  const step = fc
    .tuple(gap, fc.constantFrom(...operators), gap, noise, gap, fc.constantFrom(...operands), noise)
    .map(parts => parts.join(''))
  const expression = fc
    .tuple(fc.constantFrom(...operands), fc.array(step, { maxLength: 4 }))
    .map(([first, rest]) => first + rest.join(''))
  const select = fc
    .tuple(expression, noise, expression, noise)
    .map(
      ([value, middle, condition, last]) =>
        `select ${value} as x from t ${middle} where ${condition} ${last}`,
    )
  const anything = fc
    .array(fc.constantFrom(...operands, ...operators, ...odd), { maxLength: 12 })
    .map(parts => parts.join(' '))
  return fc.oneof({ weight: 3, arbitrary: expression }, { weight: 2, arbitrary: select }, anything)
}

/**
 * Whatever is accepted is one SELECT to the engine, which it runs or has an error of its own for, and changes nothing.
 * The function `touch` writes and is on no deny list: a text in which the analysis sees it is passed over, and in any
 * other the engine would say that the session may only read.
 */
async function isOneSelect(
  t: Test,
  world: World,
  engine: EngineName,
  state: () => Promise<unknown>,
): Promise<void> {
  const dialect = DIALECTS[engine]
  await checkCustomSql('a')
  const before = await state()
  let ran = 0
  let failed = 0
  await fc.assert(
    fc.asyncProperty(
      sentences(typeof dialect.lexicon === 'object' ? dialect.lexicon : undefined),
      async text => {
        const reading = parseCustomSql(text, { dialect, columns: world.table.columns })
        if ('error' in reading) return assert.match(reading.error, /\w/)
        if (reading.calls.some(({ name }) => name === 'touch')) return
        const own = renderCustomSql(reading, dialect)
        const statement =
          reading.form === 'select'
            ? sql`select 1 as x from (${own}) q`
            : sql`select 1 as x from t where (${own})`
        try {
          await world.connection.query(statement, { timeoutMs: 5_000 })
          ran += 1
        } catch (error) {
          assert.ok(error instanceof ConnectorError && error.kind !== 'network', `${text}: ${String(error)}`)
          assert.doesNotMatch(
            error.message,
            /read.?only|multi|only one statement|unterminated|unclosed/i,
            `${text} tried to write`,
          )
          failed += 1
        }
      },
    ),
    { numRuns: sharedCount(1500) },
  )
  t.ok(ran > sharedCount(1500) / 75, `${ran} of the accepted texts ran, the engine refused ${failed}`)
  t.strictSame(await state(), before, 'and nothing has changed')
  t.notOk(existsSync(file))
}

const fill = (backslash: string) =>
  `insert into t (id, amount, status, "odd name") values ${ROWS.map(
    row => `(${row.map(value => value ?? backslash).join(', ')})`,
  ).join(', ')}`

t.test('PostgreSQL', async t => {
  const source = await startSource(t)
  await source.query('create table t (id int primary key, amount int, status text, "odd name" text)')
  await source.query(fill("'a\\b'"))
  await source.query('create table log (id int generated always as identity)')
  await source.query(
    `create function touch() returns int language sql volatile as 'insert into log default values returning id'`,
  )
  const connection = await postgresql.connect(settings(source.config), connectOptions)
  t.teardown(() => connection.close())
  const ref = { catalog: source.name, schema: 'public', name: 't' }
  const world = await open(postgresql as unknown as Connector, connection, ref)
  await counts(t, world, 'postgresql')
  await missesColumns(t, world)
  await isOneSelect(t, world, 'postgresql', () =>
    source.query(
      `select (select md5(string_agg(t::text, '|' order by id)) from t) as t, (select count(*) from log) as log,
        (select count(*) from pg_class) as relations`,
    ),
  )
})

const MODES = [
  '',
  'ANSI_QUOTES',
  'NO_BACKSLASH_ESCAPES',
  'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE',
]

t.test('MariaDB, whatever the sql_mode of the server is', { skip: mariadbAbsent }, async t => {
  const shop = await startShop(t)
  await shop.query(`set session sql_mode = 'ANSI_QUOTES'`)
  await shop.query(
    'create table t (id int primary key, amount int, status varchar(100), "odd name" varchar(100)) default character set utf8mb4 collate utf8mb4_general_ci',
  )
  await shop.query(fill("'a\\\\b'"))
  await shop.query('create table ft (id int primary key, body text, fulltext (body)) engine = innodb')
  await shop.query(`insert into ft values (1, 'rain and wind'), (2, 'sun'), (3, 'snow')`)
  await shop.query('create table log (id int auto_increment primary key)')
  await shop.query(
    'create function touch() returns int modifies sql data begin insert into log values (null); return 1; end',
  )
  // It may write, so that only the session and the analysis stand in the way.
  await shop.query(`grant all on ${shop.name}.* to ${shop.config.username}`)
  await shop.query(`grant file on *.* to ${shop.config.username}`)
  const state = async () => ({
    stored: await shop.query('checksum table t, ft, log'),
    tables: await shop.query('show tables'),
    lock: await shop.query(`select is_used_lock('alarm') as alarm`),
  })
  const ref = { catalog: shop.name, schema: shop.name, name: 't' }
  for (const mode of MODES) {
    await shop.query(`set global sql_mode = '${mode}'`)
    await t.test(mode || 'none', async t => {
      const connection = await mysql.connect(mysqlSettings(shop.config), connectOptions)
      t.teardown(() => connection.close())
      const world = await open(mysql as unknown as Connector, connection, ref)
      await counts(t, world, 'mysql')
      await missesColumns(t, world)
      if (mode === '') await isOneSelect(t, world, 'mysql', state)
    })
  }
  await t.test('and quotes end where they were read to end, whatever the mode of the session is', async t => {
    const { host, port, user, password } = await testMariadb()
    const client = await mysql2.createConnection({ host, port, user, password, database: shop.name })
    t.teardown(() => client.end())
    const quoted = fc
      .array(fc.constantFrom("'", '"', '`', '\\', '\\\\', ' or touch() ', '--', '#', '/*', 'a'), {
        maxLength: 6,
      })
      .map(parts => parts.join(''))
    const before = await state()
    for (const mode of MODES) {
      await client.query(`set session sql_mode = '${mode}'`)
      await fc.assert(
        fc.asyncProperty(quoted, quoted, async (text, name) => {
          const literal = mysqlDialect.textLiteral(text)
          const alias = mysqlDialect.quote(`${name}x`)
          const { text: statement } = mysqlDialect.render(
            sql`select 1 as one, ${literal} as a, 2 as ${alias}, 3 as three`,
          )
          const [, fields] = await client.query(statement)
          assert.deepEqual(
            fields.map(field => field.name),
            ['one', 'a', `${name}x`, 'three'].map((field, index) =>
              index === 2 ? field.trimStart() : field,
            ),
          )
        }),
        { numRuns: sharedCount(100) },
      )
    }
    t.strictSame(await state(), before)
  })
})

t.test('SQLite', async t => {
  const folder = mkdtempSync(joinPath(tmpdir(), 'tidemark-own-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = joinPath(folder, 'shop.db')
  const database = new DatabaseSync(path)
  database.exec('create table t (id integer primary key, amount int, status text, "odd name" text)')
  database.exec('create index t_amount on t (amount)')
  database.exec(fill("'a\\b'"))
  database.close()
  const connection = await sqlite.connect({ path }, connectOptions)
  t.teardown(() => connection.close())
  const world = await open(sqlite as Connector, connection, { catalog: 'main', schema: 'main', name: 't' })
  await counts(t, world, 'sqlite')
  await missesColumns(t, world)
  await isOneSelect(t, world, 'sqlite', async () => ({
    bytes: createHash('sha256').update(readFileSync(path)).digest('hex'),
    set: await connection.query(raw('select * from pragma_query_only, pragma_database_list'), {
      timeoutMs: 5_000,
    }),
  }))
})
