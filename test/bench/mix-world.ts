/** A company of many tables for `mix.ts`, with a source that can be scanned. */
import { startSource } from '../helpers/source.ts'
import type { Tenant, TestServer } from '../helpers/server.ts'
import { fillCatalog, fillManyChecks } from './lists-world.ts'
import type { Teardown } from './rows.ts'

const SOURCES = 3
/** Rows of each table that is scanned. */
const ROWS = 100
/** Results of the check whose results are asked for, and rules of the table whose rules are. */
const RESULTS = 2_000
const RULES = 100

/** A kind of request of the mix. */
export interface MixRoute {
  name: string
  path: string
  /** How many of a user's requests in one turn are of this kind. */
  share: number
}

/** What a server is measured with. */
export interface MixWorld {
  routes: MixRoute[]
  /** Makes all checks of the source due. @returns how many they are */
  makeDue(): Promise<number>
  /** Whether all that was due has been measured and stored. */
  isDone(): Promise<boolean>
}

/** Fills a company's catalog, its checks with results, and a source whose tables have three checks each. */
export async function makeMixWorld(
  t: Teardown,
  app: TestServer,
  tenant: Tenant,
  { tables, scannedTables }: { tables: number; scannedTables: number },
): Promise<MixWorld> {
  await fillCatalog(app, tenant, { tables, sources: SOURCES })
  await fillManyChecks(app, tenant)
  const sourceId = await addScannedSource(t, app, tenant, scannedTables)
  const routes = await routesOf(app, tenant, sourceId)
  await app.query('vacuum analyze')
  return {
    routes,
    async makeDue() {
      const due = await app.query(
        `update checks set next_run_at = now() - interval '1 second', running_slot = null
         where source_id = $1 returning id`,
        [sourceId],
      )
      return due.length
    },
    async isDone() {
      const [left] = await app.query(
        `select 1 from checks where source_id = $1 and (next_run_at <= now() or running_slot is not null) limit 1`,
        [sourceId],
      )
      return left === undefined
    },
  }
}

/** A source of small tables, each with two rules and a metric. @returns its id */
async function addScannedSource(
  t: Teardown,
  app: TestServer,
  { companyId, ask }: Tenant,
  tables: number,
): Promise<string> {
  const source = await startSource(t)
  await source.query(
    `do $$ begin for n in 1..${tables} loop execute format(
       'create table scanned_%s as select i as id, ''row '' || i as name from generate_series(1, ${ROWS}) i', n);
     end loop; end $$`,
  )
  const made = await ask('POST', '/api/v1/sdk/assets', {
    name: 'scanned',
    source_type: 'postgresql',
    connection_config: source.config,
    max_concurrency: 4,
  })
  if (made.status !== 201) throw new Error(`the source was refused: ${JSON.stringify(made.body)}`)
  const sourceId = String((made.body as { data: { id: string } }).data.id)
  await app.query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns,
       constraints, fingerprint, column_count)
     select gen_random_uuid(), $1, $2::uuid, $3, 'public', 'scanned_' || n, 'scanned.' || $3 || '.public.scanned_' || n, 'table',
       '[{"name": "id", "ordinal": 1, "type": "integer", "rawType": "integer", "kind": "integer", "nullable": true,
          "default": null, "comment": null},
         {"name": "name", "ordinal": 2, "type": "text", "rawType": "text", "kind": "text", "nullable": true,
          "default": null, "comment": null}]', '[]', md5(n::text), 2
     from generate_series(1, $4::int) n`,
    [companyId, sourceId, source.name, tables],
  )
  const onEach = `from tables where company_id = $1 and source_id = $2`
  await app.query(
    `insert into checks (uuid, company_id, source_id, table_id, column_name, type, name, severity, check_interval, kind,
       sensitivity, settings, status)
     select gen_random_uuid(), company_id, source_id, id, column_name, 'NOT_NULL', column_name || ' is there', 'warning', '1h',
       'validity', 3, '{"detectionMode": "manual", "operatingPeriodMode": "off", "treatNullAsValid": false}', 'pass'
     from (select tables.*, unnest(array['id', 'name']) as column_name ${onEach}) each`,
    [companyId, sourceId],
  )
  await app.query(
    `insert into checks (uuid, kind, company_id, source_id, table_id, type, config, check_interval, sensitivity, status)
     select gen_random_uuid(), 'metric', company_id, source_id, id, 'row_count', '{}', '1h', 3, 'pass' ${onEach}`,
    [companyId, sourceId],
  )
  return sourceId
}

/** What 20 users of a company look at: lists for the most part, then one asset, then results. */
async function routesOf(app: TestServer, { companyId }: Tenant, sourceId: string): Promise<MixRoute[]> {
  const [chosen] = await app.query(
    `select t.id as table_id from tables t where company_id = $1 and source_id <> $2 order by name limit 1`,
    [companyId, sourceId],
  )
  const table = String(chosen?.table_id)
  const [rule] = await app.query(
    `insert into checks (uuid, company_id, source_id, table_id, column_name, type, name, severity, check_interval, kind,
       sensitivity, settings, status)
     select gen_random_uuid(), company_id, source_id, id, 'column_1', 'NOT_NULL', 'Rule ' || n, 'warning', 'daily',
       'validity', 3, '{"detectionMode": "manual", "operatingPeriodMode": "off", "treatNullAsValid": false}', 'pass'
     from tables, generate_series(1, ${RULES}) n where id = $1 returning id, uuid`,
    [table],
  )
  await app.query(
    `insert into check_results (company_id, check_id, status, total_rows, details, value, duration_ms, at, is_learning)
     select $1, $2, 'pass', 100, '{"invalidCount": 1}', 1, 5, now() - make_interval(mins => n * 15), false
     from generate_series(1, ${RESULTS}) n`,
    [companyId, rule?.id],
  )
  return [
    { name: 'list of assets', share: 2, path: '/api/v1/sdk/assets?limit=50' },
    { name: 'list of all checks', share: 2, path: '/api/v1/sdk/checks?limit=50' },
    { name: 'rules of a table', share: 2, path: `/api/v1/sdk/validity/${table}?limit=100` },
    { name: 'search', share: 1, path: '/api/v1/sdk/search?q=orders' },
    { name: 'one asset', share: 3, path: `/api/v1/sdk/assets/${table}` },
    {
      name: 'results',
      share: 2,
      path: `/api/v1/sdk/validity/${table}/v_${String(rule?.uuid)}/results?limit=50`,
    },
  ]
}
