/** The partitions of a table, each with a version that changes with its rows. */
import type { TableRef } from '../catalog.ts'
import type { QueryOptions, Row, TablePart } from '../connector.ts'
import { raw, sql, type Sql } from '../sql.ts'
import { postgresqlDialect } from './dialect.ts'

/**
 * Whether the counters of this server, and what it says of itself, are those of one PostgreSQL 15 or newer that counts
 * every change. Before 15, counters were sent by UDP, which loses some; a standby has none of the changes that it replays;
 * a superuser may have switched them off for a role or a database; Citus, Yugabyte and Aurora keep rows elsewhere.
 */
const COUNTS_ALL_CHANGES = sql`
  pg_catalog.current_setting('server_version_num')::int >= 150000
  and not pg_catalog.pg_is_in_recovery()
  and pg_catalog.current_setting('track_counts')::bool
  and pg_catalog.version() ~ '^PostgreSQL ' and pg_catalog.version() !~* '-yb-|greenplum'
  and not exists (select from pg_catalog.pg_extension where extname = 'citus')
  and not exists (select from pg_catalog.pg_proc where proname = 'aurora_version')
  and not exists (
    select from pg_catalog.pg_db_role_setting s, pg_catalog.unnest(s.setconfig) given
    where given like 'track\\_counts=%')`

/** What a row is taken to occupy in a partition that was never analysed. */
const BYTES_PER_ROW = 100

/**
 * One row a leaf: `schema`, `name`, `rows`, `is_known` and `version`.
 *
 * The version holds what moves with a change of rows: the identity and the file of the leaf (TRUNCATE, CLUSTER and changes
 * of type write a new file), its size, the numbers of rows that were ever inserted, updated and deleted, its columns (one
 * that is added with a default changes no row), when counters were last set back, and the timeline: a server that was
 * switched over and back has replayed changes that it did not count. A crash discards all counters and stamps
 * `stats_reset` of the background writer.
 */
function partsQuery({ schema, name }: TableRef): Sql {
  return sql`
    with recursive member as (
      select c.oid, false as is_leaving
      from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema}::text and c.relname = ${name}::text and c.relkind = 'p'
      union all
      select i.inhrelid, m.is_leaving or i.inhdetachpending
      from member m join pg_catalog.pg_inherits i on i.inhparent = m.oid
    ),
    server as materialized (
      select ${COUNTS_ALL_CHANGES} as counts,
        case when not pg_catalog.pg_is_in_recovery()
          then pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) end as timeline,
        (select stats_reset from pg_catalog.pg_stat_database where datname = pg_catalog.current_database()) as of_database,
        (select stats_reset from pg_catalog.pg_stat_bgwriter) as of_server
    )
    select n.nspname as schema, c.relname as name, coalesce(nullif(c.reltuples, -1), pg_catalog.pg_relation_size(c.oid) / ${raw(String(BYTES_PER_ROW))})::float8 as rows,
      server.counts and not m.is_leaving and c.relkind = 'r' and c.relpersistence <> 't' and am.amname = 'heap'
        and not (select bool_or(pg_catalog.row_security_active(every.oid)) from member every)
        and pg_catalog.has_table_privilege(c.oid, 'SELECT')
        and pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE')
        and s.relid is not null and not attributes.computed as is_known,
      pg_catalog.md5(pg_catalog.concat_ws(' ', c.oid, pg_catalog.pg_relation_filenode(c.oid),
        pg_catalog.pg_relation_size(c.oid), s.n_tup_ins, s.n_tup_upd, s.n_tup_del,
        pg_catalog.date_part('epoch', server.of_database), pg_catalog.date_part('epoch', server.of_server),
        server.timeline, attributes.list)) as version
    from member m
    join pg_catalog.pg_class c on c.oid = m.oid and c.relkind <> 'p'
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    cross join server
    left join pg_catalog.pg_am am on am.oid = c.relam
    left join pg_catalog.pg_stat_all_tables s on s.relid = c.oid
    cross join lateral (
      select bool_or(a.attgenerated = 'v') as computed,
        pg_catalog.string_agg(
          pg_catalog.concat_ws(':', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation), ','
          order by a.attnum) as list
      from pg_catalog.pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    ) attributes
    order by c.oid`
}

/**
 * The leaf partitions of a table in the order in which they were made; null where they are not known, and of a table that is
 * not partitioned. A change is counted up to a minute after its commit: a state that is kept with the version that was read
 * before it is then seen to be old at the next look.
 */
export async function readParts(
  query: (statement: Sql, options: QueryOptions) => Promise<Row[]>,
  table: TableRef,
  options: Pick<QueryOptions, 'timeoutMs' | 'signal'>,
): Promise<TablePart[] | null> {
  const rows = await query(partsQuery(table), options)
  if (rows.length === 0 || rows.some(row => row.is_known !== true)) return null
  return rows.map(({ schema, name, version, rows: estimate }) => ({
    name: `${String(schema)}.${String(name)}`,
    version: String(version),
    from: sql`only ${postgresqlDialect.table({ catalog: table.catalog, schema: String(schema), name: String(name) })}`,
    ...(typeof estimate === 'number' && { rows: estimate }),
  }))
}
