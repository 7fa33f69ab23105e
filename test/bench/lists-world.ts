/** A catalog of 100,000 tables for `lists.ts`, written straight into the product's database in a few statements. */
import { Source } from '../../plugins/catalog/models.ts'
import { countTags } from '../../plugins/catalog/tags/count-tags.ts'
import type { Tenant, TestServer } from '../helpers/server.ts'

/** How many tables a company has, in how many sources. */
export interface Size {
  tables: number
  sources: number
}

/** Columns of each table. */
export const COLUMNS = 12

/** Fills a company's catalog: tables of several schemas and kinds, some tagged, scheduled and checked. */
export async function fillCatalog(app: TestServer, tenant: Tenant, { tables, sources }: Size): Promise<void> {
  const { companyId } = tenant
  await app.query(
    `insert into sources (id, company_id, name, source_type, config, connection_status, discovery_state,
       last_discovery_at, table_count, column_count, schema_count, catalog_count)
     select gen_random_uuid(), $1, 'warehouse_' || n, 'postgresql', '{"host": "db", "port": 5432, "database": "shop"}',
       'connected', 'completed', now(), $2::int / $3::int, $2::int / $3::int * ${COLUMNS}, 20, 1
     from generate_series(1, $3::int) n`,
    [companyId, tables, sources],
  )
  await app.query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint, column_count, tags, column_tags, estimated_rows, created_at)
     select gen_random_uuid(), $1, s.id, 'shop', schema_name, made.name, s.name || '.shop.' || schema_name || '.' || made.name,
       kind, columns, '[{"name": "pk", "type": "primary_key", "columns": ["column_1"]}]', md5(made.name), ${COLUMNS},
       case when n % 10 = 0 then '{finance}'::text[] else '{}' end,
       case when n % 10 = 1 then '{"column_2": ["pii"]}'::jsonb else '{}' end,
       n * 1000, now() - make_interval(days => (n / (1 + $2::int / 20))::int)
     from (
       select n, 1 + n % $3::int as source_number, 'schema_' || n % 20 as schema_name,
         case when n % 50000 = 77 then 'zebra_crossings_' || n
           else (array['fact', 'dim', 'stage', 'raw', 'snapshot'])[1 + n % 5] || '_' ||
             (array['orders', 'customers', 'payments', 'shipments', 'web_events', 'invoices', 'returns'])[1 + n % 7] ||
             '_' || n end as name,
         (array['table', 'table', 'table', 'view', 'materialized_view'])[1 + n % 5] as kind
       from generate_series(1, $2::int) n) made
     join (select id, name, row_number() over (order by name) as number from sources
           where company_id = $1 and name like 'warehouse%') s on s.number = made.source_number
     cross join (
       select jsonb_agg(jsonb_build_object('name', 'column_' || c, 'ordinal', c, 'type', 'varchar(50)',
         'rawType', 'character varying(50)', 'kind', 'text', 'nullable', true, 'default', null, 'comment',
         'What it holds: ' || md5(c::text))) as columns
       from generate_series(1, ${COLUMNS}) c) wide`,
    [companyId, tables, sources],
  )
  await fillTags(app, companyId)
  await app.server.db.company(companyId, async trx => {
    await countTags(
      trx,
      (await Source.query(trx).select('id')).map(({ id }) => id),
    )
  })
  await fillChecks(app, companyId)
}

async function fillTags(app: TestServer, companyId: string): Promise<void> {
  await app.query(
    `insert into tags (id, company_id, source_id, table_id, name, origin)
     select gen_random_uuid(), $1, source_id, id, 'finance', 'manual' from tables
     where company_id = $1 and tags <> '{}'`,
    [companyId],
  )
  await app.query(
    `insert into tags (id, company_id, source_id, table_id, column_name, name, origin)
     select gen_random_uuid(), $1, source_id, id, 'column_2', 'pii', 'automatic' from tables
     where company_id = $1 and column_tags <> '{}'`,
    [companyId],
  )
}

/** A schedule, a rule and a metric on each twentieth table. */
async function fillChecks(app: TestServer, companyId: string): Promise<void> {
  const chosen = `from tables where company_id = $1 and estimated_rows % 20000 = 0`
  await app.query(
    `insert into checks (uuid, kind, type, company_id, source_id, table_id, settings, check_interval, status, last_checked_at)
     select gen_random_uuid(), 'freshness', 'freshness', company_id, source_id, id,
       '{"monitoringMode": "explicit", "slaThreshold": "24h"}', '1d', 'pass', now() ${chosen}`,
    [companyId],
  )
  await app.query(
    `insert into checks (uuid, company_id, source_id, table_id, column_name, type, name, severity,
       check_interval, kind, sensitivity, settings, status)
     select gen_random_uuid(), company_id, source_id, id, 'column_1', 'NOT_NULL', name, 'warning',
       'daily', 'validity', 3, '{"detectionMode": "manual", "operatingPeriodMode": "off", "treatNullAsValid": false}', (array['pass', 'pass', 'pass', 'fail'])[1 + (estimated_rows / 20000) % 4] ${chosen}`,
    [companyId],
  )
  await app.query(
    `insert into checks (uuid, kind, company_id, source_id, table_id, type, config, check_interval, sensitivity,
       status)
     select gen_random_uuid(), 'metric', company_id, source_id, id, 'row_count', '{}', 'daily', 3, 'pass' ${chosen}`,
    [companyId],
  )
}

/** A check on each table beside those of each twentieth: rules, metrics and referential checks, with some results. */
export async function fillManyChecks(app: TestServer, { companyId }: Tenant): Promise<void> {
  const chosen = (rest: string) =>
    `from tables where company_id = $1 and estimated_rows / 1000 % 10 in (${rest})`
  const interval = `now() - make_interval(secs => estimated_rows / 1000)`
  await app.query(
    `insert into checks (uuid, company_id, source_id, table_id, column_name, type, name, severity,
       check_interval, kind, sensitivity, settings, status, is_learning, is_active, created_at)
     select gen_random_uuid(), company_id, source_id, id, 'column_1', 'NOT_NULL', 'Known ' || name, 'warning',
       'daily', 'validity', 3, '{"detectionMode": "manual", "operatingPeriodMode": "off", "treatNullAsValid": false}', case when estimated_rows / 1000 % 100 = 0 then 'fail' else 'pass' end,
       estimated_rows / 1000 % 70 = 1, estimated_rows / 1000 % 50 > 0, ${interval} ${chosen('0,1,2,3')}`,
    [companyId],
  )
  await app.query(
    `insert into checks (uuid, kind, company_id, source_id, table_id, type, config, check_interval, sensitivity,
       status, is_learning, created_at)
     select gen_random_uuid(), 'metric', company_id, source_id, id, 'row_count', '{}', 'daily', 3,
       case when estimated_rows / 1000 % 97 = 0 then 'error' else 'pass' end, estimated_rows / 1000 % 70 = 5, ${interval}
     ${chosen('4,5,6,7')}`,
    [companyId],
  )
  await app.query(
    `insert into checks (uuid, kind, type, company_id, source_id, table_id, column_name, other_table_id,
       settings, name, severity, check_interval, status, created_at)
     select gen_random_uuid(), 'referential', 'referential', company_id, source_id, id, 'column_2', id,
       '{"parentColumnName": "column_1"}', 'Has a parent', 'warning', 'daily',
       'pass', ${interval} ${chosen('8,9')}`,
    [companyId],
  )
  await app.query(
    `insert into check_results (company_id, check_id, status, total_rows, details, value,
       duration_ms, at, is_learning)
     select company_id, id, status, 100, '{"invalidCount": 1}', 1, 5, now() - make_interval(days => n), is_learning
     from checks, generate_series(1, 5) n where company_id = $1 and kind = 'validity'`,
    [companyId],
  )
  await app.query(
    `insert into check_results (company_id, check_id, value, status, is_learning, at)
     select company_id, id, n, status, is_learning, now() - make_interval(days => n)
     from checks, generate_series(1, 5) n where company_id = $1 and kind = 'metric'`,
    [companyId],
  )
}

/** Gives the first source of a company that many schema changes of the last four weeks, one in ten open. */
export async function fillChanges(
  app: TestServer,
  { companyId }: Tenant,
  { changes, tables }: { changes: number; tables: number },
): Promise<void> {
  await app.query(
    `insert into schema_changes (id, company_id, source_id, table_id, table_path, change_type, object_name,
       object_type, new_value, impact, is_acknowledged, discovery_id, detected_at)
     select gen_random_uuid(), $1, t.source_id, t.id, t.schema_name || '.' || t.name,
       (array['column_added', 'column_added', 'column_removed', 'column_type_changed'])[1 + n % 4], 'column_' || n % 12,
       'column', '{"name": "column", "data_type": "text", "nullable": true}',
       (array['low', 'low', 'high', 'medium'])[1 + n % 4], n % 10 > 0, gen_random_uuid(),
       now() - make_interval(mins => (n::bigint * 40000 / $2::int)::int)
     from generate_series(1, $2::int) n
     join (select *, row_number() over (order by id) as number from tables
           where source_id = (select id from sources where company_id = $1 and name = 'warehouse_1')) t
       on t.number = 1 + n % $3::int`,
    [companyId, changes, tables],
  )
}
