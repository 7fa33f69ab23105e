/** A source of many tables with profiles for `watch.ts`, written straight into the product's database. */
import type { ColumnProfile } from '../../plugins/profiles/api.ts'
import type { Tenant, TestServer } from '../helpers/server.ts'

/** Columns of each table. */
export const COLUMNS = 10

const column = (name: string, kind: string, more: object = {}) => ({ name, type: kind, kind, ...more })

const TABLE_COLUMNS = [
  column('id', 'integer', { nullable: false }),
  column('customer_id', 'integer'),
  column('status', 'text'),
  column('email', 'text'),
  column('note', 'text'),
  column('total', 'decimal'),
  column('quantity', 'integer'),
  column('city', 'text'),
  column('created_at', 'timestamp'),
  column('updated_at', 'timestamp'),
]

function profileOf({ name, kind }: { name: string; kind: string }): ColumnProfile {
  const isNumber = kind === 'integer' || kind === 'decimal'
  const moments = { min: '2026-01-01T00:00:00Z', max: '2026-03-01T00:00:00Z' }
  return {
    ...{ name, type: kind, kind: kind as ColumnProfile['kind'], nulls: 0, count: 10_000 },
    ...{ distinct: name === 'id' ? 10_000 : name === 'status' ? 3 : 400, isDistinctExact: true },
    ...{ min: null, max: null, mean: null, stddev: null, quantiles: null },
    ...(isNumber && { min: 1, max: 10_000, mean: 500, stddev: 90 }),
    ...(isNumber && { quantiles: { p05: 10, p25: 200, p50: 500, p75: 800, p95: 990 } }),
    ...(kind === 'timestamp' && moments),
    ...{ minLength: null, maxLength: null, meanLength: null },
    topValues: name === 'status' ? ['new', 'paid', 'sent'].map(value => ({ value, count: 3_333 })) : null,
    pattern: name === 'email' ? { name: 'email', share: 1 } : null,
    ...{ isKeyCandidate: name === 'id', isMasked: false },
  }
}

/** Adds a source with tables of ten columns, all of them profiled where asked for. @returns its id */
export async function fillSource(
  app: TestServer,
  { companyId }: Tenant,
  {
    name,
    tables,
    hasProfiles,
    config,
  }: { name: string; tables: number; hasProfiles: boolean; config: object },
): Promise<string> {
  const [source] = await app.query(
    `insert into sources (id, company_id, name, source_type, config, connection_status, discovery_state,
       last_discovery_at, table_count, column_count, schema_count, catalog_count)
     values (gen_random_uuid(), $1, $2, 'postgresql', $3, 'connected', 'completed', now(), $4, $4::int * ${COLUMNS}, 20, 1)
     returning id`,
    [companyId, name, JSON.stringify(config), tables],
  )
  const id = String(source!.id)
  await app.query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint, column_count, estimated_rows)
     select gen_random_uuid(), $1, $2::uuid, 'shop', 'schema_' || n % 20, 'events_' || n,
       $3 || '.shop.schema_' || n % 20 || '.events_' || n, 'table', $4::jsonb,
       '[{"name": "pk", "type": "primary_key", "columns": ["id"]}]', md5(n::text), ${COLUMNS}, 10000
     from generate_series(1, $5::int) n`,
    [companyId, id, name, JSON.stringify(TABLE_COLUMNS), tables],
  )
  if (hasProfiles)
    await app.query(
      `insert into profiles (id, company_id, source_id, table_id, row_count, is_row_count_exact, profiled_rows, is_sampled,
         statements, milliseconds, columns)
       select gen_random_uuid(), company_id, source_id, id, 10000, true, 10000, false, 2, 10, $2::jsonb
       from tables where source_id = $1`,
      [id, JSON.stringify(TABLE_COLUMNS.map(profileOf))],
    )
  await app.query('analyze tables, profiles')
  return id
}
