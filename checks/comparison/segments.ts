/** How the rows of two tables are cut into parts that both sides can find by the key alone. */
import type { Row } from '../../connectors/connector.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import type { ColumnPair } from './pairs.ts'
import { columnOf, rowText, type Side } from './sides.ts'

/** A part of the rows: integers of the key from `from` up to `to`, without it, or the rows of one slot. */
export type Segment = { from: bigint; to: bigint } | { slot: number }

/** A cut of rows: the number of each row's part, and the part of a number. */
export interface Cut {
  /** The integers of the key that are cut, and how many a part has; absent where rows are cut by a hash. */
  range?: { from: bigint; to: bigint; width: bigint }
  numberOf(side: Side): Sql
  segment(number: number): Segment
  /** Conditions for the rows that are cut. */
  conditions(side: Side): Sql[]
}

/** Slots that a text can be in, by its hash. */
export const SLOTS = 4096

/** Cuts integers into ranges of equal width. @param count at most so many; there may be one less */
export function cutRange(key: ColumnPair, { from, to }: { from: bigint; to: bigint }, count: number): Cut {
  const least = (to - from + BigInt(count) - 1n) / BigInt(count)
  // So that a part can be narrowed to parts that do not reach beyond it.
  const width = least < PARTS ? least : ((least + PARTS - 1n) / PARTS) * PARTS
  return cutEvery(key, { from, to, width })
}

function cutEvery(key: ColumnPair, range: { from: bigint; to: bigint; width: bigint }): Cut {
  const { from, to, width } = range
  return {
    range,
    numberOf: side => side.forms.steps(columnOf(side, key), from, width),
    segment: number => {
      const start = from + BigInt(number) * width
      return { from: start, to: start + width < to ? start + width : to }
    },
    conditions: side => [conditionOf(side, [key], { from, to })],
  }
}

/** Parts that a segment is narrowed to. */
const PARTS = 32n

/** Cuts some segments of a cut into smaller ones; null where they cannot be cut. */
export function narrow(key: ColumnPair, { range }: Cut, segments: readonly Segment[]): Cut | null {
  if (!range || range.width < PARTS) return null
  const { from, to } = range
  const width = range.width / PARTS
  return {
    ...cutEvery(key, { from, to, width }),
    conditions: side => [withinSegments(side, [key], segments)],
  }
}

/** Cuts rows by the hash of their key. */
export function cutSlots(keys: readonly ColumnPair[]): Cut {
  return {
    numberOf: side => side.forms.slot(rowText(side, keys)),
    segment: slot => ({ slot }),
    conditions: () => [],
  }
}

/** The halves of a range; null of what cannot be cut. */
export function halveSegment(segment: Segment): [Segment, Segment] | null {
  if ('slot' in segment || segment.to - segment.from < 2n) return null
  const middle = (segment.from + segment.to) / 2n
  return [
    { from: segment.from, to: middle },
    { from: middle, to: segment.to },
  ]
}

/** Holds for the rows of a segment. */
function conditionOf(side: Side, keys: readonly ColumnPair[], segment: Segment): Sql {
  if ('slot' in segment) return sql`${side.forms.slot(rowText(side, keys))} = ${raw(String(segment.slot))}`
  const column = columnOf(side, keys[0]!)
  return sql`${column} >= ${raw(String(segment.from))} and ${column} < ${raw(String(segment.to))}`
}

/** Holds for the rows of some segments; those that follow each other are one range. */
export function withinSegments(side: Side, keys: readonly ColumnPair[], segments: readonly Segment[]): Sql {
  const slots = segments.flatMap(segment => ('slot' in segment ? [segment.slot] : []))
  if (slots.length > 0) return sql`${side.forms.slot(rowText(side, keys))} in (${raw(slots.join(', '))})`
  const ranges: { from: bigint; to: bigint }[] = []
  for (const segment of segments) {
    if ('slot' in segment) continue
    const last = ranges.at(-1)
    if (last && last.to === segment.from) last.to = segment.to
    else ranges.push({ ...segment })
  }
  return sql`(${join(
    ranges.map(range => sql`(${conditionOf(side, keys, range)})`),
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
