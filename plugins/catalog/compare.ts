import { tablePath, type TableInfo } from '../../connectors/catalog.ts'
import type { ConnectorError } from '../../connectors/errors.ts'
import type { Transaction } from '../../server/database.ts'
import { tableInfo } from './assets.ts'
import type { Found } from './discovery.ts'
import { driftOf, pathOf, type Drift, type Touched } from './drift.ts'
import { Table, type Source } from './models.ts'
import { EVERYTHING, inScope } from './patterns.ts'
import { inParts, knownTables, type Known } from './store.ts'

/** What is to be done about each table of a source, and what is to be told. */
export interface Comparison {
  /** Ids of the stored tables by path. */
  ids: Map<string, string>
  /** New, changed or returned: to be written. */
  fresh: TableInfo[]
  removed: string[]
  /** No longer named by the patterns, those that were gone before too. */
  excluded: string[]
  /** Named by the patterns again, and gone meanwhile: no news, but what comes under their names is. */
  missed: string[]
  unchanged: [Known, TableInfo][]
  unread: { id: string; error: ConnectorError }[]
  /** Could not be read the last time, and now can. */
  readAgain: string[]
  /**
   * What becomes of what was accepted: ids of rows to keep as they are, paths of tables that were not there, and
   * paths of those that need none.
   */
  baselines: { kept: string[]; absent: string[]; dropped: string[] }
  drifts: Drift[]
  isChanged: boolean
}

/** Compares what was found with what is stored; reads no more than the rows that changed. */
export async function compareCatalogs(
  trx: Transaction,
  source: Source,
  found: Found,
  prints: ReadonlyMap<string, string>,
): Promise<Comparison> {
  const known = new Map((await knownTables(trx, source)).map(table => [pathOf(table), table]))
  const scope = scopeOf(source, found, [...known.values()])
  const fresh: TableInfo[] = []
  const unchanged: [Known, TableInfo][] = []
  for (const table of found.tables) {
    const path = tablePath(table)
    const stored = known.get(path)
    if (stored?.isActive && stored.fingerprint === prints.get(path)) unchanged.push([stored, table])
    else fresh.push(table)
  }
  const missing = [...known].filter(
    ([path, table]) => table.isActive && !prints.has(path) && !found.unread.has(path),
  )
  const gone = Map.groupBy(missing, ([, table]) => (scope.isRead(table) ? 'removed' : 'excluded'))
  const idsOf = (entries: [string, Known][] = []) => entries.map(([, { id }]) => id)
  const removed = gone.get('removed') ?? []
  const inactive = [...known].filter(
    ([path, table]) => !table.isActive && !prints.has(path) && !found.unread.has(path),
  )
  const isGoneAs = (absence: Known['absence']) =>
    inactive.filter(
      ([, table]) => table.absence === absence && scope.isRead(table) === (absence === 'excluded'),
    )
  const told = fresh.filter(table => scope.wasRead(table, known.get(tablePath(table))))
  const touched = await touchedTables(trx, { known, told, removed })
  const drifts = driftOf(touched)
  return {
    ids: new Map([...known].map(([path, { id }]) => [path, id])),
    fresh,
    removed: idsOf(removed),
    excluded: idsOf([...(gone.get('excluded') ?? []), ...isGoneAs('removed')]),
    missed: idsOf(isGoneAs('excluded')),
    unchanged,
    unread: [...found.unread].flatMap(([path, error]) => {
      const stored = known.get(path)
      return stored?.isActive ? [{ id: stored.id, error }] : []
    }),
    readAgain: unchanged.flatMap(([{ id, hasReadError }]) => (hasReadError ? [id] : [])),
    baselines: baselinesOf(touched, drifts, known, fresh),
    drifts,
    isChanged: fresh.length + missing.length > 0,
  }
}

/** Gives tables whose keys could not be read those that were known. */
export async function keepConstraints(trx: Transaction, source: Source, tables: TableInfo[]): Promise<void> {
  const lacking = tables.filter(table => table.unreadConstraints)
  if (lacking.length === 0) return
  const stored = await Table.query(trx)
    .where({ sourceId: source.id })
    .select('catalogName', 'schemaName', 'name', 'constraints')
  const byPath = new Map(stored.map(row => [pathOf(row), row.constraints]))
  for (const table of lacking) table.constraints = byPath.get(tablePath(table)) ?? []
}

/** Which tables this discovery was to read, and which the one before. */
interface Scope {
  isRead(table: Known): boolean
  /** A table that came into scope since is no addition. */
  wasRead(table: TableInfo, stored: Known | undefined): boolean
}

function scopeOf(source: Source, found: Found, known: readonly Known[]): Scope {
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

async function touchedTables(
  trx: Transaction,
  {
    known,
    told,
    removed,
  }: { known: ReadonlyMap<string, Known>; told: readonly TableInfo[]; removed: readonly [string, Known][] },
): Promise<Touched[]> {
  const stored = told.flatMap(table => known.get(tablePath(table))?.id ?? [])
  const ids = [...stored, ...removed.map(([, { id }]) => id)]
  if (told.length + ids.length === 0) return []
  const byPath = new Map<string, Table>()
  await inParts(ids, async some => {
    const rows = await Table.query(trx).whereRaw('id = any(?)', [some])
    for (const row of rows) byPath.set(pathOf(row), row)
  })
  const touch = (path: string, now: TableInfo | null): Touched => {
    const row = byPath.get(path)
    const before = row?.isActive ? tableInfo(row) : null
    return { path, accepted: acceptedOf(row, before), before, now }
  }
  return [...told.map(table => touch(tablePath(table), table)), ...removed.map(([path]) => touch(path, null))]
}

/** What was accepted of a table; where nothing is pending, that is what was there before. */
function acceptedOf(row: Table | undefined, before: TableInfo | null): TableInfo | null {
  if (!row?.baseline) return before
  return 'absent' in row.baseline ? null : { ...tableInfo(row), ...row.baseline }
}

function baselinesOf(
  touched: readonly Touched[],
  drifts: readonly Drift[],
  known: ReadonlyMap<string, Known>,
  fresh: readonly TableInfo[],
): Comparison['baselines'] {
  const byPath = new Map(drifts.map(drift => [drift.path, drift]))
  const pending = touched.filter(({ path }) => byPath.has(path) && !byPath.get(path)?.isReverted)
  // Those whose accepted state is not what was there before have it stored already.
  const first = pending.filter(({ accepted, before }) => accepted === before)
  const told = new Set(touched.map(({ path }) => path))
  return {
    kept: first.flatMap(({ path, before }) => (before ? (known.get(path)?.id ?? []) : [])),
    absent: first.flatMap(({ path, before }) => (before ? [] : [path])),
    dropped: [
      ...drifts.filter(({ isReverted }) => isReverted).map(({ path }) => path),
      // Back in scope: what they are now is taken as it is.
      ...fresh.map(tablePath).filter(path => known.has(path) && !told.has(path)),
    ],
  }
}
