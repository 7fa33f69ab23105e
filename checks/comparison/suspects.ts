/** Finds the parts of two tables whose checksums differ, cuts them until they are small, and compares their rows. */
import { sql } from '../../connectors/sql.ts'
import {
  count,
  differencesOf,
  fetchParts,
  keyText,
  onBothSides,
  charactersOf,
  type AcrossSources,
} from './fetched-rows.ts'
import { MAX_RECHECKED_ROWS } from './late-rows.ts'
import type { DifferingRow, RowDifferences } from './result.ts'
import {
  cutRange,
  cutSlots,
  MAX_DIGITS,
  narrowRanges,
  narrowSlots,
  partsOf,
  partsOfSlot,
  readSums,
  withinSegments,
  type Cut,
  type KeyRange,
  type Segment,
  type SegmentSum,
} from './segments.ts'
import { hasKey, rowsOf, rowText } from './sides.ts'

/** A range is cut again while it has more than twice as many rows. */
const MAX_RANGE_ROWS = 2_000
const MIN_RANGES = 32
const MAX_RANGES = 8_192
/** More ranges than these are fetched as they are: with many that differ, hardly any part would be the same. */
const MAX_NARROWED_RANGES = 64
/** Rows that one statement fetches at most, if no part alone has more: by an index, or by reading all rows. */
const MAX_FETCHED_ROWS = { indexed: 5_000, other: 30_000 }
/** Rows of the first statement, before it is known how wide they are. */
const MAX_FIRST_ROWS = 10_000
/** Characters that one statement is to fetch of a side. */
const MAX_FETCHED_CHARACTERS = 4_000_000
/** Parts that one condition names: a range is a condition of its own, a slot a number of a list. */
const MAX_NAMED = { ranges: 200, slots: 8_000 }
/** Parts whose checksums one statement returns at most. */
const MAX_SUMS = 100_000

/** A comparison that runs. */
export interface Progress {
  tables: AcrossSources
  /** Whether an index finds ranges of the first column of the key on both sides. */
  isIndexed: boolean
  found: RowDifferences
  /** The rows that are not the same, as many as are shown or looked at again, by their keys. */
  kept: Map<string, DifferingRow>
  /** What was fetched until now of one side. */
  fetched: { rows: number; characters: number }
}

/** A segment whose checksums differ, with how many rows it had on each side. */
interface SuspectSegment {
  segment: Segment
  left: number
  right: number
}

const rowsIn = ({ left, right }: SuspectSegment): number => Math.max(left, right)

const totalOf = (suspects: readonly SuspectSegment[]): number =>
  suspects.reduce((total, suspect) => total + rowsIn(suspect), 0)

/** How many ranges so many rows are cut into. */
export function countOfRanges(rows: number): number {
  return Math.min(MAX_RANGES, Math.max(MIN_RANGES, Math.ceil(rows / MAX_RANGE_ROWS)))
}

/** Compares the rows of a range of integers that the key begins with. @throws RepeatedKeyError */
export async function compareRanges(progress: Progress, range: KeyRange, cut: Cut): Promise<void> {
  const { found, tables } = progress
  let suspects = await findSuspects(progress, cut)
  const isFew = suspects.length > 0 && suspects.length <= MAX_NARROWED_RANGES
  if (isFew && suspects.every(suspect => !isLarge(suspect))) {
    const segments = suspects.map(({ segment }) => segment)
    const narrowed = narrowRanges(tables.keys[0]!, range, cut, segments)
    if (narrowed) {
      forget(found, suspects)
      suspects = await findSuspects(progress, narrowed)
    }
  }
  await fetchAll(
    progress,
    suspects.filter(suspect => !isLarge(suspect)),
  )
  for (const suspect of suspects.filter(isLarge)) {
    forget(found, [suspect])
    await cutAgain(progress, suspect)
  }
}

const isLarge = (suspect: SuspectSegment): boolean => rowsIn(suspect) > MAX_RANGE_ROWS * 2

/** Compares a range with many rows: in smaller ranges, or where all keys begin with the same integer, by their hash. */
async function cutAgain(progress: Progress, suspect: SuspectSegment): Promise<void> {
  const { keys } = progress.tables
  const range = suspect.segment.range!
  if (range.to - range.from > 1n)
    await compareRanges(progress, range, cutRange(keys[0]!, range, countOfRanges(rowsIn(suspect))))
  else await compareSlots(progress, cutSlots(keys, range))
}

/** Compares rows by the hash of their key. @throws RepeatedKeyError */
export async function compareSlots(progress: Progress, cut: Cut): Promise<void> {
  await narrowAll(progress, await findSuspects(progress, cut))
}

/**
 * Fetches slots whose rows are few, and cuts others deeper: every statement reads all rows to find those of a slot, so that
 * one that fetches many rows of which few differ costs more than one that sums them up.
 */
async function narrowAll(progress: Progress, suspects: readonly SuspectSegment[]): Promise<void> {
  const { tables, found } = progress
  let differing: SuspectSegment[] = []
  let mostlyDiffer = false
  for (const batch of windowsOf(suspects)) {
    const rows = totalOf(batch)
    const { slot } = batch[0]!.segment
    if (mostlyDiffer || rows <= MAX_FETCHED_ROWS.other || slot?.digits === MAX_DIGITS) {
      await fetchAll(progress, batch)
      continue
    }
    const { rowsLeft, rowsRight } = found
    forget(found, batch)
    const segments = batch.map(({ segment }) => segment)
    const smaller = await findSuspects(progress, narrowSlots(tables.keys, segments))
    if (totalOf(smaller) <= rows / 2) differing.push(...smaller)
    else {
      mostlyDiffer = true
      Object.assign(found, { rowsLeft, rowsRight })
      await fetchAll(progress, batch)
    }
    // So that there are never more than a statement can name and sum up.
    if (differing.length > MAX_NAMED.slots) {
      await narrowAll(progress, differing)
      differing = []
    }
  }
  if (differing.length > 0) await narrowAll(progress, differing)
}

/** Slots of which one statement can return the checksums of all parts. */
function windowsOf(suspects: readonly SuspectSegment[]): SuspectSegment[][] {
  return batchesOf(suspects, suspect => Math.min(rowsIn(suspect), partsOfSlot(suspect.segment.slot!)), {
    most: MAX_SUMS,
    named: MAX_NAMED.slots,
  })
}

/** Follows a list in batches of a sum that is at most `most`, if no item alone has more, and of at most `named` items. */
function batchesOf<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  { most, named }: { most: number; named: number },
): Item[][] {
  const batches: Item[][] = []
  let size = 0
  for (const item of items) {
    const last = batches.at(-1)
    size += sizeOf(item)
    if (last && size <= most && last.length < named) last.push(item)
    else {
      batches.push([item])
      size = sizeOf(item)
    }
  }
  return batches
}

/** The segments of a cut that are not the same on both sides. Their rows are added to what was found. */
async function findSuspects({ tables, found }: Progress, cut: Cut): Promise<SuspectSegment[]> {
  const { keys, columns } = tables
  const [left, right] = await onBothSides(tables, async side => {
    const from = rowsOf(side, hasKey(side, keys), ...(cut.condition ? [cut.condition(side)] : []))
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

/** Takes out the rows of segments that are counted anew, since there may be more or fewer by then. */
function forget(found: RowDifferences, suspects: readonly SuspectSegment[]): void {
  for (const { left, right } of suspects) {
    found.rowsLeft -= left
    found.rowsRight -= right
  }
}

/** Fetches the rows of segments of one cut and compares them by their keys, with as many statements as memory wants. */
async function fetchAll(progress: Progress, suspects: readonly SuspectSegment[]): Promise<void> {
  const hasSlots = suspects[0]?.segment.slot !== undefined
  const isIndexed = progress.isIndexed && !hasSlots
  const mostRows = isIndexed ? MAX_FETCHED_ROWS.indexed : MAX_FETCHED_ROWS.other
  const named = hasSlots ? MAX_NAMED.slots : MAX_NAMED.ranges
  for (let at = 0; at < suspects.length;) {
    const { rows, characters } = progress.fetched
    const fitting = rows === 0 ? MAX_FIRST_ROWS : (MAX_FETCHED_CHARACTERS * rows) / Math.max(characters, 1)
    const most = Math.min(mostRows, fitting)
    const [batch = []] = batchesOf(suspects.slice(at, at + named), rowsIn, { most, named })
    await compareSegments(progress, batch)
    at += batch.length
  }
}

/** Fetches the rows of some segments and compares them by their keys. */
async function compareSegments(progress: Progress, suspects: readonly SuspectSegment[]): Promise<void> {
  const { tables, found, kept, fetched } = progress
  const { keys } = tables
  forget(found, suspects)
  await fetchParts(
    tables,
    suspects.map(({ segment }) => segment),
    {
      condition: (side, parts) => sql`${hasKey(side, keys)} and ${withinSegments(side, keys, parts)}`,
      partsOf,
      take(left, right) {
        found.rowsFetched += left.size + right.size
        found.rowsLeft += left.size
        found.rowsRight += right.size
        for (const rows of [left, right]) {
          fetched.rows += rows.size
          fetched.characters += charactersOf(rows)
        }
        for (const row of differencesOf(tables, left, right)) {
          count(found, row, 1)
          if (kept.size < MAX_RECHECKED_ROWS) kept.set(keyText(keys, row.key), row)
        }
      },
    },
  )
}
