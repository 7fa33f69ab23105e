import type { ConnectOptions, Row, Stage } from '../connector.ts'
import { testSession } from '../stages.ts'
import type { MysqlConfig } from './config.ts'
import { classifyMysqlError } from './errors.ts'
import { ENGINE, openSession } from './session.ts'

const CATALOG_TIMEOUT_MS = 10_000

/** How many tables may be seen, and what the account may do beside reading, there and everywhere. */
const CATALOG_QUERY = `
  select
    (select count(*) from information_schema.tables
      where table_schema = database() and table_type in ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW')) as tables,
    (select group_concat(distinct privilege_type order by privilege_type separator ', ')
      from (
        select privilege_type, grantee from information_schema.user_privileges
        union
        select privilege_type, grantee from information_schema.schema_privileges where database() like table_schema
      ) granted
      where grantee = concat('''', substring_index(current_user(), '@', 1), '''@''', substring_index(current_user(), '@', -1), '''')
        and privilege_type in (
          'INSERT', 'UPDATE', 'DELETE', 'CREATE', 'DROP', 'ALTER', 'FILE', 'SUPER', 'EXECUTE', 'CREATE ROUTINE',
          'CREATE USER', 'TRIGGER', 'SHUTDOWN')) as excess`

/** Tries a connection stage by stage, on one session; never rejects for a failure of the database. */
export function testConnection(config: MysqlConfig, options: ConnectOptions): Promise<Stage[]> {
  const limits = { timeoutMs: CATALOG_TIMEOUT_MS }
  return testSession(
    thrown => classifyMysqlError(ENGINE, thrown),
    step => openSession(config, options, CATALOG_TIMEOUT_MS, step),
    async session => describeCatalog(await session.run({ text: CATALOG_QUERY, values: [] }, limits)),
  )
}

function describeCatalog([row]: Row[]): string {
  const count = `The catalog has ${Number(row?.tables)} tables and views.`
  if (typeof row?.excess !== 'string') return count
  return `${count} The account may do more than read (${row.excess}): use one with only SELECT and SHOW VIEW.`
}
