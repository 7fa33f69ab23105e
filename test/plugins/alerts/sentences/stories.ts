/** What goes wrong with the tables of a company, one kind of alert after the other, by what features do of themselves. */
import { randomUUID } from 'node:crypto'
import { discoverJob } from '../../../../plugins/catalog/discovery/jobs.ts'
import type { World } from '../../../helpers/world.ts'
import { ORDERS } from '../../contracts/enforcement/contracts.ts'
import { contractsOf } from '../../contracts/enforcement/world.ts'
import { manifest, node, notNull, runResults } from '../../lineage/feeds/dbt-project.ts'
import { metricOf, momentOf } from '../../metrics/world.ts'

export const TABLES = [
  `create table customers (id int primary key, country text, email text)`,
  `insert into customers select n, case when n % 4 = 0 then 'FR' else 'DE' end, 'c' || n || '@example.com' from generate_series(1, 500) n`,
  `create table sales (id int, region text, amount int)`,
  `insert into sales select n, case when n % 2 = 0 then 'north' else 'south' end, 20 + n % 5 from generate_series(1, 200) n`,
  `create table orders (id bigint primary key, customer_id int, amount numeric(10,2) not null, status text, code text unique, placed_at timestamptz)`,
  `insert into orders select n, n, n, 'open', 'c' || n, now() - interval '73 hours' from generate_series(1, 400) n`,
  `create table order_copies as select id, amount from orders`,
  `create table payments (order_id int, paid numeric, due numeric)`,
  `insert into payments select n, 10, 10 from generate_series(1, 100) n`,
  `create table inventory (sku text, updated_at timestamptz)`,
  `insert into inventory values ('a', now() - interval '3 days 2 hours')`,
  `create table prices (sku text, updated_at timestamptz)`,
  `insert into prices values ('a', now() - interval '20 hours 10 minutes')`,
  `create table events (id int, day int) partition by list (day)`,
  ...[1, 2, 3].map(day => `create table events_${day} partition of events for values in (${day})`),
  `insert into events select n, 1 + n % 3 from generate_series(1, 300) n`,
  `create schema archive`,
  `create table archive.prices (sku text)`,
  `insert into archive.prices values (null)`,
]

/** Makes a check of the world's source by the API. */
async function make({ tenant, asset, app }: World, path: string, body: object) {
  await app.query('delete from rate_windows')
  const made = await tenant.ask('POST', `/api/v1/sdk/${path}/${asset.id}`, body)
  if (made.status !== 201) throw new Error(`${path}: ${JSON.stringify(made.body)}`)
  return made.body.data as { id: string; uuid: string }
}

/** Runs the active checks of a table. */
export async function run({ app, tenant, asset }: World, table: string, at?: Date): Promise<void> {
  const [row] = await app.query(
    `select id from tables where source_id = $1 and name = $2 order by schema_name desc`,
    [asset.id, table],
  )
  await app.server.plugins.checks.runTable(tenant.companyId, String(row?.id), 'active', { ...(at && { at }) })
}

const PAST_DAYS = 20

/** Gives a table's metrics values of the days before, near those of day 0, and runs them on the day after. */
async function afterDays(world: World, table: string, change: () => Promise<unknown>): Promise<void> {
  await run(world, table, momentOf(0))
  const ids = `select c.id from checks c join tables t on t.id = c.table_id
    where c.source_id = $1 and t.name = $2 and c.kind = 'metric'`
  await world.app.query(
    `insert into check_results (company_id, check_id, series, value, total_rows, status, at)
     select company_id, check_id, series, value * (1 + (n % 5 - 2) / 200.0), total_rows, status, at + make_interval(days => n)
     from check_results, generate_series(1, $3) n where check_id in (${ids}) and at = $4`,
    [world.asset.id, table, PAST_DAYS, momentOf(0)],
  )
  await world.app.query(
    `update check_states set run = run + $3, last_seen_at = $4, state = '{"version": 0}' where check_id in (${ids})`,
    [world.asset.id, table, PAST_DAYS, momentOf(PAST_DAYS)],
  )
  await change()
  await run(world, table, momentOf(PAST_DAYS + 1))
}

/** The stories, by what a reader of the golden file sees of them. */
export const STORIES: readonly [title: string, happen: (world: World) => Promise<unknown>][] = [
  [
    'A metric leaves its learned band',
    async world => {
      await metricOf(world, 'customers', { metric_type: 'row_count', sensitivity: 3 })
      await afterDays(world, 'customers', () =>
        world.source.query(
          `insert into customers (id, country) select n, 'DE' from generate_series(501, 587) n`,
        ),
      )
    },
  ],
  [
    'A metric of groups, with a filter',
    async world => {
      await metricOf(world, 'sales', {
        ...{ metric_type: 'row_count', sensitivity: 3, group_by_columns: ['region'] },
        filter: 'amount > 0',
      })
      await metricOf(world, 'sales', { metric_type: 'mean', column_name: 'amount', sensitivity: 3 })
      await afterDays(world, 'sales', () =>
        world.source.query(
          `delete from sales where region = 'north' and id > 30; update sales set amount = amount * 2`,
        ),
      )
    },
  ],
  [
    'A group vanishes, another comes',
    async world => {
      await world.source.query(`delete from sales where region = 'north'`)
      await run(world, 'sales', momentOf(PAST_DAYS + 2))
      await world.source.query(`insert into sales values (900, 'west', 20)`)
      await run(world, 'sales', momentOf(PAST_DAYS + 3))
    },
  ],
  [
    'Thresholds of metrics',
    async world => {
      const due = { metric_type: 'custom_sql', sql_expression: 'sum(paid) / sum(due)', min: 0.9 }
      await make(world, 'metrics', { table_path: 'payments', ...due })
      await make(world, 'metrics', {
        table_path: 'payments',
        metric_type: 'row_count',
        max_change_percent: 20,
      })
      await make(world, 'metrics', {
        ...{ table_path: 'payments', metric_type: 'null_percent', column_name: 'paid', max: 5 },
        ...{ name: 'Payments are known', severity: 'critical' },
      })
      await run(world, 'payments', momentOf(0))
      await world.source.query(
        'update payments set paid = null where order_id <= 40; delete from payments where order_id > 60; update payments set due = 20',
      )
      await run(world, 'payments', momentOf(1))
    },
  ],
  [
    'Rules',
    async world => {
      await world.source.query(`update orders set status = 'lost' where id <= 5`)
      await world.source.query(`update orders set code = null where id = 7`)
      const rule = (name: string, more: object) =>
        make(world, 'validity', { name, table_path: 'public.orders', severity: 'critical', ...more })
      await rule('Status is known', {
        ...{ rule_type: 'ENUM', column_name: 'status', rule_config: { allowed_values: ['open', 'paid'] } },
      })
      await rule('Code is given', {
        ...{ rule_type: 'NOT_NULL', column_name: 'code', rule_config: {}, severity: 'warning' },
      })
      await rule('Amounts are small', {
        ...{
          rule_type: 'RANGE',
          column_name: 'amount',
          rule_config: { max: 300 },
          alert_threshold_percent: 10,
        },
      })
      await rule('Codes look right', {
        ...{ rule_type: 'REGEX', column_name: 'code', rule_config: { pattern: '^c[0-9]{1,2}$' } },
        filter: "status = 'open'",
      })
      await rule('Status repeats', { rule_type: 'UNIQUE', column_name: 'status', rule_config: {} })
      await rule('Amount is above the id', {
        rule_type: 'CUSTOM_SQL',
        rule_config: { sql_expression: 'amount > id' },
      })
      await rule('Half of all is paid', {
        rule_type: 'CUSTOM_SQL',
        rule_config: {
          sql_expression: `select n from (select count(*) as n from orders where status = 'paid') q where n < 200`,
          ...{ value_column: 'n', value_unit: 'rows', expected: 'at least 200 rows' },
        },
      })
      await rule('Amounts in cents', {
        ...{ rule_type: 'RANGE', column_name: 'amount', rule_config: { max: 10 } },
        error_message: 'An amount is in cents: ask the shop team.',
      })
      await run(world, 'orders')
    },
  ],
  [
    'A table whose name another schema has, too',
    async world => {
      const rule = { name: 'Skus', rule_type: 'NOT_NULL', column_name: 'sku', rule_config: {} }
      await make(world, 'validity', { ...rule, table_path: 'archive.prices' })
      const [row] = await world.app.query(
        `select id from tables where source_id = $1 and schema_name = 'archive'`,
        [world.asset.id],
      )
      await world.app.server.plugins.checks.runTable(world.tenant.companyId, String(row?.id), 'active', {})
    },
  ],
  [
    'A reference without a match, and a copy that differs',
    async world => {
      await world.source.query('update orders set customer_id = 9000 + id where id <= 12')
      await make(world, 'referential', {
        ...{ child_table_path: 'public.orders', child_column_name: 'customer_id' },
        ...{ parent_table_path: 'public.customers', parent_column_name: 'id' },
      })
      await run(world, 'orders')
      await world.source.query(
        'delete from order_copies where id <= 8; update order_copies set amount = 0 where id = 9',
      )
      await make(world, 'comparisons', {
        ...{ table_path: 'public.orders', right_source: 'shop', right_table_path: 'public.order_copies' },
        ...{ key_columns: ['id'], columns: ['amount'], max_differing_rows: 2 },
      })
      await run(world, 'orders')
    },
  ],
  [
    'Stale tables',
    async world => {
      for (const table of ['inventory', 'public.prices']) {
        const watched = await world.tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
          ...{
            asset_id: world.asset.id,
            table_path: table,
            monitoring_mode: 'explicit',
            sla_threshold: '24h',
          },
        })
        if (watched.status !== 201) throw new Error(JSON.stringify(watched.body))
      }
      const { tenant, asset, app } = world
      await app.server.plugins.freshness.checkSource({ companyId: tenant.companyId, sourceId: asset.id })
    },
  ],
  [
    'A contract, a schema change and a discovery',
    async world => {
      const { put, rediscover } = contractsOf(world)
      await put('orders', { schema: [ORDERS] })
      await rediscover(
        'alter table orders drop column code',
        'alter table orders alter column amount type text',
        'alter table orders add column note text',
        'alter table sales rename column amount to total',
        'drop table payments',
      )
    },
  ],
  [
    'Tests of dbt',
    async world => {
      const database = String((world.source.config as { database: unknown }).database)
      const orders = node('model', 'orders', { database })
      const tests = [
        notNull('orders', 'amount'),
        notNull('orders', 'status'),
        notNull('orders', 'note'),
      ] as const
      const statuses = {
        [tests[0][0]]: 'fail',
        [tests[1][0]]: { status: 'warn', failures: 1, message: 'Got 1 result, configured to warn if != 0' },
        [tests[2][0]]: { status: 'error', failures: null, message: 'column "note" does not exist' },
      }
      const at = new Date(Date.now() - 60_000).toISOString()
      const sent = await world.tenant.ask('POST', '/api/v1/sdk/lineage/dbt', {
        source: 'shop',
        manifest: manifest([orders, ...tests]),
        run_results: runResults(at, statuses, randomUUID()),
      })
      if (sent.status !== 200) throw new Error(JSON.stringify(sent.body))
    },
  ],
  [
    'Numbers that were kept of partitions',
    async world => {
      const { app, tenant, asset, source } = world
      await source.query('select pg_stat_force_next_flush()')
      await make(world, 'metrics', { table_path: 'public.events', metric_type: 'row_count' })
      const [table] = await app.query(`select id from tables where source_id = $1 and name = 'events'`, [
        asset.id,
      ])
      const tableId = String(table?.id)
      const patched = await tenant.ask('PATCH', `/api/v1/sdk/assets/${tableId}/parts`, {
        reads: 'changed',
        rescan_days: 1,
      })
      if (patched.status !== 200) throw new Error(JSON.stringify(patched.body))
      const scan = () =>
        app.server.plugins.checks.checkAsset(
          { companyId: tenant.companyId, sourceId: asset.id, tableId },
          { signal: AbortSignal.timeout(30_000) },
        )
      await scan()
      await app.query(
        `update table_parts set states = (select jsonb_object_agg(key, jsonb_build_array(77, 0)) from jsonb_each(states))
         where table_id = $1`,
        [tableId],
      )
      await scan()
      await app.query(
        `update table_parts set differed_at = differed_at - interval '3 minutes' where table_id = $1`,
        [tableId],
      )
      await scan()
    },
  ],
  [
    'A source that cannot be reached',
    async world => {
      const { tenant, app, source } = world
      const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
        ...{ name: 'warehouse', source_type: 'postgresql' },
        connection_config: { ...(source.config as object), database: 'gone' },
      })
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
      const { id } = made.body.data as { id: string }
      const { body } = await tenant.ask('POST', `/api/v1/sdk/assets/${id}/discover`)
      await app.server.jobs.settled(discoverJob, data => data.run_id === body.data.job_id)
    },
  ],
  [
    'A rule by a learned rate',
    async world => {
      const { uuid: publicId } = await make(world, 'validity', {
        ...{
          name: 'Emails',
          table_path: 'customers',
          rule_type: 'NOT_NULL',
          column_name: 'email',
          rule_config: {},
        },
        ...{ detection_mode: 'auto', sensitivity: 3 },
      })
      const uuid = publicId.replace('v_', '')
      const at = (day: number) => momentOf(40 + day)
      await world.source.query('update customers set email = id where email is null and id > 1')
      await run(world, 'customers', at(0))
      await world.app.query(
        `insert into check_results (company_id, check_id, series, value, total_rows, status, at)
         select company_id, check_id, series, 0.2 + n % 3 / 10.0, 587, 'pass', at + make_interval(days => n)
         from check_results r, generate_series(1, 30) n
         where check_id = (select id from checks where uuid = $1) and at = $2`,
        [uuid, at(0)],
      )
      await world.app.query(
        `update check_states set state = '{"version": 0}' where check_id = (select id from checks where uuid = $1)`,
        [uuid],
      )
      await world.source.query('update customers set email = null where id <= 60')
      await run(world, 'customers', at(31))
    },
  ],
  [
    'A destination that no message reaches',
    async ({ app }) => {
      await app.query(
        `update destinations set failing_since = now() - interval '6 days' where name = 'webhook'`,
      )
      await app.query(
        `update deliveries set status = 'failed', completed_at = now()
         where destination_id = (select id from destinations where name = 'webhook')`,
      )
      await app.server.plugins.alerts.sweep.disabled(app.server.pino)
    },
  ],
]
