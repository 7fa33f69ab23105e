/** How the rows of two tables are cut into parts that both sides can find by the key alone. */
import type { Row } from '../../connectors/connector.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import type { ColumnPair } from './pairs.ts'
import { columnOf, rowText, type Side } from './sides.ts'

/** Integers of the first column of the key, from `from` up to `to`, without it. */
export interface KeyRange {
  from: bigint
  to: bigint
}

/** The rows whose key has an MD5 that begins with so many hexadecimal digits, which are a number. */
export interface Slot {
  number: number
  digits: number
}

/** A part of the rows: a range, a slot, or the rows of a range that are in a slot. */
export interface Segment {
  range?: KeyRange
  slot?: Slot
}

/** A cut of rows: the number of each row's part, and the part of a number. */
export interface Cut {
  /** How many integers a part has; absent where rows are cut by a hash. */
  width?: bigint
  numberOf(side: Side): Sql
  segment(number: number): Segment
  /** Holds for the rows that are cut; absent where all are. */
  condition?(side: Side): Sql
}

/** Cuts integers into ranges of equal width. @param count at most so many; there may be one less */
export function cutRange(key: ColumnPair, range: KeyRange, count: number): Cut {
  const least = (range.to - range.from + BigInt(count) - 1n) / BigInt(count)
  // So that a part can be narrowed to parts that do not reach beyond it.
  const width = least < PARTS ? least : ((least + PARTS - 1n) / PARTS) * PARTS
  return { ...cutEvery(key, range, width), condition: side => rangeCondition(side, key, range) }
}

function cutEvery(key: ColumnPair, { from, to }: KeyRange, width: bigint): Cut {
  return {
    width,
    numberOf: side => side.forms.steps(columnOf(side, key), from, width),
    segment: number => {
      const start = from + BigInt(number) * width
      return { range: { from: start, to: start + width < to ? start + width : to } }
    },
  }
}

/** Parts that a range is narrowed to. */
const PARTS = 32n

/** Cuts some ranges of a cut of a range into smaller ones; null where they cannot be cut. */
export function narrowRanges(
  key: ColumnPair,
  range: KeyRange,
  { width }: Cut,
  segments: readonly Segment[],
): Cut | null {
  if (width === undefined || width < PARTS) return null
  return {
    ...cutEvery(key, range, width / PARTS),
    condition: side => withinSegments(side, [key], segments),
  }
}

/** Digits of the first cut by a hash, which then has 4,096 parts. */
export const FIRST_DIGITS = 3
/** Digits that a part is cut deeper by at once. */
const MORE_DIGITS = 2
/** Engines find a number of more digits too large. */
export const MAX_DIGITS = 7

/** Parts that a slot is cut into. */
export const partsOfSlot = ({ digits }: Slot): number => 16 ** (deeper(digits) - digits)

const deeper = (digits: number): number => Math.min(MAX_DIGITS, digits + MORE_DIGITS)

/** Cuts rows by the hash of their key: all, or those of a range. */
export function cutSlots(keys: readonly ColumnPair[], range?: KeyRange): Cut {
  return cutByHash(keys, FIRST_DIGITS, range && { range })
}

function cutByHash(keys: readonly ColumnPair[], digits: number, { range }: Segment = {}): Cut {
  return {
    numberOf: side => slotOf(side, keys, digits),
    segment: number => ({ ...(range && { range }), slot: { number, digits } }),
    ...(range && { condition: side => rangeCondition(side, keys[0]!, range) }),
  }
}

/** Cuts slots of one cut into smaller ones. */
export function narrowSlots(keys: readonly ColumnPair[], segments: readonly Segment[]): Cut {
  const { range, slot } = segments[0]!
  return {
    ...cutByHash(keys, deeper(slot?.digits ?? 0), range && { range }),
    condition: side => withinSegments(side, keys, segments),
  }
}

/** The parts of a segment, whichever of them have rows: halves of a range, slots of one that cannot be halved; none of what cannot be cut. */
export function partsOf({ range, slot }: Segment): Segment[] {
  if (range && !slot && range.to - range.from > 1n) {
    const middle = (range.from + range.to) / 2n
    return [{ range: { from: range.from, to: middle } }, { range: { from: middle, to: range.to } }]
  }
  const { number, digits } = slot ?? { number: 0, digits: 0 }
  if (digits >= MAX_DIGITS) return []
  return Array.from({ length: 16 }, (_, digit) => ({
    ...(range && { range }),
    slot: { number: number * 16 + digit, digits: digits + 1 },
  }))
}

const slotOf = (side: Side, keys: readonly ColumnPair[], digits: number): Sql =>
  side.forms.slot(rowText(side, keys), digits)

function rangeCondition(side: Side, key: ColumnPair, { from, to }: KeyRange): Sql {
  const column = columnOf(side, key)
  return sql`${column} >= ${raw(String(from))} and ${column} < ${raw(String(to))}`
}

/** Holds for the rows of some segments: ranges, of which those that follow each other are one, or slots of one cut. */
export function withinSegments(side: Side, keys: readonly ColumnPair[], segments: readonly Segment[]): Sql {
  const { range: shared, slot } = segments[0]!
  if (slot) {
    const numbers = segments.flatMap(segment => segment.slot?.number ?? [])
    const isIn = sql`${slotOf(side, keys, slot.digits)} in (${raw(numbers.join(', '))})`
    return shared ? sql`${rangeCondition(side, keys[0]!, shared)} and ${isIn}` : isIn
  }
  const ranges: KeyRange[] = []
  for (const { range } of segments) {
    if (!range) continue
    const last = ranges.at(-1)
    if (last && last.to === range.from) last.to = range.to
    else ranges.push({ ...range })
  }
  return sql`(${join(
    ranges.map(range => sql`(${rangeCondition(side, keys[0]!, range)})`),
    ' or ',
  )})`
}

/** How many rows a segment has, and the sum of their checksums. */
export interface SegmentSum {
  count: number
  sum: string
}

export function readSums(rows: readonly Row[]): Map<number, SegmentSum> {
  return new Map(
    rows.map(row => [Number(row.segment), { count: Number(row.n), sum: plainSum(row.checksum) }] as const),
  )
}

/** Engines give a large whole number as a number, or as a text with or without a fraction of zeros. */
function plainSum(value: Row[string] | undefined): string {
  return String(value).replace(/\.0*$/, '')
}
