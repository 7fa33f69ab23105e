import type { ConnectOptions, Row, Stage } from '../connector.ts'
import { postgresqlError } from './errors.ts'
import { openSession, type PostgresqlConfig, type Session, type SessionProfile } from './session.ts'

const STAGES: readonly Stage['name'][] = ['reach', 'tls', 'sign_in', 'read_catalog']
const CATALOG_TIMEOUT_MS = 10_000

/** Rights that reach beyond reading tables: files and programs of the server's machine. */
const CATALOG = `
  select
    (select count(*) from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
        and n.nspname <> 'information_schema' and n.nspname !~ '^pg_') as tables,
    (select rolsuper from pg_catalog.pg_roles where rolname = current_user) as superuser,
    (select coalesce(bool_or(pg_catalog.pg_has_role(current_user, oid, 'member')), false) from pg_catalog.pg_roles
      where rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')) as files`

/** Tries a connection stage by stage, on one session; never rejects for a failure of the database. */
export async function testStages(
  profile: SessionProfile,
  config: PostgresqlConfig,
  options: ConnectOptions,
): Promise<Stage[]> {
  const done = new Map<Stage['name'], Stage>()
  let since = performance.now()
  const pass = (name: Stage['name'], message: string) => {
    const now = performance.now()
    done.set(name, { name, status: 'passed', latencyMs: Math.round(now - since), message })
    since = now
  }
  let session: Session | undefined
  try {
    session = await openSession(profile, config, options, pass)
    pass('read_catalog', told(await session.run(CATALOG, [], { timeoutMs: CATALOG_TIMEOUT_MS })))
  } catch (thrown) {
    const error = postgresqlError(profile.engine, thrown)
    const latencyMs = Math.round(performance.now() - since)
    const name = STAGES.find(stage => !done.has(stage)) ?? 'read_catalog'
    done.set(name, { name, status: 'failed', latencyMs, message: error.message, error })
  } finally {
    await session?.close()
  }
  return STAGES.map(
    name => done.get(name) ?? { name, status: 'skipped', latencyMs: 0, message: 'An earlier stage failed.' },
  )
}

function told([row]: Row[]): string {
  const count = `The catalog has ${Number(row?.tables)} tables and views.`
  if (row?.superuser === true) return `${count} The role is a superuser: use a role with only SELECT.`
  if (row?.files === true) {
    return `${count} The role may reach files or programs of the server: use a role with only SELECT.`
  }
  return count
}
