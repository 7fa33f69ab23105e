import { tablePath, type TableRef } from './catalog.ts'
import type { HiddenParts, ReducedTable } from './connector.ts'
import { ConnectorError, type ConnectorErrorKind } from './errors.ts'

/** The most tables, or columns, that are asked after one by one, each with a statement; the rest is not checked. */
export const MAX_PROBES = 500

/** Kinds that can be about the object that was asked after; all others are the connection's and are thrown. */
const OBJECT_ERROR_KINDS: ReadonlySet<ConnectorErrorKind> = new Set([
  'permission',
  'missing-object',
  'invalid-query',
  'timeout',
  'other',
])

/**
 * Asks for one object and gives what the engine says against it, or null when it can be read.
 * @throws ConnectorError when the connection itself failed
 */
export async function findRefusal(asking: Promise<unknown>): Promise<ConnectorError | null> {
  try {
    await asking
    return null
  } catch (error) {
    if (error instanceof ConnectorError && OBJECT_ERROR_KINDS.has(error.kind) && error.code !== 'ABORTED')
      return error
    throw error
  }
}

/** That a table or column was not asked after, because there were too many to ask after. */
export function uncheckedError(engine: string, what: 'table' | 'column' = 'table'): ConnectorError {
  return new ConnectorError({
    kind: 'other',
    code: 'UNCHECKED',
    engine,
    message: `More than ${MAX_PROBES} ${what}s are no longer shown, and whether this one is there was not asked: see what the account may read.`,
  })
}

/** That a table or column can be read, though the catalog does not show it. */
export function unlistedError(engine: string, what: 'table' | 'column' = 'table'): ConnectorError {
  const message = `The ${what} can be read, but the catalog does not show it: run a discovery again.`
  return new ConnectorError({ kind: 'other', code: 'UNLISTED', engine, message })
}

/**
 * Finds the tables that are not certainly gone, by `tablePath`; only the first 500 are probed.
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
 * The missing columns that may still be there, by `tablePath`: `probe` is asked for the first 500 of all; a column
 * beyond them counts as hidden.
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
