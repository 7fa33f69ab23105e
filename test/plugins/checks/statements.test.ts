import t from 'tap'
import { scanJob } from '../../../plugins/checks/jobs.ts'
import { mariadbAbsent, startShop } from '../../helpers/mariadb.ts'
import { startServer, type Tenant, type TestServer } from '../../helpers/server.ts'
import { startSource } from '../../helpers/source.ts'
import {
  logMariadb,
  logPostgresql,
  NOT_PREPARED,
  type SourceStatements,
  type StatementLog,
} from '../../helpers/statement-log.ts'
import { discover } from '../../helpers/world.ts'

/** The part of a test that asserts. */
type Asserts = Pick<typeof t, 'ok' | 'same'>

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** A database with a table `orders` and a view `ledger`, whose column `growth` cannot be computed of every row. */
interface Stand {
  type: string
  config: object
  query(text: string): Promise<unknown>
  log(): Promise<StatementLog>
}

const COLUMNS = [
  'id',
  'email',
  'status',
  'city',
  'total',
  'weight',
  'placed',
  'paid_at',
  'note',
  'shipped',
  'spare',
]

const table = (texts: string, floats: string, moments: string) => [
  `create table orders (id integer primary key, email ${texts}, status ${texts}, city ${texts}, total decimal(10, 2),
     weight ${floats}, placed date, paid_at ${moments}, note ${texts}, shipped ${texts}, spare ${texts})`,
  `insert into orders values
     (1, 'a@x.org', 'new', 'Oslo', 10, 1.5, '2024-01-01', '2024-01-01 10:00:00', 'one', '2024-01-31', 'x'),
     (2, null, 'paid', 'Oslo', -5, 2.5, '2024-01-02', '2024-01-02 10:00:00', 'two', '2024-02-30', null),
     (3, 'bad', 'paid', 'Rome', 20, null, '2023-01-03', null, 'two', null, 'y'),
     (4, 'a@x.org', 'odd', null, 30, 4, null, '2024-01-04 10:00:00', null, '2024-03-01', 'y')`,
  `create view ledger as select id, status, total, weight, exp(weight) as growth from orders`,
]

const engines: { name: string; absent: string | false; start(t: Teardown): Promise<Stand> }[] = [
  {
    name: 'PostgreSQL',
    absent: false,
    async start(t) {
      const source = await startSource(t)
      for (const statement of table('text', 'double precision', 'timestamp')) await source.query(statement)
      return {
        type: 'postgresql',
        config: source.config,
        query: source.query,
        log: () => logPostgresql(source),
      }
    },
  },
  {
    name: 'MariaDB',
    absent: mariadbAbsent,
    async start(t) {
      const shop = await startShop(t)
      for (const statement of table('varchar(50)', 'double', 'datetime')) await shop.query(statement)
      return { type: 'mysql', config: shop.config, query: shop.query, log: () => logMariadb(t, shop) }
    },
  },
]

const on = (columns: readonly string[], type: string, config?: object) =>
  columns.map(column_name => ({ rule_type: type, column_name, ...(config && { rule_config: config }) }))

const of = (columns: readonly string[], type: string, config: object = {}) =>
  columns.map(column_name => ({ metric_type: type, column_name, ...config }))

/** Parts that no other SQL contains. */
const OWN_SQL = ['total > -918273', 'select * from orders where total < -827364']
const BY_STATUS = { group_by_columns: ['status'] }
const BY_BOTH = { group_by_columns: ['status', 'city'] }
/** Statements of users that are only parsed, once in each scan: no log of the server has them. */
const PARSED = OWN_SQL.length

/** 63 checks that share a statement, six of them of some rows only, one with a condition of a user; and three that cannot. */
const CHECKS: object[] = [
  ...on(COLUMNS, 'NOT_NULL'),
  ...on(['id', 'email', 'total', 'note'], 'UNIQUE'),
  ...on(['email', 'note'], 'REGEX', { pattern: '@' }),
  ...on(['id', 'total', 'weight'], 'RANGE', { min: 0, max: 25 }),
  ...on(['placed', 'paid_at'], 'RANGE', { min: '2024-01-01', max: '2024-01-31' }),
  ...on(['status', 'city'], 'ENUM', { allowed_values: ['new', 'paid', 'Oslo'] }),
  ...on(['shipped'], 'DATE_FORMAT', { format: '%Y-%m-%d' }),
  ...OWN_SQL.map(sql_expression => ({ rule_type: 'CUSTOM_SQL', rule_config: { sql_expression } })),
  { metric_type: 'row_count' },
  ...of(COLUMNS, 'null_percent'),
  ...of(['email', 'status', 'city', 'total', 'placed'], 'distinct_count'),
  ...of(['email', 'note', 'city'], 'duplicate_count'),
  ...of(['id', 'total', 'weight'], 'min_value'),
  ...of(['id', 'total', 'weight'], 'max_value'),
  ...of(['id', 'total', 'weight'], 'mean'),
  ...of(['total', 'weight'], 'percentile', { percentile_value: 90 }),
  ...on(['id', 'email'], 'UNIQUE').map(rule => ({ ...rule, filter: "status = 'paid'" })),
  ...of(['total'], 'mean', { filter: "status = 'paid'" }),
  ...of(['total', 'weight'], 'percentile', { percentile_value: 50, filter: 'id > 1' }),
  { metric_type: 'row_count', filter: 'id > 1' },
  ...of(['email'], 'null_percent', BY_STATUS),
  ...of(['total'], 'mean', BY_BOTH),
]
const ALONE = 3

/** Sixteen checks of the view, one of which looks at the column that may fail. */
const LEDGER_CHECKS: object[] = [
  ...on(['id', 'status', 'total', 'weight'], 'NOT_NULL'),
  ...of(['id', 'status', 'total', 'weight'], 'null_percent'),
  ...of(['id', 'total', 'weight'], 'max_value'),
  ...of(['id', 'total', 'weight'], 'mean'),
  { metric_type: 'row_count' },
  ...of(['growth'], 'mean'),
]

interface World extends Stand {
  app: TestServer
  tenant: Tenant
  /** Makes a check and gives the address of its results. */
  make(tablePath: string, body: object): Promise<string>
  tableId(name: string): Promise<string>
}

async function makeWorld(t: Teardown, stand: Stand): Promise<World> {
  const app = await startServer(t)
  const tenant = await app.signUp()
  const { body } = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name: 'shop',
    source_type: stand.type,
    connection_config: stand.config,
  })
  const asset = body.data as { id: string }
  await discover({ app, tenant, asset })
  return {
    ...stand,
    app,
    tenant,
    async make(tablePath, check) {
      const isRule = 'rule_type' in check
      const base = `/api/v1/sdk/${isRule ? 'validity' : 'metrics'}/${asset.id}`
      const made = await tenant.ask('POST', base, { table_path: tablePath, ...check })
      if (made.status !== 201) throw new Error(JSON.stringify([check, made.body]))
      const { uuid, id } = made.body.data
      return isRule ? `${base}/${uuid}/results` : `${base}/${id}/snapshots`
    },
    async tableId(name) {
      const [row] = await app.query('select id from tables where name = $1', [name])
      return String(row?.id)
    },
  }
}

interface Result {
  /** Its numbers, of all groups; null where it could not run. */
  numbers: string | null
  error: string | null
}

/** What each check gave at its last run. */
async function lastResults({ tenant }: World, checks: readonly string[]): Promise<Result[]> {
  const results: Result[] = []
  for (const path of checks) {
    const { body } = await tenant.ask('GET', `${path}?limit=1000`)
    const items = body.data.items as Record<string, string>[]
    const takenAt = (item: Record<string, string> | undefined) => item?.checked_at ?? item?.captured_at
    const last = items.filter(item => takenAt(item) === takenAt(items[0]))
    const numbers = last.map(({ total_rows: total, invalid_count: invalid, value, group_values: group }) =>
      JSON.stringify({ total, invalid, value, group }),
    )
    const error = last[0]?.error_message ?? null
    results.push({ numbers: error === null ? numbers.sort().join() : null, error })
  }
  return results
}

/** Counts statements by their purpose, recognised by what each must contain. */
function sort({ statements }: SourceStatements): Record<string, number> {
  const kinds: Record<string, RegExp> = {
    'the SELECT of a user': /m0[^]*827364/,
    'groups by one column': /m0[^]*from \S*orders group by status limit/,
    'groups by two columns': /m0[^]*from \S*orders group by status, city limit/,
    shared: /as m0[^]*from \S*orders/,
    'a question about those': /918273|827364|pg_catalog.pg_proc/,
  }
  const kindOf = (text: string) => Object.keys(kinds).find(kind => kinds[kind]?.test(text)) ?? text
  return Object.fromEntries(
    Object.entries(Object.groupBy(statements, ({ text }) => kindOf(text))).map(([kind, all = []]) => [
      kind,
      all.length,
    ]),
  )
}

for (const engine of engines) {
  t.test(`${engine.name}: what 66 checks of one table ask of it`, { skip: engine.absent }, async t => {
    const stand = await engine.start(t)
    const world = await makeWorld(t, stand)
    const { app, tenant } = world
    const checks: string[] = []
    for (const check of CHECKS) checks.push(await world.make('orders', check))
    t.equal(checks.length, 66)
    const log = await stand.log()
    const tableId = await world.tableId('orders')
    const scan = (table: string) => app.server.plugins.checks.runTable(tenant.companyId, table, 'active')
    let clean: Result[] = []

    await t.test('those that fall due together share one statement, and each has one result', async t => {
      t.same(await app.server.plugins.checks.dispatch(), { tables: 1 })
      t.equal(await app.server.jobs.settled(scanJob, ({ table_id }) => table_id === tableId), 'completed')
      const asked = await log.take()
      const { 'a question about those': questions = 0, ...kinds } = sort(asked)
      t.same(kinds, {
        shared: 1,
        'groups by one column': 1,
        'groups by two columns': 1,
        'the SELECT of a user': 1,
      })
      t.ok(questions <= 2 * 2, 'what a statement of users calls and whether it can run is asked once each')
      assertReading(t, asked)
      const [job] = await app.query(`select output from pgboss.job where name = 'scans.run'`)
      t.match(job?.output, { checks: 66, statements: asked.statements.length + PARSED })
      const counts = await app.query(
        `select count(*)::int as results, count(distinct scheduled_for)::int as slots
         from check_results r join checks c on c.id = r.check_id and c.kind = 'validity' group by check_id
         union all
         select count(*) filter (where series = '{}')::int
             + (count(*) filter (where series <> '{}') > 0)::int, count(distinct scheduled_for)::int
         from check_results r join checks c on c.id = r.check_id and c.kind = 'metric' group by check_id`,
      )
      t.equal(counts.length, 66)
      t.same(
        counts.filter(({ results, slots }) => results !== 1 || slots !== 1),
        [],
      )
      clean = await lastResults(world, checks)
      t.same(
        clean.flatMap(({ error }) => error ?? []),
        [],
      )
    })

    await t.test('a check whose column is gone errs alone, and is found in few statements', async t => {
      await world.query('alter table orders drop column spare')
      const gone = CHECKS.flatMap((check, index) =>
        (check as { column_name?: string }).column_name === 'spare' ? [index] : [],
      )
      // One of the two that look at the column stays.
      await tenant.ask('DELETE', checks[gone[1]!]!.replace(/\/snapshots$/, ''))
      const left = checks.filter((_, index) => index !== gone[1])
      const ran = await scan(tableId)
      const asked = await log.take()
      t.equal(ran.statements, asked.statements.length + PARSED)
      assertReading(t, asked)
      const { 'a question about those': questions = 0, ...kinds } = sort(asked)
      const shared = left.length - ALONE
      const others = Object.entries(kinds).flatMap(([kind, count]) =>
        /of a user|groups/.test(kind) ? count : [],
      )
      t.same(others, [1, 1, 1])
      const extra = asked.statements.length - questions - others.length - 1
      t.ok(extra <= 2 * Math.log2(shared) + 2, `${extra} statements more for one of ${shared}`)
      const broken = await lastResults(world, left)
      const guilty = left.indexOf(checks[gone[0]!]!)
      t.match(broken[guilty], { numbers: null, error: /spare/ })
      const before = clean.filter((_, index) => index !== gone[1])
      t.same(broken.toSpliced(guilty, 1), before.toSpliced(guilty, 1))
    })

    await t.test('a check that cannot be computed of one row errs alone', async t => {
      const own: string[] = []
      for (const check of LEDGER_CHECKS) own.push(await world.make('ledger', check))
      const ledgerId = await world.tableId('ledger')
      await world.query('update orders set weight = 5 where id = 3')
      await log.take()
      t.match(await scan(ledgerId), { checks: 16, statements: 1 })
      const [good, { statements }] = [await lastResults(world, own), await log.take()]
      t.equal(statements.length, 1)
      // The exponential of it is more than a double holds.
      await world.query('update orders set weight = 4000 where id = 3')
      const { statements: count } = await scan(ledgerId)
      const asked = await log.take()
      t.equal(asked.statements.length, count)
      t.ok(count - 1 <= 2 * Math.log2(16) + 2, `${count - 1} statements more for one of 16`)
      const found = await lastResults(world, own)
      t.equal(found.at(-1)?.numbers, null)
      t.match(found.at(-1)?.error, /out of (the )?range|overflow/)
      const isWeight = (index: number) =>
        (LEDGER_CHECKS[index] as { column_name?: string }).column_name === 'weight'
      const others = (results: Result[]) => results.slice(0, -1).filter((_, index) => !isWeight(index))
      t.same(others(found), others(good))
      t.ok(found.slice(0, -1).every(({ error }) => error === null))
    })
  })
}

/** Every session may only read, and sets nothing that would let it do more. */
function assertReading(t: Asserts, { statements, settings, sessions }: SourceStatements): void {
  const known = new Set(sessions.filter(({ isReadOnly }) => isReadOnly).map(({ id }) => id))
  t.ok(
    [...statements, ...settings].every(({ session, error }) => known.has(session) || error === NOT_PREPARED),
    JSON.stringify(sessions),
  )
  t.same(
    statements.filter(({ text, error }) => !/^(select|with)\b/.test(text) && error !== NOT_PREPARED),
    [],
  )
  const lifted = settings.filter(({ text }) =>
    /read_only = (0|off)|begin|start transaction|set role/i.test(text),
  )
  t.same(lifted, [])
}
