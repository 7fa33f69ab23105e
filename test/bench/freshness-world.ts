/** A source of many tables, their schedules, and what happens to them, for `freshness.ts`. */
import type pg from 'pg'
import type { Source } from '../helpers/source.ts'
import { randomOf } from './detector-random.ts'
import { updateFamilies } from './detector-updates.ts'

const SCHEMAS = 10
/** Tables that are made or changed in one transaction: PostgreSQL locks each. */
const AT_ONCE = 250
/** Rows with an index, and rows of a table that has none. */
const ROWS = 100
const FEW_ROWS = 20

/** A table without an update for this long violates every threshold. */
export const LONG_AGO = '400 days'

/** The tables that get a schedule, with their schemas. */
export function tableNames(tables: number): string[] {
  return Array.from({ length: tables }, (_, n) => `s${n % SCHEMAS}.t${n}`)
}

/**
 * Makes the tables: of each twenty 14 with an index on `updated_at`, 3 with few rows and no index, 2 views and 1
 * partitioned. The row of id 0 is the newest of each; all others are older than `LONG_AGO`.
 */
export async function fillSource(source: Source, tables: number): Promise<void> {
  for (let n = 0; n < SCHEMAS; n += 1) await source.query(`create schema s${n}`)
  const names = tableNames(tables)
  for (let from = 0; from < tables; from += AT_ONCE) {
    const texts = names.slice(from, from + AT_ONCE).map((name, at) => definition(name, from + at))
    await source.query(texts.join(';\n'))
  }
  await source.query('vacuum analyze')
}

function definition(name: string, n: number): string {
  const kind = n % 20
  if (kind < 14) return `${tableOf(name, ROWS)}; create index on ${name} (updated_at)`
  if (kind < 17) return tableOf(name, FEW_ROWS)
  const below = `${name}_rows`
  if (kind < 19)
    return `${tableOf(below, ROWS)}; create index on ${below} (updated_at); create view ${name} as select id, name, updated_at from ${below}`
  return `create table ${name} (${COLUMNS}) partition by range (id);
    create table ${name}_low partition of ${name} for values from (0) to (${ROWS / 2});
    create table ${name}_high partition of ${name} for values from (${ROWS / 2}) to (${ROWS});
    create index on ${name} (updated_at); ${rowsOf(name, ROWS)}`
}

const COLUMNS = 'id integer, name text, amount numeric(12,2), created_at timestamptz, updated_at timestamptz'

function tableOf(name: string, rows: number): string {
  return `create table ${name} (${COLUMNS}); ${rowsOf(name, rows)}`
}

function rowsOf(name: string, rows: number): string {
  return `insert into ${name} select n, 'row ' || n, n, now() - interval '${LONG_AGO}',
    now() - interval '${LONG_AGO}' - make_interval(hours => n) from generate_series(0, ${rows} - 1) n`
}

/** Gives every table its newest row at a moment before now. */
export async function setNewest(source: Source, tables: number, ago: string): Promise<void> {
  const names = tableNames(tables)
  for (let from = 0; from < tables; from += AT_ONCE)
    await source.query(
      names
        .slice(from, from + AT_ONCE)
        .map(name => `update ${name} set updated_at = now() - interval '${ago}' where id = 0`)
        .join(';'),
    )
}

/** What a product's database holds of one company that watches one source. */
export interface Watching {
  /** A superuser's session on the product's database. */
  own: pg.Client
  companyId: string
  sourceId: string
}

/** Schedules for all tables: of an explicit threshold and auto_learn by turns; and the past of the latter, kept aside. */
export async function makeSchedules({ own, companyId, sourceId }: Watching, tables: number): Promise<void> {
  await own.query(
    `insert into checks (uuid, kind, type, company_id, source_id, table_id, settings, check_interval)
     select gen_random_uuid(), 'freshness', 'freshness', $1, $2, t.id,
       jsonb_build_object('timestampColumn', 'updated_at', 'monitoringMode',
         case when n % 2 = 0 then 'explicit' else 'auto_learn' end, 'slaThreshold', case when n % 2 = 0 then '24h' end), '1h'
     from unnest(cast($3 as text[])) with ordinality as named (path, n)
     join tables t on t.source_id = $2 and t.schema_name || '.' || t.name = named.path`,
    [companyId, sourceId, tableNames(tables)],
  )
  await own.query('create schema by_hand')
  await own.query('create table by_hand.past (check_id bigint, before interval)')
  const { rows } = await own.query<{ id: string }>(
    `select id from checks where settings ->> 'monitoringMode' = 'auto_learn' order by id`,
  )
  const families = Object.values(updateFamilies)
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    const past = rows.slice(from, from + AT_ONCE).flatMap(({ id }, at) => {
      const n = from + at
      const times = families[n % families.length]!(randomOf(`past ${n}`)).at
      return times.slice(0, -1).map(time => [id, times.at(-1)! - time] as const)
    })
    await own.query(
      `insert into by_hand.past select id, make_interval(secs => seconds)
       from unnest(cast($1 as bigint[]), cast($2 as float8[])) as p (id, seconds)`,
      [past.map(([id]) => id), past.map(([, seconds]) => seconds)],
    )
  }
}

/** Forgets what was found of the tables and raised about them, as if they had just got their schedules. */
export async function forgetAll({ own }: Watching): Promise<void> {
  await own.query('truncate check_results, alerts cascade')
  await own.query(`delete from pgboss.job where name = 'alerts.deliver'`)
  await own.query(
    `update checks set status = null, last_checked_at = null, running_slot = null,
       settings = settings - 'lastUpdated' - 'expectedNext' - 'learnedSlaSeconds' - 'lastError' - 'alertSeverity'`,
  )
}

/** Gives the auto_learn tables a past that ends at their last update. Checks of all tables lie between each other. */
export async function recallPast({ own, companyId }: Watching): Promise<void> {
  await own.query(
    `insert into check_results (company_id, check_id, status, value, details, at)
     select $1, id, 'pass', extract(epoch from age), jsonb_build_object('lastUpdated', seen, 'isUpdate', true), seen + age
     from by_hand.past p join checks c on c.id = p.check_id cross join lateral (
       select cast(c.settings ->> 'lastUpdated' as timestamptz) - p.before as seen,
         least(interval '1 minute', p.before / 2) as age) u
     order by p.before desc`,
    [companyId],
  )
}

/** As autovacuum leaves the tables, which is off in throw-away clusters. */
export async function tidy({ own }: Watching): Promise<void> {
  await own.query('vacuum analyze checks, check_results, alerts, alert_history, deliveries, pgboss.job')
}

/** Makes all tables due. */
export async function makeDue({ own }: Watching): Promise<void> {
  await own.query(`update checks set next_run_at = now() - interval '1 second'`)
}

/** What is to be found after a sweep. */
export interface Standing {
  fresh: number
  stale: number
  unknown: number
  /** Checks since the sweep began, and those of them that found an update. */
  checks: number
  updates: number
  openAlerts: number
  deliveries: number
}

export async function standing({ own }: Watching, since: Date): Promise<Standing> {
  const { rows } = await own.query<Standing>(
    `select s.*, c.*, a.*, d.* from
       (select count(*) filter (where status in ('pass', 'warning'))::int as fresh,
          count(*) filter (where status = 'fail')::int as stale, count(*) filter (where status is null)::int as unknown
          from checks) s,
       (select count(*)::int as checks, count(*) filter (where details ? 'isUpdate')::int as updates
          from check_results where at >= $1) c,
       (select count(*)::int as "openAlerts" from alerts where status = 'triggered') a,
       (select count(*)::int as deliveries from deliveries) d`,
    [since],
  )
  return rows[0]!
}
