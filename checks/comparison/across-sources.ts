/**
 * Compares the rows of two tables of two sources: a checksum of each part of the key's range on both sides, then the rows of
 * the parts whose checksums differ. Checksums only spare work: whether rows are equal is decided by their values, unless
 * all that a part has is the same.
 */
import { sql } from '../../connectors/sql.ts'
import { onBothSides, type AcrossSources } from './fetched-rows.ts'
import { lookAgain } from './late-rows.ts'
import { countWithoutKey, hasIndexOn, isUniqueByConstraint, requireUniqueKey } from './on-one-source.ts'
import type { ColumnPair } from './pairs.ts'
import type { RowDifferences } from './result.ts'
import { cutRange, cutSlots, type KeyRange } from './segments.ts'
import { columnOf, rowsOf, type Side } from './sides.ts'
import { compareRanges, compareSlots, countOfRanges, type Progress } from './suspects.ts'

/** @throws RepeatedKeyError where two rows of one table with the same key are met */
export async function compareAcrossSources(tables: AcrossSources): Promise<RowDifferences> {
  const { keys, columns } = tables
  await requireUniqueKeys(tables)
  const [left, right] = await onBothSides(tables, side => countWithoutKey(side, keys))
  const found: RowDifferences = {
    rowsLeft: left,
    rowsRight: right,
    onlyLeft: left,
    onlyRight: right,
    differing: 0,
    byColumn: Object.fromEntries(columns.map(pair => [pair.left.name, 0])),
    samples: [],
    segments: 0,
    rowsFetched: 0,
  }
  const isIndexed = [tables.left, tables.right].every(side => hasIndexOn(side, keys[0]!))
  const range = keys.length === 1 || isIndexed ? await readKeyRange(tables) : 'none'
  const estimate = Math.max(tables.left.table.estimatedRows ?? 0, tables.right.table.estimatedRows ?? 0)
  const progress: Progress = {
    ...{ tables, found, isIndexed, kept: new Map() },
    fetched: { rows: 0, characters: 0 },
  }
  if (range === 'none') await compareSlots(progress, cutSlots(keys))
  else if (range) await compareRanges(progress, range, cutRange(keys[0]!, range, countOfRanges(estimate)))
  await lookAgain(tables, found, progress.kept)
  found.samples = [...progress.kept.values()].slice(0, tables.sampleLimit)
  return found
}

/** Where no row of one side shares its key, none of the other does, unless parts of them differ: then it is met there. */
async function requireUniqueKeys({ left, right, keys }: AcrossSources): Promise<void> {
  if ([left, right].some(side => isUniqueByConstraint(side, keys))) return
  const isSmaller = (right.table.estimatedRows ?? Infinity) < (left.table.estimatedRows ?? Infinity)
  await requireUniqueKey(isSmaller ? right : left, keys)
}

/**
 * The integers of the first column of the key on both sides; null where there are no rows, `none` where it has no range. A key
 * of several columns is cut by it only where an index finds its ranges: by a hash, fewer statements read all rows.
 */
async function readKeyRange(tables: AcrossSources): Promise<KeyRange | 'none' | null> {
  const [key] = tables.keys
  if (key!.left.kind !== 'integer' || key!.right.kind !== 'integer') return 'none'
  const ranges = await onBothSides(tables, side => readRange(side, key!))
  const known = ranges.flatMap(range => range ?? [])
  if (known.length === 0) return null
  const from = known.map(range => range.from).reduce((a, b) => (a < b ? a : b))
  const to = known.map(range => range.to).reduce((a, b) => (a > b ? a : b)) + 1n
  // Beyond it, what engines count steps with overflows.
  return from < -MAX_INTEGER || to > MAX_INTEGER ? 'none' : { from, to }
}

const MAX_INTEGER = 2n ** 62n

async function readRange(side: Side, key: ColumnPair): Promise<KeyRange | null> {
  const column = columnOf(side, key)
  const [row] = await side.query(
    sql`select min(${column}) as lowest, max(${column}) as highest from ${rowsOf(side)}`,
  )
  if (row?.lowest === null || row?.lowest === undefined) return null
  return { from: BigInt(String(row.lowest)), to: BigInt(String(row.highest)) }
}
