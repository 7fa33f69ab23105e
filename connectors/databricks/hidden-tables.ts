import { randomUUID } from 'node:crypto'
import { tablePath, type TableRef } from '../catalog.ts'
import type { Row } from '../connector.ts'
import { type ConnectorError } from '../errors.ts'
import { probeTables, findRefusal, unlistedError } from '../hidden-tables.ts'
import { sql, type Sql } from '../sql.ts'
import { databricksDialect } from './dialect.ts'
import { ENGINE } from './session.ts'

/**
 * The error conditions of missing objects (https://docs.databricks.com/error-messages/error-classes.html); the last
 * is Spark's for an unknown catalog.
 */
const NOT_FOUND_CODE =
  /^(TABLE_OR_VIEW|SCHEMA|CATALOG)_NOT_FOUND|^NO_SUCH_CATALOG|^REQUIRES_SINGLE_PART_NAMESPACE/

const isGone = (error: ConnectorError | null) => error !== null && NOT_FOUND_CODE.test(error.code)

/**
 * Finds tables that may still exist although the catalog no longer shows them. The information schema lists only what
 * the token may see, but a statement on an existing object without rights fails with INSUFFICIENT_PERMISSIONS, and one
 * on a missing object with TABLE_OR_VIEW_NOT_FOUND. One statement for each schema that cannot be entered, else
 * one for each table.
 * @param catalog the only one that is read, or undefined for all
 */
export async function findHiddenTables(
  run: (statement: Sql) => Promise<Row[]>,
  catalog: string | undefined,
  tables: readonly TableRef[],
): Promise<Map<string, ConnectorError>> {
  const ask = (table: TableRef) =>
    findRefusal(run(sql`select 1 as one from ${databricksDialect.table(table)} limit 0`))
  const own = tables.filter(table => catalog === undefined || table.catalog === catalog)
  const found = new Map<string, ConnectorError>()
  const open: TableRef[] = []
  const schemas = Map.groupBy(own, table => JSON.stringify([table.catalog, table.schema]))
  for (const group of schemas.values()) {
    const [first] = group
    if (!first) continue
    const error = await ask({ ...first, name: `no_${randomUUID().replaceAll('-', '_')}` })
    if (error?.kind === 'permission') for (const table of group) found.set(tablePath(table), error)
    else if (!isGone(error) || error?.code.startsWith('TABLE')) open.push(...group)
  }
  const probed = await probeTables(ENGINE, open, async table => {
    const error = await ask(table)
    return isGone(error) ? null : (error ?? unlistedError(ENGINE))
  })
  return new Map([...found, ...probed])
}
