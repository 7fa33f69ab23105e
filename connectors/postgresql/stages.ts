import type { ConnectOptions, Row, Stage } from '../connector.ts'
import { testSession } from '../stages.ts'
import { classifyPostgresqlError } from './errors.ts'
import type { PostgresqlConfig } from './config.ts'
import { openSession, prepareStatement, type SessionProfile } from './session.ts'

const CATALOG_TIMEOUT_MS = 10_000

/** Rights that reach beyond reading tables: files and programs of the server's machine. */
const CATALOG_QUERY = `
  select
    (select count(*) from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
        and n.nspname <> 'information_schema' and n.nspname !~ '^pg_') as tables,
    (select rolsuper from pg_catalog.pg_roles where rolname = current_user) as superuser,
    (select coalesce(bool_or(pg_catalog.pg_has_role(current_user, oid, 'member')), false) from pg_catalog.pg_roles
      where rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')) as files`

/** The statement of a connection test, and the message for its result. */
export interface CatalogProbe {
  text: string
  describe(row: Row): string
}

/** Tries a connection stage by stage, on one session; never rejects for a failure of the database. */
export function testConnection(
  profile: SessionProfile,
  config: PostgresqlConfig,
  options: ConnectOptions,
  probe: CatalogProbe = { text: CATALOG_QUERY, describe: describeCatalog },
): Promise<Stage[]> {
  const classify = (thrown: unknown) => classifyPostgresqlError(profile.engine, thrown, profile.errors)
  return testSession(
    classify,
    step => openSession(profile, config, options, step),
    async session => {
      const statement = prepareStatement(profile.engine, probe.text)
      const [row] = await session.run(statement, { timeoutMs: CATALOG_TIMEOUT_MS })
      return probe.describe(row ?? {})
    },
  )
}

function describeCatalog(row: Row): string {
  const count = `The catalog has ${Number(row.tables)} tables and views.`
  if (row.superuser === true) return `${count} The role is a superuser: use a role with only SELECT.`
  if (row.files === true) {
    return `${count} The role may reach files or programs of the server: use a role with only SELECT.`
  }
  return count
}
