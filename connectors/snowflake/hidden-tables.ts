import { tablePath, type TableRef } from '../catalog.ts'
import type { Row } from '../connector.ts'
import { ConnectorError } from '../errors.ts'
import type { Sql } from '../sql.ts'
import { tablesInScope, schemataQuery, type SnowflakeScope } from './catalog-query.ts'

/**
 * Finds tables that may still exist although the catalog no longer shows them, with one statement. Snowflake reports what
 * the role may not see as if it did not exist. A whole schema that is not seen any more is taken for one
 * that the role lost: rights are mostly granted on schemas. A table that is not seen in a schema that is was dropped,
 * or is no longer granted by itself, which look the same.
 */
export async function findHiddenTables(
  read: (statement: Sql) => Promise<Row[]>,
  scope: SnowflakeScope,
): Promise<Map<string, ConnectorError>> {
  const tables = tablesInScope(scope) ?? []
  if (tables.length === 0) return new Map()
  const seen = new Set((await read(schemataQuery(scope.database))).map(({ name }) => String(name)))
  return new Map(
    tables
      .filter(({ schema }) => !seen.has(schema))
      .map(table => [tablePath(table), hiddenSchemaError(table)]),
  )
}

function hiddenSchemaError({ schema }: TableRef): ConnectorError {
  return new ConnectorError({
    kind: 'permission',
    engine: 'snowflake',
    message: `The role does not see the schema ${schema} any more: grant it USAGE again, or, if the schema was dropped, name it in exclude_patterns.`,
  })
}
