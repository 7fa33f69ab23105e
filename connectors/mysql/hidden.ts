import { randomUUID } from 'node:crypto'
import { tablePath, type TableInfo, type TableRef } from '../catalog.ts'
import type { Row } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import { probeTables, refusal, unlisted } from '../hidden.ts'
import { sql, type Sql } from '../sql.ts'
import { mysqlDialect } from './dialect.ts'
import { ENGINE } from './session.ts'

/** What is asked of the session. */
export interface Asking {
  database: string
  run(statement: Sql): Promise<Row[]>
  introspect(tables: readonly TableRef[]): Promise<TableInfo[]>
}

/** No such table; no such database. All else that is said against a table leaves open that it is there. */
const GONE = ['1146', '1049']

const isGone = (error: ConnectorError | null) => error !== null && GONE.includes(error.code)

/**
 * Of tables that the catalog no longer shows, those that may still be there. Both servers hide what the account has no
 * right on, and check rights before they look: a table is refused where no grant covers it, whether it is there or not,
 * and missing where one does. Grants by roles and patterns count as the server counts them.
 *
 * One statement where the account may read the whole database, as it mostly may; else one for each table.
 */
export async function findHidden(
  { database, run, introspect }: Asking,
  tables: readonly TableRef[],
): Promise<Map<string, ConnectorError>> {
  const own = tables.filter(({ catalog, schema }) => catalog === database && schema === database)
  if (own.length === 0) return new Map()
  const ask = (name: string) =>
    refusal(
      run(sql`select * from ${mysqlDialect.table({ catalog: database, schema: database, name })} limit 0`),
    )

  // Nobody was granted this one by itself: it is missing only for who may read whatever the database has.
  const stranger = await ask(randomUUID())
  if (isGone(stranger)) return new Map()
  const shown = await run(
    sql`select 1 as shown from information_schema.schemata where schema_name = ${database}`,
  )
  if (stranger && shown.length === 0) return new Map(own.map(table => [tablePath(table), noRight(database)]))

  const readable: TableRef[] = []
  const found = await probeTables(ENGINE, own, async table => {
    const error = await ask(table.name)
    if (error === null) readable.push(table)
    return isGone(error) ? null : error
  })
  // Made anew meanwhile, or by now something that is no table.
  for (const table of await introspect(readable)) found.set(tablePath(table), unlisted(ENGINE))
  return found
}

function noRight(database: string): ConnectorError {
  const message = `The account has no right on the database ${database} any more: grant it SELECT on it.`
  return new ConnectorError({ kind: 'permission', code: '1044', engine: ENGINE, message })
}
