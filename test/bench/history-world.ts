/** A past of 24 months for `history.ts`: what a company's checks, alerts and deliveries have left behind. */
import pg from 'pg'
import { testCluster } from '../helpers/cluster.ts'
import type { Tenant, TestServer } from '../helpers/server.ts'

export const MONTHS = 24
const SOURCES = 3

/** How many rows of each kind there are, of which snapshots are the most. */
export interface Sizes {
  snapshots: number
  rules: number
  /** Metrics with snapshots; as many rules have results, and tables a history of freshness. */
  metrics: number
  /** Results of rules, and of freshness. */
  results: number
  /** Alerts, schema changes and deliveries. */
  alerts: number
}

export function sizesOf(snapshots: number): Sizes {
  return {
    snapshots,
    rules: snapshots / 100,
    metrics: Math.max(20, Math.min(1_000, snapshots / 10_000)),
    results: snapshots / 5,
    alerts: snapshots / 100,
  }
}

/** A table that is cut by months: its time, whether that is a UUID v7, and what no month has twice. */
const PARTITIONED_TABLES = [
  { table: 'check_results', slot: 'check_id, series, scheduled_for' },
  { table: 'schema_changes' },
  { table: 'deliveries', isUuid: true },
]

/** A UUID v7 of a time, in SQL; the least one, or one by chance. */
const uuidOf = (at: string, rest = `'70008000000000000000'`) =>
  `cast(lpad(to_hex(cast(extract(epoch from ${at}) * 1000 as bigint)), 12, '0') || ${rest} as uuid)`
const CHANCE = `'7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15)`

/** Fills a company's past. Months that went by have partitions of their own, as they have after two years. */
export async function fillHistory(app: TestServer, tenant: Tenant, sizes: Sizes): Promise<void> {
  const [database] = await app.query('select current_database() as name')
  const client = new pg.Client({ ...(await testCluster()), database: String(database?.name) })
  await client.connect()
  try {
    // What rows refer to is there: asking for each would take longer than all else.
    await client.query(`set session_replication_role = replica; set timezone = 'UTC'`)
    for (const cut of PARTITIONED_TABLES) await makeMonths(client, cut)
    await fillChecks(client, tenant, sizes)
    for (let month = 0; month < MONTHS; month += 1) await fillMonth(client, tenant, sizes, month)
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
}

/** Cuts the first partition, in which nothing is yet, into what lies more than two years back and the months since. */
async function makeMonths(
  client: pg.Client,
  { table, slot, isUuid }: (typeof PARTITIONED_TABLES)[number],
): Promise<void> {
  const month = (n: string) => `date_trunc('month', now()) + make_interval(months => ${n})`
  const bound = (n: string) => (isUuid ? uuidOf(month(n)) : `(${month(n)})`)
  await client.query(`do $$ declare made text; begin
    alter table ${table} detach partition partitions.${table}_past;
    drop table partitions.${table}_past cascade;
    execute format('create table partitions.${table}_past partition of ${table} for values from (minvalue) to (%L)',
      ${bound(`-${MONTHS}`)});
    for n in -${MONTHS}..0 loop
      made := 'partitions.${table}_' || to_char(${month('n')}, 'YYYY_MM');
      execute format('create table %s partition of ${table} for values from (%L) to (%L)', made, ${bound('n')}, ${bound('n + 1')});
      ${slot ? `execute format('create unique index on %s (${slot})', made);` : ''}
    end loop;
  end $$`)
}

async function fillChecks(client: pg.Client, { companyId }: Tenant, sizes: Sizes): Promise<void> {
  const { rules, metrics } = sizes
  const tables = Math.max(metrics, rules / 10)
  await client.query(
    `insert into sources (id, company_id, name, source_type, config, connection_status, discovery_state, table_count)
     select gen_random_uuid(), $1, 'warehouse_' || n, 'postgresql', '{"host": "db", "port": 5432, "database": "shop"}',
       'connected', 'completed', $2::int / ${SOURCES} from generate_series(1, ${SOURCES}) n`,
    [companyId, tables],
  )
  await client.query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint, column_count)
     select gen_random_uuid(), $1, s.id, 'shop', 'public', 'table_' || n, s.name || '.shop.public.table_' || n, 'table',
       '[{"name": "column_1", "ordinal": 1, "type": "integer", "rawType": "integer", "kind": "number", "nullable": true, "default": null, "comment": null}]',
       '[]', md5(n::text), 1
     from generate_series(1, $2::int) n
     join (select id, name, row_number() over (order by name) as number from sources where company_id = $1) s
       on s.number = 1 + n % ${SOURCES}`,
    [companyId, tables],
  )
  const numbered = `(select *, row_number() over (order by source_id, id) as number from tables where company_id = $1) t`
  await client.query(
    `insert into checks (uuid, company_id, source_id, table_id, column_name, type, name, severity,
       check_interval, kind, sensitivity, settings, status, created_at)
     select gen_random_uuid(), $1, source_id, t.id, 'column_1', 'NOT_NULL', 'Rule ' || n, 'warning', 'hourly', 'validity', 3, '{"detectionMode": "manual", "operatingPeriodMode": "off", "treatNullAsValid": false}', (array['pass', 'pass', 'pass', 'fail'])[1 + n % 4], now() - make_interval(secs => n)
     from generate_series(1, $2::int) n join ${numbered} on t.number = 1 + n % $3::int`,
    [companyId, rules, tables],
  )
  await client.query(
    `insert into checks (uuid, kind, company_id, source_id, table_id, type, config, check_interval, sensitivity,
       status)
     select gen_random_uuid(), 'metric', $1, source_id, t.id, 'row_count', '{}', 'hourly', 3, 'pass' from ${numbered}
     where t.number <= $2::int`,
    [companyId, metrics],
  )
  await client.query(
    `insert into checks (uuid, kind, type, company_id, source_id, table_id, settings, check_interval, status, last_checked_at)
     select gen_random_uuid(), 'freshness', 'freshness', $1, source_id, t.id,
       '{"timestampColumn": "column_1", "monitoringMode": "explicit", "slaThreshold": "24h"}', '1h', 'pass', now()
     from ${numbered}
     where t.number <= $2::int`,
    [companyId, metrics],
  )
  await client.query(
    `insert into destinations (id, company_id, name, destination_type, config, signing_secrets)
     select gen_random_uuid(), $1, 'hook', 'webhook', '{"url": "https://example.com/hook"}', ''`,
    [companyId],
  )
}

/** One of the months, spread evenly over its days; the last one ends now. */
async function fillMonth(
  client: pg.Client,
  { companyId }: Tenant,
  sizes: Sizes,
  month: number,
): Promise<void> {
  const share = (rows: number, owners = 1) => Math.max(1, Math.round(rows / MONTHS / owners))
  const each = (rows: number) => share(rows, sizes.metrics)
  const from = `now() - interval '730 days' * ${(MONTHS - month) / MONTHS}`
  const at = (count: string) => `${from} + interval '730 days' * (n::float8 / ${count} / ${MONTHS})`
  const chosen = (table: string, id: string, and = '') =>
    `(select ${id} as owner from ${table} where company_id = $1 ${and} order by ${id} limit $3::int) o`
  const ofEach = [companyId, each(sizes.results), sizes.metrics]
  await client.query(
    `insert into check_results (company_id, check_id, value, total_rows, status, scheduled_for, at)
     select $1, owner, n, n, 'pass', ${at('$2')}, ${at('$2')}
     from generate_series(1, $2::int) n, ${chosen('checks', 'id', "and kind = 'metric'")}`,
    [companyId, each(sizes.snapshots), sizes.metrics],
  )
  await client.query(
    `insert into check_results (company_id, check_id, status, total_rows, details, value,
       duration_ms, scheduled_for, at)
     select $1, owner, 'pass', n, '{"invalidCount": 0}', 0, 12, ${at('$2')}, ${at('$2')}
     from generate_series(1, $2::int) n, ${chosen('checks', 'id', "and kind = 'validity'")}`,
    ofEach,
  )
  await client.query(
    `insert into check_results (company_id, check_id, status, value, details, at)
     select $1, owner, 'pass', 60, jsonb_build_object('lastUpdated', ${at('$2')})
       || case when n % 10 = 0 then '{"isUpdate": true}'::jsonb else '{}' end, ${at('$2')}
     from generate_series(1, $2::int) n, ${chosen('checks', 'id', "and kind = 'freshness'")}`,
    ofEach,
  )
  const alerts = [companyId, share(sizes.alerts)]
  const some = `(select id, source_id, qualified_name from tables where company_id = $1 order by source_id, id limit 1) t`
  await client.query(
    `insert into schema_changes (id, company_id, source_id, table_id, table_path, change_type, object_name, object_type,
       new_value, impact, is_acknowledged, discovery_id, detected_at)
     select gen_random_uuid(), $1, t.source_id, t.id, 'public.table_1', 'column_added', 'column_2', 'column',
       '{"name": "column_2", "data_type": "text", "nullable": true}', 'low', n % 10 > 0, gen_random_uuid(), ${at('$2')}
     from generate_series(1, $2::int) n, ${some}`,
    alerts,
  )
  await client.query(
    `with raised as (
       insert into alerts (id, company_id, source_id, asset_id, kind, cause, severity, status, rule_name, title, event,
         created_at, last_seen_at, resolved_at)
       select ${uuidOf(at('$2'), CHANCE)}, $1, t.source_id, t.id, 'validity_failure', gen_random_uuid(), 'warning', 'resolved',
         'Rule', 'Orders without customers',
         jsonb_build_object('type', 'validity_failure', 'details', '{}'::jsonb, 'asset', jsonb_build_object('id', t.id,
           'qualified_name', t.qualified_name, 'asset_type', 'table')),
         ${at('$2')}, ${at('$2')}, ${at('$2')} + interval '1 hour'
       from generate_series(1, $2::int) n, ${some} returning id, created_at)
     insert into deliveries (id, company_id, alert_id, message_id, destination_id, event_type, body, status, attempt,
       created_at, completed_at)
     select ${uuidOf('raised.created_at', CHANCE)}, $1, raised.id, gen_random_uuid(), d.id, 'alert.triggered',
       repeat('x', 700), 'delivered', 1, raised.created_at, raised.created_at
     from raised, destinations d where d.company_id = $1`,
    alerts,
  )
}
