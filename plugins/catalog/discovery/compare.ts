import { tablePath, type TableInfo } from '../../../connectors/catalog.ts'
import type { ConnectorError } from '../../../connectors/errors.ts'
import type { Transaction } from '../../../server/database/database.ts'
import { tableInfo } from '../assets/assets.ts'
import { completeColumns } from '../drift/column-properties.ts'
import { completeConstraints } from '../drift/constraint-changes.ts'
import { fingerprint } from '../drift/diff.ts'
import type { CatalogReading } from './read-catalog.ts'
import { computeDrift, storedTablePath, type TableDrift, type TouchedTable } from '../drift/drift.ts'
import { compactColumn, type Source, type Table } from '../models.ts'
import { EVERYTHING, inScope } from './patterns.ts'
import { knownTables, storedTables, type CompletedBaseline, type KnownTable } from './store.ts'
import { withUnread } from './unreadable.ts'

/** What a discovery writes for each table of a source, and what it reports. */
export interface CatalogComparison {
  /** Ids of the stored tables by path. */
  ids: Map<string, string>
  /** New, changed or returned: to be written. What of them could not be read is as it was known. */
  fresh: TableInfo[]
  /** Fingerprints of `fresh`, by path. */
  prints: Map<string, string>
  removed: string[]
  /** No longer named by the patterns, those that were gone before too. */
  excluded: string[]
  /** Named by the patterns again, and gone meanwhile: no news, but what comes under their names is. */
  missed: string[]
  unchanged: [KnownTable, TableInfo][]
  unread: { id: string; error: ConnectorError }[]
  /** Tables of which columns or keys are hidden, and why, by path. */
  partlyHidden: Map<string, ConnectorError>
  /** Could not be read the last time, and now can. */
  readAgain: string[]
  /**
   * What becomes of what was accepted: ids of rows to keep as they are, paths of tables that were not there, paths of
   * those that need none, and columns and constraints whose properties were not known when they were accepted.
   */
  baselines: { kept: string[]; absent: string[]; dropped: string[]; completed: CompletedBaseline[] }
  drifts: TableDrift[]
  isChanged: boolean
}

/** Compares what was found with what is stored; reads no more than the rows that changed. */
export async function compareCatalogs(
  trx: Transaction,
  source: Source,
  found: CatalogReading,
): Promise<CatalogComparison> {
  const known = new Map((await knownTables(trx, source)).map(table => [storedTablePath(table), table]))
  const scope = scopeOf(source, found, [...known.values()])
  const isShown = (path: string) => found.prints.has(path) || found.unread.has(path)
  const { fresh, prints, unchanged, partlyHidden, rows } = await completeTables(trx, found, known)
  const missing = [...known].filter(([path, table]) => table.isActive && !isShown(path))
  const gone = Map.groupBy(missing, ([, table]) => (scope.isRead(table) ? 'removed' : 'excluded'))
  const idsOf = (entries: [string, KnownTable][] = []) => entries.map(([, { id }]) => id)
  const removed = gone.get('removed') ?? []
  const inactive = [...known].filter(([path, table]) => !table.isActive && !isShown(path))
  const isGoneAs = (absence: KnownTable['absence']) =>
    inactive.filter(
      ([, table]) => table.absence === absence && scope.isRead(table) === (absence === 'excluded'),
    )
  const reported = fresh.filter(table => scope.wasRead(table, known.get(tablePath(table))))
  for (const [path, row] of await storedTables(trx, idsOf(removed))) rows.set(path, row)
  const completed = completedBaselines(rows, reported)
  const touched = touchedTables(rows, reported, removed).map(table => {
    const partition = found.partitions.get(table.path)
    const parent = partition && tablePath(partition.parent)
    const isAttached =
      parent !== undefined && isShown(parent) && partition?.identity === table.before?.identity
    return isAttached && !table.now ? { ...table, partitionOf: parent } : table
  })
  const drifts = computeDrift(touched)
  return {
    ids: new Map([...known].map(([path, { id }]) => [path, id])),
    fresh,
    prints,
    removed: idsOf(removed),
    excluded: idsOf([...(gone.get('excluded') ?? []), ...isGoneAs('removed')]),
    missed: idsOf(isGoneAs('excluded')),
    unchanged,
    unread: [...found.unread, ...partlyHidden].flatMap(([path, error]) => {
      const stored = known.get(path)
      return stored?.isActive ? [{ id: stored.id, error }] : []
    }),
    partlyHidden,
    readAgain: unchanged.flatMap(([{ id, hasReadError }, table]) =>
      hasReadError && !partlyHidden.has(tablePath(table)) ? [id] : [],
    ),
    baselines: { ...baselinesOf(touched, drifts, known, fresh), completed },
    drifts,
    isChanged: fresh.length + missing.length > 0,
  }
}

interface Completion extends Pick<CatalogComparison, 'fresh' | 'prints' | 'unchanged' | 'partlyHidden'> {
  /** Rows of stored tables that do not look as they did, by path. */
  rows: Map<string, Table>
}

/** Separates what changed from what did not, with what could not be read as it was known. */
async function completeTables(
  trx: Transaction,
  found: CatalogReading,
  known: ReadonlyMap<string, KnownTable>,
): Promise<Completion> {
  const isStored = (table: TableInfo, print: string | undefined) => {
    const stored = known.get(tablePath(table))
    return stored?.isActive && stored.fingerprint === print ? stored : undefined
  }
  const fresh: TableInfo[] = []
  const prints = new Map<string, string>()
  const unchanged: [KnownTable, TableInfo][] = []
  const partlyHidden = new Map<string, ConnectorError>()
  const take = (table: TableInfo, print: string) => {
    const stored = isStored(table, print)
    if (stored) unchanged.push([stored, table])
    else {
      fresh.push(table)
      prints.set(tablePath(table), print)
    }
  }
  const differing: TableInfo[] = []
  for (const table of found.tables) {
    const print = found.prints.get(tablePath(table)) ?? ''
    if (isStored(table, print)) take(table, print)
    else differing.push(table)
  }
  const ids = differing.flatMap(table => known.get(tablePath(table))?.id ?? [])
  const rows = await storedTables(trx, ids)
  for (const read of differing) {
    const path = tablePath(read)
    const row = rows.get(path)
    const hidden = found.hiddenParts.get(path)
    const { table, isPartlyHidden } = row?.isActive
      ? withUnread(read, tableInfo(row), hidden)
      : { table: read, isPartlyHidden: false }
    if (hidden && isPartlyHidden) partlyHidden.set(path, hidden.reason)
    take(table, table === read ? (found.prints.get(path) ?? '') : fingerprint(table))
  }
  return { fresh, prints, unchanged, partlyHidden, rows }
}

/** Which tables this discovery was to read, and which the one before. */
interface DiscoveryScope {
  isRead(table: KnownTable): boolean
  /** A table that came into scope since is no addition. */
  wasRead(table: TableInfo, stored: KnownTable | undefined): boolean
}

function scopeOf(source: Source, found: CatalogReading, known: readonly KnownTable[]): DiscoveryScope {
  const patterns = { include: source.includePatterns, exclude: source.excludePatterns }
  const former = source.readPatterns ?? EVERYTHING
  const isFirst = source.lastDiscoveryAt === null
  // What is in other databases was neither removed nor added.
  const { isElsewhere = false } = former
  const here = new Set(found.tables.map(({ catalog }) => catalog))
  const there = new Set(known.filter(({ isActive }) => isActive).map(({ catalogName }) => catalogName))
  return {
    isRead: ({ catalogName: catalog, schemaName: schema, name }) =>
      inScope(patterns, { catalog, schema, name }) && !(isElsewhere && !here.has(catalog)),
    wasRead: (table, stored) =>
      !isFirst &&
      stored?.absence !== 'excluded' &&
      inScope(former, table) &&
      !(isElsewhere && !there.has(table.catalog)),
  }
}

function touchedTables(
  rows: ReadonlyMap<string, Table>,
  reported: readonly TableInfo[],
  removed: readonly [string, KnownTable][],
): TouchedTable[] {
  const touch = (path: string, now: TableInfo | null): TouchedTable => {
    const row = rows.get(path)
    const before = row?.isActive ? tableInfo(row) : null
    return { path, accepted: acceptedTable(row, before), before, now }
  }
  return [
    ...reported.map(table => touch(tablePath(table), table)),
    ...removed.map(([path]) => touch(path, null)),
  ]
}

/**
 * Adds to what was accepted, in the rows too, what an older version did not store. Done once: a later state may have
 * other properties.
 */
function completedBaselines(rows: ReadonlyMap<string, Table>, reported: readonly TableInfo[]) {
  return reported.flatMap(now => {
    const row = rows.get(tablePath(now))
    if (!row?.baseline || 'absent' in row.baseline) return []
    const later = [row.isActive ? tableInfo(row) : null, now]
    const columns = completeColumns(
      row.baseline.columns,
      later.map(table => table?.columns),
    )
    const constraints = completeConstraints(row.baseline.constraints, later)
    if (!columns && !constraints) return []
    row.baseline = { ...row.baseline, ...(columns && { columns }), ...(constraints && { constraints }) }
    return [
      { id: row.id, columns: row.baseline.columns.map(compactColumn), constraints: row.baseline.constraints },
    ]
  })
}

/** What was accepted of a table; where nothing is pending, that is what was there before. */
function acceptedTable(row: Table | undefined, before: TableInfo | null): TableInfo | null {
  if (!row?.baseline) return before
  return 'absent' in row.baseline ? null : { ...tableInfo(row), ...row.baseline }
}

function baselinesOf(
  touched: readonly TouchedTable[],
  drifts: readonly TableDrift[],
  known: ReadonlyMap<string, KnownTable>,
  fresh: readonly TableInfo[],
): Omit<CatalogComparison['baselines'], 'completed'> {
  const byPath = new Map(drifts.map(drift => [drift.path, drift]))
  const pending = touched.filter(({ path }) => byPath.has(path) && !byPath.get(path)?.isReverted)
  // Those whose accepted state is not what was there before have it stored already.
  const first = pending.filter(({ accepted, before }) => accepted === before)
  const touchedPaths = new Set(touched.map(({ path }) => path))
  return {
    kept: first.flatMap(({ path, before }) => (before ? (known.get(path)?.id ?? []) : [])),
    absent: first.flatMap(({ path, before }) => (before ? [] : [path])),
    dropped: [
      ...drifts.filter(({ isReverted }) => isReverted).map(({ path }) => path),
      // Back in scope: what they are now is taken as it is.
      ...fresh.map(tablePath).filter(path => known.has(path) && !touchedPaths.has(path)),
    ],
  }
}
