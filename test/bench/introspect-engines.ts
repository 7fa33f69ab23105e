import type { Connector } from '../../connectors/connector.ts'
import { catalogQuery as mysqlCatalog } from '../../connectors/mysql/catalog-query.ts'
import { mysql } from '../../connectors/mysql/index.ts'
import { catalogQuery as postgresqlCatalog } from '../../connectors/postgresql/catalog-query.ts'
import { postgresql } from '../../connectors/postgresql/index.ts'
import { mariadbAbsent, startShop } from '../helpers/mariadb.ts'
import { startSource } from '../helpers/source.ts'

/** A database to fill and read, and the engine's own client for it. */
export interface BenchDatabase {
  /** A `connection_config`. */
  config: Record<string, unknown>
  /** Runs statements as the owner. */
  execute(statements: readonly string[]): Promise<unknown>
  /** How the client runs queries and throws the rows away. */
  client(queries: readonly string[]): { command: string; args: string[]; env: Record<string, string> }
  /** Plain queries of the catalog for the facts that `introspect` returns. */
  plain: readonly string[]
  /** The queries of `introspect` itself. */
  same: readonly string[]
}

export interface BenchEngine {
  name: string
  connector: Connector
  /** Makes an empty database, or says why it cannot be had. */
  start(t: { teardown(down: () => unknown): unknown }): Promise<BenchDatabase | string>
}

/** Plain queries of PostgreSQL's catalog, as a person would write them. */
export const POSTGRESQL_PLAIN = [
  `select n.nspname, c.relname, c.relkind, c.reltuples, d.description
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  left join pg_description d on d.classoid = 'pg_class'::regclass and d.objoid = c.oid and d.objsubid = 0
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
    and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
  order by 1, 2`,
  `select n.nspname, c.relname, a.attname, a.attnum, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    pg_get_expr(f.adbin, f.adrelid), d.description
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef f on f.adrelid = c.oid and f.adnum = a.attnum
  left join pg_description d on d.classoid = 'pg_class'::regclass and d.objoid = c.oid and d.objsubid = a.attnum
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
    and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
  order by 1, 2, 4`,
  `select n.nspname, c.relname, k.conname, k.contype, k.conkey, k.confrelid::regclass, k.confkey
  from pg_constraint k
  join pg_class c on c.oid = k.conrelid
  join pg_namespace n on n.oid = c.relnamespace
  where k.contype in ('p', 'u', 'f') and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
  order by 1, 2, 3`,
]

const postgresqlEngine: BenchEngine = {
  name: 'postgresql',
  connector: postgresql as unknown as Connector,
  async start(t) {
    const { config, query } = await startSource(t)
    const { text } = postgresql.dialect.render(postgresqlCatalog(undefined))
    return {
      config,
      async execute(statements) {
        for (const statement of statements) {
          await query(statement.replaceAll('timestamp null', 'timestamp'))
        }
      },
      client: queries => ({
        command: 'psql',
        args: ['-X', '-A', '-t', ...queries.flatMap(text => ['-c', text])],
        env: {
          PGHOST: config.host,
          PGPORT: String(config.port),
          PGDATABASE: config.database,
          PGUSER: config.username,
          PGPASSWORD: config.password,
        },
      }),
      plain: POSTGRESQL_PLAIN,
      same: [text],
    }
  },
}

const MARIADB_PLAIN = [
  `select table_name, table_type, table_rows, table_comment from information_schema.tables
  where table_schema = database() order by 1`,
  `select table_name, column_name, ordinal_position, column_type, is_nullable, column_default, column_comment
  from information_schema.columns where table_schema = database() order by 1, 3`,
  `select table_name, index_name, seq_in_index, column_name from information_schema.statistics
  where table_schema = database() and non_unique = 0 order by 1, 2, 3`,
  `select table_name, constraint_name, ordinal_position, column_name, referenced_table_schema,
    referenced_table_name, referenced_column_name
  from information_schema.key_column_usage
  where table_schema = database() and referenced_table_name is not null order by 1, 2, 3`,
]

const mariadbEngine: BenchEngine = {
  name: 'mariadb',
  connector: mysql as unknown as Connector,
  async start(t) {
    if (mariadbAbsent) return mariadbAbsent
    const { config, query } = await startShop(t)
    const { text } = mysql.dialect.render(mysqlCatalog(undefined))
    return {
      config,
      async execute(statements) {
        for (const statement of statements) await query(statement)
      },
      client: queries => ({
        command: 'mariadb',
        args: [
          ...['--no-defaults', '--batch', '--skip-column-names', '--protocol=tcp'],
          ...['-h', config.host, '-P', String(config.port), '-u', config.username],
          ...['-D', config.database, '-e', queries.join(';\n')],
        ],
        env: { MYSQL_PWD: config.password },
      }),
      plain: MARIADB_PLAIN,
      same: [text],
    }
  },
}

/** The engines that are compared, each with the client that came with it. */
export const engines: readonly BenchEngine[] = [postgresqlEngine, mariadbEngine]
