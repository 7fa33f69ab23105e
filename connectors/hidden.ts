import { tablePath, type TableRef } from './catalog.ts'
import { ConnectorError, type ConnectorErrorKind } from './errors.ts'

/** Tables that are asked after one by one, each for a statement or a request; the rest is not checked. */
export const MOST_PROBED = 500

/** Kinds that can be about the object that was asked after; all others are the connection's and are thrown. */
const OF_OBJECTS: ReadonlySet<ConnectorErrorKind> = new Set([
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
export async function refusal(asking: Promise<unknown>): Promise<ConnectorError | null> {
  try {
    await asking
    return null
  } catch (error) {
    if (error instanceof ConnectorError && OF_OBJECTS.has(error.kind) && error.code !== 'ABORTED')
      return error
    throw error
  }
}

/** That a table was not asked after, because there were too many to ask after. */
export function unchecked(engine: string): ConnectorError {
  return new ConnectorError({
    kind: 'other',
    code: 'UNCHECKED',
    engine,
    message: `More than ${MOST_PROBED} tables are no longer shown, and whether this one is there was not asked: see what the account may read.`,
  })
}

/** That a table can be read, though the catalog does not show it. */
export function unlisted(engine: string): ConnectorError {
  const message = 'The table can be read, but the catalog does not show it: run a discovery again.'
  return new ConnectorError({ kind: 'other', code: 'UNLISTED', engine, message })
}

/**
 * Of tables, those that are not surely gone, by `tablePath`: `probe` is asked for the first 500 of them.
 * @param probe why a table cannot be read, or null when it is gone
 */
export async function probeTables(
  engine: string,
  tables: readonly TableRef[],
  probe: (table: TableRef) => Promise<ConnectorError | null>,
): Promise<Map<string, ConnectorError>> {
  const found = new Map<string, ConnectorError>()
  for (const [index, table] of tables.entries()) {
    const reason = index < MOST_PROBED ? await probe(table) : unchecked(engine)
    if (reason) found.set(tablePath(table), reason)
  }
  return found
}
