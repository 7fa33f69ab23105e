import { tablePath, type TableRef } from './catalog.ts'
import type { HiddenParts, ReducedTable } from './connector.ts'
import { ConnectorError, type ConnectorErrorKind } from './errors.ts'

/** Tables, or columns, that are probed, each with one statement; the rest is not checked. */
export const MAX_PROBES = 500

/** Kinds of errors that may concern the probed object; all others concern the connection and are thrown. */
const OBJECT_ERROR_KINDS: ReadonlySet<ConnectorErrorKind> = new Set([
  'permission',
  'missing-object',
  'invalid-query',
  'timeout',
  'other',
])

/**
 * Waits for the probe of one object and returns the engine's error, or null when the object can be read.
 * @throws ConnectorError when the connection itself failed
 */
export async function findRefusal(probe: Promise<unknown>): Promise<ConnectorError | null> {
  try {
    await probe
    return null
  } catch (error) {
    if (error instanceof ConnectorError && OBJECT_ERROR_KINDS.has(error.kind) && error.code !== 'ABORTED')
      return error
    throw error
  }
}

/** The error of a table or column that was not probed because there were too many. */
export function uncheckedError(engine: string, what: 'table' | 'column' = 'table'): ConnectorError {
  const message = `More than ${MAX_PROBES} ${what}s are no longer listed, and this one was not checked: check what the account may read.`
  return new ConnectorError({ kind: 'other', code: 'UNCHECKED', engine, message })
}

/** The error of a table or column that can be read although the catalog does not list it. */
export function unlistedError(engine: string, what: 'table' | 'column' = 'table'): ConnectorError {
  const message = `The ${what} can be read, but the catalog does not list it: run a discovery again.`
  return new ConnectorError({ kind: 'other', code: 'UNLISTED', engine, message })
}

/**
 * Finds the tables that may still exist, by `tablePath`; those beyond the first 500 are not probed and count as such.
 * @param probe why a table cannot be read, or null when it is gone
 */
export async function probeTables(
  engine: string,
  tables: readonly TableRef[],
  probe: (table: TableRef) => Promise<ConnectorError | null>,
): Promise<Map<string, ConnectorError>> {
  const found = new Map<string, ConnectorError>()
  for (const [index, table] of tables.entries()) {
    const reason = index < MAX_PROBES ? await probe(table) : uncheckedError(engine)
    if (reason) found.set(tablePath(table), reason)
  }
  return found
}

/**
 * Finds the missing columns that may still exist, by `tablePath`; those beyond the first 500 of all tables are not
 * probed and count as such.
 * @param probe why a column cannot be read, or null when it is gone
 */
export async function probeColumns(
  engine: string,
  tables: readonly ReducedTable[],
  probe: (table: TableRef, column: string) => Promise<ConnectorError | null>,
): Promise<Map<string, HiddenParts>> {
  const found = new Map<string, HiddenParts>()
  let probes = 0
  for (const table of tables) {
    const hidden: { column: string; reason: ConnectorError }[] = []
    for (const column of table.missingColumns) {
      const reason = probes++ < MAX_PROBES ? await probe(table, column) : uncheckedError(engine, 'column')
      if (reason) hidden.push({ column, reason })
    }
    const [first] = hidden
    if (first)
      found.set(tablePath(table), { columns: hidden.map(({ column }) => column), reason: first.reason })
  }
  return found
}
