import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { Check, CheckOutcome } from '../../../checks/check.ts'
import { buildCheckContext } from '../../../checks/plan.ts'
import { validateOnEngine, validationSession } from '../../../checks/engine-validation.ts'
import { scan } from '../../../checks/scan.ts'
import { checkCustomSql } from '../../../checks/sql/custom-sql.ts'
import type { TableInfo, TableRef } from '../../../connectors/catalog.ts'
import type { Connection, Connector } from '../../../connectors/connector.ts'
import { mysql } from '../../../connectors/mysql/index.ts'
import { postgresql } from '../../../connectors/postgresql/index.ts'
import { redshift } from '../../../connectors/redshift/index.ts'
import { raw, sql } from '../../../connectors/sql.ts'
import { resolveHostModules } from '../../../server/extensions.ts'
import { mariadbAbsent, mysqlSettings, startShop } from '../../helpers/mariadb.ts'
import { share } from '../../helpers/share.ts'
import { redshiftSettings, startRedshift } from '../../helpers/redshift.ts'
import { connectOptions, failure, settings, startSource } from '../../helpers/source.ts'
import { ASKED, BOMBS, ENDLESS, HARMLESS, MADE, PATTERNS, REFUSED } from './attacks.ts'
import { check } from '../scan-helpers.ts'

resolveHostModules()
const { sqlite } = await import('../../../plugin-template/connector.ts')

/** What statements may take: most are quick, and those that would never end are to be ended by the engine. */
const ENOUGH_MS = 10_000
const SHORT_MS = 300
/** What a check may be blamed for; `other` is what the engine says when its stack is too small. */
const BLAMED = [
  'other',
  'invalid-query',
  'missing-object',
  'permission',
  'timeout',
  'invalid-check',
  'not-finite',
]

const file = joinPath(tmpdir(), `tidemark-attack-${randomUUID()}`)
/** A text as the name of an assertion: some characters end a line of the report. */
const named = (text: string) =>
  JSON.stringify(text)
    .replaceAll(/[^ -~]/g, '?')
    .slice(0, 80)
const filled = (text: string) => text.replaceAll('{file}', file)

/** An engine to attack, with what must not change. */
interface World {
  connector: Connector
  connection: Connection
  table: TableInfo
  /** All that is stored, set or held. */
  state(): Promise<unknown>
}

const ROWS = [
  [1, -1, "'a'"],
  [2, 2, "'b; drop table t'"],
  [3, 'null', 'null'],
  [4, 4, `'${'a'.repeat(40)}!'`],
] as const
const FILL = `insert into t (id, amount, status) values ${ROWS.map(row => `(${row.join(', ')})`).join(', ')}`

async function open(connector: Connector, connection: Connection, ref: TableRef, state: World['state']) {
  const [table] = await connection.introspect({ tables: [ref] })
  if (!table) throw new Error(`no table ${ref.name}`)
  return { connector, connection, table, state }
}

/** What a scan says of a check; the type's questions are asked by the scan. */
async function attack(world: World, rule: Check, timeoutMs = ENOUGH_MS): Promise<CheckOutcome | undefined> {
  const { connector, connection, table } = world
  const { outcomes } = await scan(connection, connector, table, [rule], { timeoutMs, sampleLimit: 3 })
  return outcomes[0]
}

/** What the engine says of a check when it is made: a sentence, null, or an error that is thrown. */
function asked({ connector, connection, table }: World, rule: Check) {
  const context = buildCheckContext(connector, table, rule)
  return validateOnEngine(rule.type, context, validationSession(connection, ENOUGH_MS))
}

const customSql = (text: string) => check('CUSTOM_SQL', undefined, { sql_expression: filled(text) })

/** Counted, or an error that is the check's own and has a sentence. */
function isHarmless(outcome: CheckOutcome | undefined): boolean {
  if (outcome?.status === 'counted') return true
  return outcome?.status === 'error' && BLAMED.includes(outcome.kind) && outcome.message !== ''
}

/** Runs everything against one engine, and looks whether it is as it was. */
async function withstand(t: Test, world: World, engine: 'postgresql' | 'mysql' | 'sqlite') {
  const before = await world.state()
  await t.test('what is understood runs without harm, or is the fault of the check alone', async t => {
    for (const text of share(HARMLESS, `harmless on ${engine}`)) {
      const end = await attack(world, customSql(text))
      t.ok(isHarmless(end), named(text), { end })
    }
    // Some of them do run, with the numbers they should give.
    const counts = async (text: string) => {
      const end = await attack(world, customSql(text))
      return end?.status === 'counted' ? end.invalid : end
    }
    t.equal(await counts('amount /* or sleep(9) */ > 0 -- x'), 2)
    t.equal(await counts("status <> 'b; drop table t'"), 2)
    if (engine === 'postgresql') t.equal(await counts("status <> U&'b; drop table \\0074'"), 2)
    t.equal(await counts('select * from t where amount < 0'), 1)
    t.equal(await counts(`"t"."amount" > 0 or (status = 'a' /* ' */)`), 1)
  })
  await t.test('what never ends is ended by the timeout of the statement', async t => {
    for (const text of [...ENDLESS.all, ...ENDLESS[engine]]) {
      const rule = customSql(text)
      const on = { dialect: world.connector.dialect, table: world.table }
      t.equal(await rule.type.validateConfig?.(rule.config, undefined, on), null)
      t.equal(await asked(world, rule), null, 'what is asked when it is made reads nothing')
      const end = await attack(world, rule, SHORT_MS)
      t.match(end, { kind: 'timeout' }, named(text))
    }
  })
  await t.test('patterns are refused, counted or ended', async t => {
    const bombs = engine === 'postgresql' ? BOMBS : BOMBS.slice(0, 3)
    for (const pattern of share([...bombs, ...PATTERNS], `patterns on ${engine}`)) {
      const end = await attack(world, check('REGEX', 'status', { pattern }), SHORT_MS)
      t.ok(isHarmless(end), named(pattern), { end })
    }
    t.equal(
      await asked(world, check('REGEX', 'status', { pattern: '^a' })),
      null,
      'one that compiles has no answer',
    )
    for (const pattern of ['[', '(', '*a', 'a)']) {
      const error = await failure(asked(world, check('REGEX', 'status', { pattern })))
      t.equal(error.kind, 'invalid-query', `${pattern} is refused by the engine`)
    }
  })
  t.strictSame(await world.state(), before, 'nothing has changed')
  t.notOk(existsSync(file), 'no file was written')
  const rows = await world.connection.query(sql`select count(*) as n from ${raw('t')}`, { timeoutMs: 5_000 })
  t.strictSame(rows, [{ n: ROWS.length }], 'the session still works')
}

t.test('texts that could do harm are refused on every engine, with a sentence', async t => {
  for (const [sentence, texts] of REFUSED) {
    const accepted: [string, string][] = []
    for (const text of share(texts, `attacks refused by ${sentence}`)) {
      const reading = await checkCustomSql(filled(text))
      const answer = 'error' in reading ? reading.error : `accepted as ${reading.form}`
      if (!sentence.test(answer)) accepted.push([text, answer])
    }
    t.strictSame(accepted, [], `${texts.length} texts: ${named(String(sentence))}`)
  }
  const count = [...REFUSED, ...ASKED].reduce((sum, [, texts]) => sum + texts.length, 0)
  t.ok(count + HARMLESS.length >= 400, 'the table is as long as it should be')
})

t.test('PostgreSQL', async t => {
  const source = await startSource(t)
  await source.query('create table t (id int primary key, amount int, status text)')
  await source.query(FILL)
  for (const statement of MADE) await source.query(statement)
  await source.query(
    `create function audit(t) returns int language plpgsql as 'begin perform touch(1); return 1; end'`,
  )
  const connector = postgresql as unknown as Connector
  const connection = await postgresql.connect(settings(source.config), connectOptions)
  t.teardown(() => connection.close())
  const notifications: string[] = []
  const listener = new pg.Client({ ...source.config, user: source.config.username, ssl: false })
  await listener.connect()
  t.teardown(() => listener.end())
  listener.on('notification', ({ payload }) => notifications.push(payload ?? ''))
  await listener.query('listen alarm')

  const state = async () => {
    await listener.query('select 1')
    // Its own transaction alone is what an idle session may hold: PostgreSQL opens one to catch up with others.
    const [stored] = await source.query(
      `select (select md5(string_agg(t::text, '|' order by id)) from t) as t,
        (select md5(string_agg(log::text, '|' order by id)) from log) as log,
        (select count(*) from pg_class) as relations, (select count(*) from pg_proc) as functions,
        (select count(*) from pg_largeobject_metadata) as objects,
        (select last_value from log_id_seq) as sequence,
        (select count(*) from pg_locks where locktype = 'advisory' and database =
          (select oid from pg_database where datname = current_database())) as advisory,
        (select count(*) from pg_locks l join pg_stat_activity a using (pid)
          where a.usename = $1 and l.locktype <> 'virtualxid') as locks,
        (select count(*) from pg_prepared_statements) as prepared`,
      [source.config.username],
    )
    const set = await connection.query(
      // The timeout is set by the connector, for each statement that has another one, and the prefix by files that read the log.
      sql`select name, setting from pg_settings where name not in (${'statement_timeout'}, ${'transaction_isolation'}, ${'log_line_prefix'}) order by name`,
      { timeoutMs: 5_000 },
    )
    return { stored, set, notifications: [...notifications] }
  }
  const ref = { catalog: source.name, schema: 'public', name: 't' }
  const world = await open(connector, connection, ref, state)
  const before = await state()

  await t.test('what only the catalog knows is refused with a sentence', async t => {
    for (const [sentence, texts] of ASKED) {
      for (const text of share(texts, `attacks refused by the catalog, ${sentence}`)) {
        const end = await attack(world, customSql(text))
        t.match(end, { status: 'error', message: sentence }, named(text))
      }
    }
    for (const text of [
      'double(amount) > 0',
      'status is not null and t.status is not null',
      'select q.status, q.id from t q where q.amount < 0',
      "status::varchar(3) = 'a' and amount::numeric(3, 1) > 0",
      'select * from calm where n > 0',
      'select id from kept',
      'select c.relname from pg_class c join information_schema.tables i on i.table_name = c.relname',
    ]) {
      t.match(await attack(world, customSql(text)), { status: 'counted' }, named(text))
    }
  })
  t.strictSame(await state(), before, 'and none of it ran')
  await withstand(t, world, 'postgresql')
})

t.test('MariaDB', { skip: mariadbAbsent }, async t => {
  const shop = await startShop(t)
  await shop.query('create table t (id int primary key, amount int, status varchar(100))')
  await shop.query(FILL)
  const connector = mysql as unknown as Connector
  const connection = await mysql.connect(mysqlSettings(shop.config), connectOptions)
  t.teardown(() => connection.close())
  const state = async () => {
    const stored = await shop.query('checksum table t')
    const tables = await shop.query('show tables')
    const held = await shop.query(`select is_used_lock('alarm') as alarm`)
    const set = await connection.query(
      raw(
        `select variable_name, variable_value from information_schema.session_variables where variable_name not in
          ('MAX_STATEMENT_TIME', 'SQL_SELECT_LIMIT', 'TIMESTAMP', 'LAST_INSERT_ID', 'IDENTITY', 'ERROR_COUNT',
          'WARNING_COUNT', 'RAND_SEED1', 'RAND_SEED2') order by variable_name`,
      ),
      { timeoutMs: 5_000 },
    )
    return { stored, tables, held, set }
  }
  const ref = { catalog: shop.name, schema: shop.name, name: 't' }
  await withstand(t, await open(connector, connection, ref, state), 'mysql')
})

t.test('Redshift looks up the functions that its users made', async t => {
  const cluster = await startRedshift(t)
  await cluster.query('create table t (id int primary key, amount int, status varchar(100))')
  await cluster.query(FILL)
  await cluster.query(`create function f_touch(int) returns int language sql volatile as 'select $1'`)
  await cluster.query(`create function f_double(int) returns int language sql immutable as 'select $1 * 2'`)
  await cluster.query('create schema hidden')
  await cluster.query(`create function hidden.f_double(int) returns int language sql as 'select $1'`)
  await cluster.query('grant usage on schema hidden to public')
  const connection = await redshift.connect(redshiftSettings(cluster.config), connectOptions)
  t.teardown(() => connection.close())
  const ref = { catalog: cluster.name, schema: 'public', name: 't' }
  const world = await open(redshift as unknown as Connector, connection, ref, async () => null)
  const says = async (text: string, outcome: object) =>
    t.match(await attack(world, customSql(text)), outcome, named(text))
  await says('f_touch(amount) > 0', { message: /^The function public\.f_touch is VOLATILE/ })
  await says('public.F_Touch(amount) > 0', { message: /^The function public\.f_touch is VOLATILE/ })
  await says('hidden.f_double(amount) > 0', { message: /^The function hidden\.f_double is VOLATILE/ })
  await says('f_double(amount) > 0', { status: 'counted', invalid: 2 })
  await says("amount > 0 and status <> 'a\\\\b'", { status: 'counted', invalid: 2 })
  await says('nope > 0', { kind: 'missing-object', message: /nope/ })
  t.strictSame(cluster.refused, [], 'in SQL that it has')
})

t.test('SQLite', async t => {
  const folder = mkdtempSync(joinPath(tmpdir(), 'tidemark-attacks-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = joinPath(folder, 'shop.db')
  const database = new DatabaseSync(path)
  database.exec('create table t (id integer primary key, amount int, status text)')
  database.exec(FILL)
  database.close()
  const connection = await sqlite.connect({ path }, connectOptions)
  t.teardown(() => connection.close())
  const state = async () => ({
    files: readdirSync(folder),
    bytes: createHash('sha256').update(readFileSync(path)).digest('hex'),
    set: await connection.query(raw('select * from pragma_query_only, pragma_database_list'), {
      timeoutMs: 5_000,
    }),
  })
  const ref = { catalog: 'main', schema: 'main', name: 't' }
  await withstand(t, await open(sqlite as Connector, connection, ref, state), 'sqlite')
})
