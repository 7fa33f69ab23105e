/**
 * Compares the rows of two tables of two sources: a checksum of each part of the key's range on both sides, then the rows of
 * the parts whose checksums differ. Checksums only spare work: whether rows are equal is decided by their values, unless
 * all that a part has is the same.
 */
import { sql } from '../../connectors/sql.ts'
import { count, differencesOf, fetchParts, keyText, onBothSides, type AcrossSources } from './fetched-rows.ts'
import { lookAgain, MAX_RECHECKED_ROWS } from './late-rows.ts'
import { countWithoutKey, isUniqueByConstraint, requireUniqueKey } from './on-one-source.ts'
import type { ColumnPair } from './pairs.ts'
import type { DifferingRow, RowDifferences } from './result.ts'
import {
  cutRange,
  cutSlots,
  halveSegment,
  narrow,
  readSums,
  withinSegments,
  type Cut,
  type Segment,
  type SegmentSum,
} from './segments.ts'
import { columnOf, hasKey, rowsOf, rowText, type Side } from './sides.ts'

/** A segment is cut again while it has more rows than this. */
const MAX_SEGMENT_ROWS = 2_000
/** Rows that one statement fetches at most, if no segment alone has more; by ranges and by hashes, which read all rows. */
const MAX_FETCHED_ROWS = { ranges: 4_000, slots: 100_000 }
const MIN_SEGMENTS = 32
const MAX_SEGMENTS = 8_192
/** More segments than these are fetched as they are: with many that differ, hardly any part would be the same. */
const MAX_NARROWED_SEGMENTS = 64
/** Segments that one condition names. */
const MAX_FETCHED_SEGMENTS = 200
/** A segment whose checksums differ, with how many rows it had on each side. */
interface SuspectSegment {
  segment: Segment
  left: number
  right: number
}

const rowsIn = ({ left, right }: SuspectSegment): number => Math.max(left, right)

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
  const cut = await firstCut(tables)
  if (!cut) return found
  const suspects = await narrowSuspects(tables, cut, await findSuspects(tables, cut, found), found)
  const kept = new Map<string, DifferingRow>()
  for (const batch of batchesOf(await cutAgain(tables, suspects, found)))
    await compareSegments(tables, batch, { found, kept })
  await lookAgain(tables, found, kept)
  found.samples = [...kept.values()].slice(0, tables.sampleLimit)
  return found
}

/** Where no row of one side shares its key, none of the other does, unless parts of them differ: then it is met there. */
async function requireUniqueKeys({ left, right, keys }: AcrossSources): Promise<void> {
  if ([left, right].some(side => isUniqueByConstraint(side, keys))) return
  const isSmaller = (right.table.estimatedRows ?? Infinity) < (left.table.estimatedRows ?? Infinity)
  await requireUniqueKey(isSmaller ? right : left, keys)
}

/** How the rows are cut at first; null where there are none. A single integer is cut by its range, other keys by their hash. */
async function firstCut(tables: AcrossSources): Promise<Cut | null> {
  const { keys, left, right } = tables
  const [key] = keys
  const isRange = keys.length === 1 && key!.left.kind === 'integer' && key!.right.kind === 'integer'
  if (!isRange) return cutSlots(keys)
  const ranges = await onBothSides(tables, side => readRange(side, key!))
  const known = ranges.flatMap(range => range ?? [])
  if (known.length === 0) return null
  const from = known.map(range => range.from).reduce((a, b) => (a < b ? a : b))
  const to = known.map(range => range.to).reduce((a, b) => (a > b ? a : b)) + 1n
  // Beyond it, what engines count steps with overflows.
  if (from < -MAX_INTEGER || to > MAX_INTEGER) return cutSlots(keys)
  const estimate = Math.max(left.table.estimatedRows ?? 0, right.table.estimatedRows ?? 0)
  const wanted = Math.min(MAX_SEGMENTS, Math.max(MIN_SEGMENTS, Math.ceil(estimate / MAX_SEGMENT_ROWS)))
  return cutRange(key!, { from, to }, wanted)
}

const MAX_INTEGER = 2n ** 62n

async function readRange(side: Side, key: ColumnPair): Promise<{ from: bigint; to: bigint } | null> {
  const column = columnOf(side, key)
  const [row] = await side.query(
    sql`select min(${column}) as lowest, max(${column}) as highest from ${rowsOf(side)}`,
  )
  if (row?.lowest === null || row?.lowest === undefined) return null
  return { from: BigInt(String(row.lowest)), to: BigInt(String(row.highest)) }
}

/** The segments of a cut that are not the same on both sides. Their rows are added to what was found. */
async function findSuspects(
  tables: AcrossSources,
  cut: Cut,
  found: RowDifferences,
): Promise<SuspectSegment[]> {
  const { keys, columns } = tables
  const [left, right] = await onBothSides(tables, async side => {
    const from = rowsOf(side, hasKey(side, keys), ...cut.conditions(side))
    const select = sql`select ${cut.numberOf(side)} as segment, count(*) as n, ${side.forms.checksum(rowText(side, [...keys, ...columns]))} as checksum from ${from} group by ${cut.numberOf(side)}`
    return readSums(await side.query(select))
  })
  const numbers = [...new Set([...left.keys(), ...right.keys()])].toSorted((a, b) => a - b)
  found.segments += numbers.length
  found.rowsLeft += sumOf(left)
  found.rowsRight += sumOf(right)
  return numbers.flatMap(number => {
    const [one, other] = [left.get(number), right.get(number)]
    if (one && other && one.count === other.count && one.sum === other.sum) return []
    return [{ segment: cut.segment(number), left: one?.count ?? 0, right: other?.count ?? 0 }]
  })
}

function sumOf(sums: ReadonlyMap<number, SegmentSum>): number {
  return [...sums.values()].reduce((total, { count }) => total + count, 0)
}

/** Looks for the rows that differ in parts of the segments, where few of them do: most of their rows are the same. */
async function narrowSuspects(
  tables: AcrossSources,
  cut: Cut,
  suspects: SuspectSegment[],
  found: RowDifferences,
): Promise<SuspectSegment[]> {
  const segments = suspects.map(({ segment }) => segment)
  if (segments.length === 0 || segments.length > MAX_NARROWED_SEGMENTS) return suspects
  const narrowed = narrow(tables.keys[0]!, cut, segments)
  if (!narrowed || suspects.some(suspect => rowsIn(suspect) > MAX_SEGMENT_ROWS * 2)) return suspects
  forget(found, suspects)
  return findSuspects(tables, narrowed, found)
}

/** Cuts segments with many rows until none has too many, or none can be cut. */
async function cutAgain(
  tables: AcrossSources,
  suspects: readonly SuspectSegment[],
  found: RowDifferences,
): Promise<SuspectSegment[]> {
  const small: SuspectSegment[] = []
  for (const suspect of suspects) {
    const { segment } = suspect
    const rows = rowsIn(suspect)
    const canBeCut = 'from' in segment && segment.to - segment.from > 1n
    if (rows <= MAX_SEGMENT_ROWS * 2 || !canBeCut) {
      small.push(suspect)
      continue
    }
    const wanted = Math.min(MAX_SEGMENTS, Math.max(MIN_SEGMENTS, Math.ceil(rows / MAX_SEGMENT_ROWS)))
    const cut = cutRange(tables.keys[0]!, segment, wanted)
    forget(found, [suspect])
    small.push(...(await cutAgain(tables, await findSuspects(tables, cut, found), found)))
  }
  return small
}

/** Takes out the rows of segments that are counted anew, since there may be more or fewer by then. */
function forget(found: RowDifferences, suspects: readonly SuspectSegment[]): void {
  for (const { left, right } of suspects) {
    found.rowsLeft -= left
    found.rowsRight -= right
  }
}

/** Segments that are fetched by one statement. */
function batchesOf(suspects: readonly SuspectSegment[]): SuspectSegment[][] {
  const batches: { segments: SuspectSegment[]; rows: number }[] = []
  for (const suspect of suspects) {
    const { segment } = suspect
    const rows = rowsIn(suspect)
    const most = 'slot' in segment ? MAX_FETCHED_ROWS.slots : MAX_FETCHED_ROWS.ranges
    const last = batches.at(-1)
    const mostSegments = 'slot' in segment ? Infinity : MAX_FETCHED_SEGMENTS
    if (last && last.rows + rows <= most && last.segments.length < mostSegments) {
      last.segments.push(suspect)
      last.rows += rows
    } else batches.push({ segments: [suspect], rows })
  }
  return batches.map(({ segments }) => segments)
}

interface Collected {
  found: RowDifferences
  /** The rows that are not the same, as many as are shown or looked at again, by their keys. */
  kept: Map<string, DifferingRow>
}

/** Fetches the rows of some segments and compares them by their keys. */
async function compareSegments(
  tables: AcrossSources,
  suspects: readonly SuspectSegment[],
  { found, kept }: Collected,
): Promise<void> {
  const { keys } = tables
  const segments = suspects.map(({ segment }) => segment)
  forget(found, suspects)
  await fetchParts(tables, segments, {
    condition: (side, parts) => sql`${hasKey(side, keys)} and ${withinSegments(side, keys, parts)}`,
    halve: halveSegment,
    take(left, right) {
      found.rowsFetched += left.size + right.size
      found.rowsLeft += left.size
      found.rowsRight += right.size
      for (const row of differencesOf(tables, left, right)) {
        count(found, row, 1)
        if (kept.size < MAX_RECHECKED_ROWS) kept.set(keyText(keys, row.key), row)
      }
    },
  })
}
