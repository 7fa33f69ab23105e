import type { Logger } from 'pino'
import { tablePath, type TableInfo, type TableRef } from '../../../connectors/catalog.ts'
import type { Connection, HiddenParts, Partition } from '../../../connectors/connector.ts'
import type { ConnectorError } from '../../../connectors/errors.ts'
import type { Database, Transaction } from '../../../server/database/database.ts'
import { makePauses } from '../../../server/pauses.ts'
import type { DiscoveredCatalog, DiscoveryReader } from './reader.ts'
import type { SessionDeps } from '../deps.ts'
import { tableInfo } from '../assets/assets.ts'
import { fingerprint } from '../drift/diff.ts'
import { storedTablePath } from '../drift/drift.ts'
import type { Patterns, Source } from '../models.ts'
import { withConnection, type SessionOptions } from '../sources/connections.ts'
import { inScope } from './patterns.ts'
import { knownTables, storedTables, type KnownTable } from './store.ts'
import { storableTable } from './storable-table.ts'
import { reducedTable } from './unreadable.ts'

/** What a source's catalog holds now, within its patterns. */
export interface CatalogReading {
  tables: TableInfo[]
  /** Fingerprints of the tables as they were read, by `tablePath`. */
  prints: Map<string, string>
  /** Tables that are or may be there and could not be read, by `tablePath`. */
  unread: Map<string, ConnectorError>
  /** Parts of the tables that may be there and are not shown, by `tablePath`. */
  hiddenParts: Map<string, HiddenParts>
  /** Known tables that became partitions, by `tablePath`. */
  partitions: Map<string, Partition>
  /** What else was read, as functions that record it. */
  recorders: NamedRecorder[]
}

/** Records what a `DiscoveryReader` read. */
interface NamedRecorder {
  name: string
  record(trx: Transaction): Promise<void>
}

/** Reads what the catalog of a source holds within its patterns. @throws ConnectorError */
export async function readCatalog(
  deps: SessionDeps,
  source: Source,
  signal: AbortSignal,
  { readers = [], ...options }: Partial<SessionOptions> & { readers?: readonly DiscoveryReader[] } = {},
): Promise<CatalogReading> {
  const patterns = { include: source.includePatterns, exclude: source.excludePatterns }
  const reading = async (connection: Connection): Promise<CatalogReading> => {
    const all = await connection.introspect({ signal })
    const seen = await selectTables(all, patterns)
    const unread = new Map(
      seen.flatMap(table => (table.columnsError ? [[tablePath(table), table.columnsError]] : [])),
    )
    const tables = seen.filter(table => !table.columnsError)
    const prints = await fingerprintAll(tables)
    const asksForMissing =
      connection.findHiddenTables ?? connection.findHiddenParts ?? connection.findPartitions
    const known = asksForMissing
      ? await deps.db.company(source.companyId, trx => knownTables(trx, source))
      : []
    const missing = missingTables(source, known, seen)
    const isMissing = missing.length > 0
    if (isMissing)
      for (const [path, error] of (await connection.findHiddenTables?.(missing)) ?? [])
        unread.set(path, error)
    const partitions =
      (isMissing && (await connection.findPartitions?.(missing))) || new Map<string, Partition>()
    const hiddenParts = await readHiddenParts(deps.db, source, connection, { tables, prints, known })
    const recorders = await runReaders(deps.pino, connection, readers, { source, tables, prints, signal })
    return { tables, prints, unread, hiddenParts, partitions, recorders }
  }
  return withConnection(deps, source, reading, { purpose: 'discovery', ...options })
}

/** Lets features read what they want to know of the source; none of them can fail the discovery. */
async function runReaders(
  log: Logger,
  connection: Connection,
  readers: readonly DiscoveryReader[],
  found: DiscoveredCatalog,
): Promise<NamedRecorder[]> {
  const recorders: NamedRecorder[] = []
  for (const reader of readers) {
    try {
      recorders.push({ name: reader.name, record: await reader.read(connection, found) })
    } catch (error) {
      found.signal.throwIfAborted()
      const fields = { err: (error as Error).message, source_id: found.source.id }
      log.warn(fields, `${reader.name} could not be read`)
    }
  }
  return recorders
}

/** In turns with other requests: some hundred patterns take a while over 100,000 tables. */
async function selectTables(all: readonly TableInfo[], patterns: Patterns): Promise<TableInfo[]> {
  const [seen, pause] = [[] as TableInfo[], makePauses()]
  for (const table of all) {
    await pause()
    if (inScope(patterns, table)) seen.push(storableTable(table))
  }
  return seen
}

async function fingerprintAll(tables: readonly TableInfo[]): Promise<Map<string, string>> {
  const [prints, pause] = [new Map<string, string>(), makePauses()]
  for (const table of tables) {
    await pause()
    prints.set(tablePath(table), fingerprint(table))
  }
  return prints
}

/** Tables that are known, within the patterns, and no longer shown. */
function missingTables(source: Source, known: readonly KnownTable[], seen: readonly TableRef[]): TableRef[] {
  const shown = new Set(seen.map(tablePath))
  const patterns = { include: source.includePatterns, exclude: source.excludePatterns }
  return known
    .filter(({ isActive }) => isActive)
    .map(({ catalogName: catalog, schemaName: schema, name }) => ({ catalog, schema, name }))
    .filter(table => !shown.has(tablePath(table)) && inScope(patterns, table))
}

/** Asks after the columns and keys that were known and are no longer shown; only changed tables are compared. */
async function readHiddenParts(
  db: Database,
  source: Source,
  connection: Connection,
  { tables, prints, known }: Pick<CatalogReading, 'tables' | 'prints'> & { known: readonly KnownTable[] },
): Promise<Map<string, HiddenParts>> {
  if (!connection.findHiddenParts) return new Map()
  const changed = new Map(
    known
      .filter(table => table.isActive && prints.get(storedTablePath(table)) !== table.fingerprint)
      .map(table => [storedTablePath(table), table.id]),
  )
  const read = tables.filter(table => changed.has(tablePath(table)))
  if (read.length === 0) return new Map()
  const ids = read.flatMap(table => changed.get(tablePath(table)) ?? [])
  const stored = await db.company(source.companyId, trx => storedTables(trx, ids))
  const reduced = read.flatMap(table => {
    const row = stored.get(tablePath(table))
    return (row && reducedTable(table, tableInfo(row))) ?? []
  })
  return reduced.length > 0 ? connection.findHiddenParts(reduced) : new Map()
}
