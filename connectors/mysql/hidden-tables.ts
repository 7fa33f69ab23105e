import { randomUUID } from 'node:crypto'
import { tablePath, type TableInfo, type TableRef } from '../catalog.ts'
import type { HiddenParts, ReducedTable, Row } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { probeColumns, probeTables, findRefusal, unlistedError } from '../hidden-tables.ts'
import { sql, type Sql } from '../sql.ts'
import { mysqlDialect } from './dialect.ts'
import { ENGINE } from './session.ts'

/** What is asked of the session. */
export interface MysqlProbeSession {
  database: string
  run(statement: Sql): Promise<Row[]>
  introspect(tables: readonly TableRef[]): Promise<TableInfo[]>
}

/** No such table; no such database. All else that is said against a table leaves open that it is there. */
const NOT_FOUND_CODES = ['1146', '1049']

const isGone = (error: ConnectorError | null) => error !== null && NOT_FOUND_CODES.includes(error.code)

/** No such column. The servers report it only of a column that a grant covers, whether it is there or not. */
const isColumnGone = (error: ConnectorError | null) => error?.code === '1054'

/**
 * Finds tables that may still exist although the catalog no longer shows them. Both servers hide what the account has no
 * right on, and check rights before they look: a table is refused where no grant covers it, whether it is there or not,
 * and missing where one does. Grants by roles and patterns count as the server counts them.
 *
 * One statement where the account may read the whole database, as it mostly may; else one for each table.
 */
export async function findHiddenTables(
  { database, run, introspect }: MysqlProbeSession,
  tables: readonly TableRef[],
): Promise<Map<string, ConnectorError>> {
  const own = tables.filter(({ catalog, schema }) => catalog === database && schema === database)
  if (own.length === 0) return new Map()
  const ask = (name: string) => probeTable(run, database, name)
  const stranger = await ask(randomUUID())
  if (isGone(stranger)) return new Map()
  const shown = await run(
    sql`select 1 as shown from information_schema.schemata where schema_name = ${database}`,
  )
  if (stranger && shown.length === 0)
    return new Map(own.map(table => [tablePath(table), noDatabaseRightError(database)]))

  const readable: TableRef[] = []
  const found = await probeTables(ENGINE, own, async table => {
    const error = await ask(table.name)
    if (error === null) readable.push(table)
    return isGone(error) ? null : error
  })
  // Made anew meanwhile, or by now something that is no table.
  for (const table of await introspect(readable)) found.set(tablePath(table), unlistedError(ENGINE))
  return found
}

/** Why a table cannot be read; null when it can be. A random name is missing only where the whole database is granted. */
function probeTable(
  run: MysqlProbeSession['run'],
  database: string,
  name: string,
): Promise<ConnectorError | null> {
  const table = mysqlDialect.table({ catalog: database, schema: database, name })
  return findRefusal(run(sql`select * from ${table} limit 0`))
}

/**
 * The parts of tables that may still be there. Of a table on which the account has rights on columns only, the catalog
 * shows these columns, MariaDB's shows keys of these columns alone, and no foreign key.
 *
 * One statement where the account may read the whole database; else one for each table, and one for each missing column
 * of those that it may not read whole.
 */
export async function findHiddenParts(
  { database, run }: Pick<MysqlProbeSession, 'database' | 'run'>,
  tables: readonly ReducedTable[],
): Promise<Map<string, HiddenParts>> {
  const own = tables.filter(({ catalog, schema }) => catalog === database && schema === database)
  if (own.length === 0 || isGone(await probeTable(run, database, randomUUID()))) return new Map()
  const ask = (table: TableRef, column: string) => {
    const from = mysqlDialect.table(table)
    return findRefusal(run(sql`select t.${mysqlDialect.quote(column)} from ${from} t limit 0`))
  }
  const partly = await probeTables(ENGINE, own, async table => {
    const error = await ask(table, randomUUID())
    return isColumnGone(error) ? null : (error ?? unlistedError(ENGINE))
  })
  const granted = own.filter(table => partly.has(tablePath(table)))
  const columns = await probeColumns(ENGINE, granted, async (table, column) => {
    const error = await ask(table, column)
    return isColumnGone(error) ? null : (error ?? unlistedError(ENGINE, 'column'))
  })
  return new Map(
    granted.map(table => {
      const path = tablePath(table)
      const { columns: hidden, reason } = columns.get(path) ?? {
        columns: [],
        reason: hiddenForeignKeysError(table),
      }
      return [path, { columns: hidden, foreignKeys: true, reason }]
    }),
  )
}

function hiddenForeignKeysError({ name }: TableRef): ConnectorError {
  const message = `The catalog shows the foreign keys of ${name} only to accounts with a right on the whole table: grant the account SELECT on it.`
  return new ConnectorError({ kind: 'permission', code: '1142', engine: ENGINE, message })
}

function noDatabaseRightError(database: string): ConnectorError {
  const message = `The account has no right on the database ${database} any more: grant it SELECT on it.`
  return new ConnectorError({ kind: 'permission', code: '1044', engine: ENGINE, message })
}
