import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Reading } from '../../../server/database/database.ts'
import { positioned } from '../../../server/database/pipeline.ts'
import { startServer } from '../../helpers/server.ts'
import { ALERTS, makeWorld } from './world.ts'

const app = await startServer({ teardown: down => t.teardown(down) }, { settings: { ROLE: 'web' } })
const world = await makeWorld(app)
const theirs = await makeWorld(app)
const destination = await world.addDestination({ url: 'https://127.0.0.1:9/hook' })
const another = await world.addDestination({ url: 'https://127.0.0.1:9/hook' })
const table = randomUUID()

/** Alerts of a year, nearly all of them over, every hundredth about one table. */
const FILL = `
  insert into alerts (id, company_id, source_id, asset_id, kind, cause, severity, status, rule_name, title, event, created_at, resolved_at)
  select gen_random_uuid(), $1, $2, case when g % 100 = 0 then cast($3 as uuid) else gen_random_uuid() end,
         case when g % 50 = 0 then 'freshness_violation' else 'validity_failure' end, 'cause ' || g, 'warning',
         case when g % 500 = 0 then 'triggered' else 'resolved' end, 'Total is positive', g || ' values are invalid',
         jsonb_build_object('type', 'validity_failure', 'details', jsonb_build_object('text', repeat(md5(g::text), 10)),
           'asset', jsonb_build_object('id', $3::text, 'qualified_name', 'a.b.c.d', 'asset_type', 'table', 'tags', '[]'::jsonb)),
         now() - make_interval(mins => g * 5),
         case when g % 500 = 0 then null else now() - make_interval(mins => g * 5 - 4) end
    from generate_series(1, $4::int) g`
await app.query(FILL, [world.companyId, world.sourceId, table, 100_000])
await app.query(FILL, [theirs.companyId, theirs.sourceId, randomUUID(), 20_000])
await app.query(
  `insert into alert_history (company_id, alert_id, to_status, actor, at)
   select company_id, id, 'acknowledged', 'system', created_at from alerts where right(title, 20) like '%0 values%'`,
)
await app.query(
  `insert into deliveries (id, company_id, alert_id, message_id, destination_id, event_type, body, status, created_at)
   select gen_random_uuid(), company_id, alert_id, alert_id, case when right(alert_id::text, 1) < '3' then $2::uuid else $3 end,
          'alert.triggered', 'x', 'delivered', at
     from alert_history where company_id = $1`,
  [world.companyId, destination.id, another.id],
)
await vacuum('alerts, alert_history, deliveries')

interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Node[]
}

interface Statement {
  sql: string
  bindings: unknown[]
}

/** Rows that are not yet on the disk would keep their pages from being marked, so that index-only scans read them. */
async function vacuum(tables: string): Promise<void> {
  await app.query('checkpoint')
  await app.query(`vacuum analyze ${tables}`)
}

const pagesOf = (node: Node) => node['Shared Hit Blocks'] + node['Shared Read Blocks']
const flat = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(flat)]

/** What a request asks of some tables. */
async function statementsOf(
  path: string,
  { body, tables }: { body?: object | undefined; tables: RegExp },
): Promise<Statement[]> {
  const statements: Statement[] = []
  const { db } = app.server
  const { company, read } = db
  const note = (readings: readonly Reading<object>[]) => {
    for (const { text, bindings } of readings) {
      const { text: sql, values } = positioned(text, bindings)
      statements.push({ sql, bindings: values })
    }
  }
  db.read = (id, readings) => {
    note(readings)
    return read(id, readings)
  }
  db.company = (id, work) =>
    company(id, trx => {
      trx.on('query', (asked: Statement) => statements.push(asked))
      return work(trx)
    })
  const reply = await world.ask(body ? 'POST' : 'GET', path, body)
  Object.assign(db, { company, read })
  t.equal(reply.status, 200, path)
  return statements.filter(({ sql }) => tables.test(sql))
}

/** Runs statements as the application does: held by row-level security, with the settings of its sessions. */
async function plansOf(statements: Statement[]): Promise<Node[]> {
  const [here] = await app.query('select current_database() as name')
  await app.query('begin')
  await app.query(`set local role "${String(here?.name)}_app"`)
  await app.query(
    `select set_config('app.company', $1, true), set_config('random_page_cost', '1.1', true),
       set_config('max_parallel_workers_per_gather', '0', true)`,
    [world.companyId],
  )
  const plans: Node[] = []
  for (const { sql, bindings } of statements) {
    const [row] = await app.query(`explain (analyze, buffers, format json) ${sql}`, bindings)
    const [{ Plan }] = row?.['QUERY PLAN'] as [{ Plan: Node }]
    plans.push(Plan)
  }
  await app.query('rollback')
  return plans
}

t.test('with 100,000 alerts, what is asked all day reads indexes, and few pages of them', async t => {
  const yesterday = new Date(Date.now() - 86_400_000).toISOString()
  // Pages of 8 KiB; the alerts fill some 10,000.
  const asked: [path: string, statements: number, pages: number, body?: object][] = [
    ['', 2, 1_500],
    ['?offset=500', 2, 1_500],
    ['/inbox', 2, 1_000],
    ['?status=snoozed,triggered', 2, 1_000],
    ['?event_type=freshness_violation&status=triggered', 2, 1_000],
    [`?asset_id=${table}`, 2, 4_000],
    ['?delivery_failed=true', 2, 20],
    [`?since=${yesterday}&search=values`, 2, 200],
    [`/trends?asset_id=${table}`, 4, 6_000],
    ['/trends?days=1', 4, 4_000],
    ['/preview', 2, 3_000, { days_back: 7 }],
    ['/preview', 2, 1_500, { days_back: 90, event_types: ['freshness_violation'] }],
    ['/destinations', 2, 600],
    [`/destinations/${destination.id}/deliveries`, 2, 1_000],
  ]
  for (const [path, count, most, body] of asked) {
    const what = `${path} ${JSON.stringify(body ?? '')}`
    const tables = /\b(alerts|deliveries|alert_history)\b/
    const statements = await statementsOf(ALERTS + path, { body, tables })
    t.ok(statements.length <= count, `${what} asks ${statements.length} statements`)
    const plans = await plansOf(statements)
    // Nearly empty months need nearly no reads.
    const whole = plans.flatMap(flat).filter(node => node['Node Type'] === 'Seq Scan' && pagesOf(node) > 5)
    t.strictSame(
      whole.map(node => node['Relation Name']).filter(name => name !== 'destinations'),
      [],
      `${what} reads no table from end to end`,
    )
    const pages = plans.reduce((sum, plan) => sum + pagesOf(plan), 0)
    t.ok(pages <= most, `${what} reads ${pages} pages`)
  }
})

t.test(
  'of the checks of a source, those of the page are joined with their tables, and none before it',
  async t => {
    await app.query(
      `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns, constraints, fingerprint)
     select gen_random_uuid(), $1, $2, 'shop', 'public', 't' || g, 'shop.shop.public.t' || g, 'table', '[]', '[]', ''
       from generate_series(1, 2000) g`,
      [world.companyId, world.sourceId],
    )
    await app.query(
      `insert into checks (uuid, company_id, source_id, table_id, name, type, severity, check_interval,
       kind, sensitivity, settings, created_at)
     select gen_random_uuid(), company_id, source_id, id, 'Ids', 'NOT_NULL', 'info', 'daily', 'validity', 3, '{"detectionMode": "manual", "operatingPeriodMode": "off", "treatNullAsValid": false}', now() - make_interval(mins => n)
       from tables, generate_series(1, 3) n where source_id = $1`,
      [world.sourceId],
    )
    await app.query(
      `insert into checks (company_id, kind, uuid, source_id, table_id, type, config, check_interval, sensitivity, created_at)
     select company_id, 'metric', gen_random_uuid(), source_id, id, 'row_count', '{}', 'daily', 3, now() - make_interval(mins => n)
       from tables, generate_series(1, 3) n where source_id = $1`,
      [world.sourceId],
    )
    await app.query(
      `insert into checks (company_id, kind, type, uuid, source_id, table_id, column_name, other_table_id,
       settings, name, severity, check_interval, created_at)
     select company_id, 'referential', 'referential', gen_random_uuid(), source_id, id, 'a', id,
       '{"parentColumnName": "b"}', 'Parents', 'info', 'daily', now() - make_interval(mins => n)
       from tables, generate_series(1, 3) n where source_id = $1`,
      [world.sourceId],
    )
    await vacuum('tables, checks')
    for (const [feature, of] of [
      ['validity', 'checks'],
      ['metrics', 'checks'],
      ['referential', 'checks'],
    ]) {
      const path = `/api/v1/sdk/${feature}/${world.sourceId}?limit=10&offset=5900`
      const plans = await plansOf(await statementsOf(path, { tables: new RegExp(`from "?${of}`) }))
      t.equal(plans.length, 2, 'the page, and how many there are')
      const nodes = plans.flatMap(flat)
      const read = nodes.filter(node => node['Relation Name'] === 'tables')
      t.ok(read.length > 0)
      for (const node of read)
        t.ok(node['Actual Rows'] * node['Actual Loops'] <= 10, `${of} ${node['Node Type']}`)
    }
  },
)

t.test('what goes with a source, an alert or a delivery is found by an index', async t => {
  const bare = await app.query(
    `select c.conrelid::regclass::text as of, c.confrelid::regclass::text as with
       from pg_constraint c
      where c.contype = 'f' and c.confrelid in ('alerts'::regclass, 'deliveries'::regclass)
         or c.conrelid = 'alerts'::regclass and c.confrelid = 'sources'::regclass
     except
     select c.conrelid::regclass::text, c.confrelid::regclass::text
       from pg_constraint c join pg_index i on i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1]`,
  )
  t.strictSame(bare, [])
})
