import { tablePath, type TableInfo } from '../../../connectors/catalog.ts'
import { compareTables, objectKeys, type SchemaDifference } from './diff.ts'

/** A table that a discovery found changed, added or removed, in three states of it; null is absent. */
export interface TouchedTable {
  path: string
  /** As it was last accepted. */
  accepted: TableInfo | null
  /** As the discovery before found it. */
  before: TableInfo | null
  now: TableInfo | null
  /** The path of the watched table of which it became a partition; `now` is then null. */
  partitionOf?: string
}

/** What became of a touched table. */
export interface TableDrift {
  path: string
  /** What changed since the discovery before, and is now other than what was accepted. */
  news: SchemaDifference[]
  /** What changed since the discovery before, back to what was accepted. */
  takenBack: SchemaDifference[]
  /** Whether the table is again what was accepted. */
  isReverted: boolean
  /** The changes recorded since it was accepted that are still a difference to that. */
  standing(changes: readonly SchemaDifference[]): Set<SchemaDifference>
}

/**
 * Computes what changed, and which of it reverts earlier changes. The accepted state is the one before the first change
 * that was not accepted since.
 * @returns one for each touched table that has a change
 */
export function computeDrift(touched: readonly TouchedTable[]): TableDrift[] {
  const states = (which: 'accepted' | 'before' | 'now') =>
    touched.flatMap(({ [which]: table }) => (table ? [table] : []))
  const now = states('now')
  const changes = Map.groupBy(compareTables(states('before'), now), ({ path }) => path)
  // Where nothing was pending, what was accepted is what was there before.
  const isPending = touched.some(({ accepted, before }) => accepted !== before)
  const open = isPending ? Map.groupBy(compareTables(states('accepted'), now), ({ path }) => path) : changes
  return touched.flatMap(({ path, partitionOf }) => {
    const recent = changes.get(path)?.map(change => asPartition(change, partitionOf))
    return recent ? [tableDrift(path, recent, open.get(path) ?? [])] : []
  })
}

/** The removal of a table that became a partition of a watched one: its rows are still there, and watched with it. */
export function asPartition<Difference extends SchemaDifference>(
  change: Difference,
  partitionOf?: string,
): Difference {
  if (partitionOf === undefined || change.changeType !== 'table_removed') return change
  return { ...change, newValue: { partition_of: partitionOf }, impact: 'low' }
}

function tableDrift(path: string, recent: SchemaDifference[], open: readonly SchemaDifference[]): TableDrift {
  const standing = (among: readonly SchemaDifference[]) => findStanding(among, open)
  const stand = standing(recent)
  return {
    path,
    news: recent.filter(change => stand.has(change)),
    takenBack: recent.filter(change => !stand.has(change)),
    isReverted: open.length === 0,
    standing,
  }
}

/** Follows chains: a column that was renamed twice is the same in both changes, and in what changed of it between. */
function findStanding(
  changes: readonly SchemaDifference[],
  open: readonly SchemaDifference[],
): Set<SchemaDifference> {
  if (open.length === 0) return new Set()
  // One record stands for all of a table that came or left, so that what else changed in it has no other.
  if (open.some(isOfTable)) return new Set(changes)
  const standing = new Set(changes.filter(isOfTable))
  const keys = new Set(open.flatMap(objectKeys))
  for (let known = -1; known < standing.size;) {
    known = standing.size
    for (const change of changes) {
      if (standing.has(change) || !objectKeys(change).some(key => keys.has(key))) continue
      standing.add(change)
      for (const key of objectKeys(change)) keys.add(key)
    }
  }
  return standing
}

function isOfTable({ changeType }: SchemaDifference): boolean {
  return changeType === 'table_added' || changeType === 'table_removed'
}

/** The path of a table of the catalog as discovery and diff name it. */
export function storedTablePath(table: { catalogName: string; schemaName: string; name: string }): string {
  return tablePath({ catalog: table.catalogName, schema: table.schemaName, name: table.name })
}
