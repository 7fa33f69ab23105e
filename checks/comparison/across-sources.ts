/**
 * Compares the rows of two tables of two sources: a checksum of each part of the key's range on both sides, then the rows of
 * the parts whose checksums differ. Checksums only spare work: whether rows are equal is decided by their values, unless
 * all that a part has is the same.
 */
import { tablePath } from '../../connectors/catalog.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { RESULT_TOO_LARGE } from '../../connectors/session.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import { countWithoutKey } from './on-one-source.ts'
import type { ColumnPair } from './pairs.ts'
import { readText, repeatedKeyError, type DifferingRow, type RowDifferences } from './result.ts'
import {
  cutRange,
  cutSlots,
  readSums,
  withinSegments,
  type Cut,
  type Segment,
  type SegmentSum,
} from './segments.ts'
import { columnOf, hasKey, rowsOf, rowText, textOf, type Side } from './sides.ts'
import { differs, plainKey } from './values.ts'

interface AcrossSources {
  left: Side
  right: Side
  keys: readonly ColumnPair[]
  columns: readonly ColumnPair[]
  sampleLimit: number
  /** Waits before what differs is looked at once more. */
  waitForLateRows(): Promise<void>
}

/** A segment is cut again while it has more rows than this. */
const MAX_SEGMENT_ROWS = 2_000
/** Rows that one statement fetches at most, if no segment alone has more; by ranges and by hashes, which read all rows. */
const MAX_FETCHED_ROWS = { ranges: 20_000, slots: 200_000 }
const MIN_SEGMENTS = 32
const MAX_SEGMENTS = 8_192
/** Segments that one condition names. */
const MAX_FETCHED_SEGMENTS = 200
/** So many rows that differ are looked at once more. */
const MAX_RECHECKED_ROWS = 1_000

/** A segment whose checksums differ, with the larger number of rows of the two sides. */
interface SuspectSegment {
  segment: Segment
  rows: number
}

type Values = (string | null)[]

/** @throws RepeatedKeyError where two rows of one table with the same key are met */
export async function compareAcrossSources(tables: AcrossSources): Promise<RowDifferences> {
  const { keys, columns } = tables
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
  const suspects = await findSuspects(tables, cut, found, true)
  const kept = new Map<string, DifferingRow>()
  for (const batch of batchesOf(await cutAgain(tables, suspects, found)))
    await compareSegments(tables, batch, { found, kept })
  await lookAgain(tables, found, kept)
  found.samples = [...kept.values()].slice(0, tables.sampleLimit)
  return found
}

async function onBothSides<T>(
  { left, right }: AcrossSources,
  ask: (side: Side) => Promise<T>,
): Promise<[T, T]> {
  return Promise.all([ask(left), ask(right)])
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

/** The segments of a cut that are not the same on both sides. @param isFirst whether its rows have not been counted yet */
async function findSuspects(
  tables: AcrossSources,
  cut: Cut,
  found: RowDifferences,
  isFirst: boolean,
): Promise<SuspectSegment[]> {
  const { keys, columns } = tables
  const [left, right] = await onBothSides(tables, async side => {
    const from = rowsOf(side, hasKey(side, keys), ...cut.conditions(side))
    const select = sql`select ${cut.numberOf(side)} as segment, count(*) as n, ${side.forms.checksum(rowText(side, [...keys, ...columns]))} as checksum from ${from} group by ${cut.numberOf(side)}`
    return readSums(await side.query(select))
  })
  const numbers = [...new Set([...left.keys(), ...right.keys()])].toSorted((a, b) => a - b)
  found.segments += numbers.length
  if (isFirst) {
    found.rowsLeft += sumOf(left)
    found.rowsRight += sumOf(right)
  }
  return numbers.flatMap(number => {
    const [one, other] = [left.get(number), right.get(number)]
    if (one && other && one.count === other.count && one.sum === other.sum) return []
    return [{ segment: cut.segment(number), rows: Math.max(one?.count ?? 0, other?.count ?? 0) }]
  })
}

function sumOf(sums: ReadonlyMap<number, SegmentSum>): number {
  return [...sums.values()].reduce((total, { count }) => total + count, 0)
}

/** Cuts segments with many rows until none has too many, or none can be cut. */
async function cutAgain(
  tables: AcrossSources,
  suspects: readonly SuspectSegment[],
  found: RowDifferences,
): Promise<SuspectSegment[]> {
  const small: SuspectSegment[] = []
  for (const suspect of suspects) {
    const { segment, rows } = suspect
    const canBeCut = 'from' in segment && segment.to - segment.from > 1n
    if (rows <= MAX_SEGMENT_ROWS * 2 || !canBeCut) {
      small.push(suspect)
      continue
    }
    const wanted = Math.min(MAX_SEGMENTS, Math.max(MIN_SEGMENTS, Math.ceil(rows / MAX_SEGMENT_ROWS)))
    const cut = cutRange(tables.keys[0]!, segment, wanted)
    small.push(...(await cutAgain(tables, await findSuspects(tables, cut, found, false), found)))
  }
  return small
}

/** Segments that are fetched by one statement. */
function batchesOf(suspects: readonly SuspectSegment[]): Segment[][] {
  const batches: { segments: Segment[]; rows: number }[] = []
  for (const { segment, rows } of suspects) {
    const most = 'slot' in segment ? MAX_FETCHED_ROWS.slots : MAX_FETCHED_ROWS.ranges
    const last = batches.at(-1)
    const mostSegments = 'slot' in segment ? Infinity : MAX_FETCHED_SEGMENTS
    if (last && last.rows + rows <= most && last.segments.length < mostSegments) {
      last.segments.push(segment)
      last.rows += rows
    } else batches.push({ segments: [segment], rows })
  }
  return batches.map(({ segments }) => segments)
}

interface Collected {
  found: RowDifferences
  /** The rows that are not the same, as many as are shown or looked at again, by their keys. */
  kept: Map<string, DifferingRow>
}

/** Fetches the rows of some segments and compares them by their keys; fewer at once where they are too wide for one result. */
async function compareSegments(
  tables: AcrossSources,
  segments: readonly Segment[],
  { found, kept }: Collected,
): Promise<void> {
  const { keys } = tables
  let fetched: [FetchedRows, FetchedRows]
  try {
    fetched = await onBothSides(tables, side =>
      fetchRows(tables, side, sql`${hasKey(side, keys)} and ${withinSegments(side, keys, segments)}`),
    )
  } catch (error) {
    const isTooLarge = error instanceof ConnectorError && error.code === RESULT_TOO_LARGE
    if (!isTooLarge || segments.length === 1) throw error
    const middle = Math.ceil(segments.length / 2)
    await compareSegments(tables, segments.slice(0, middle), { found, kept })
    return compareSegments(tables, segments.slice(middle), { found, kept })
  }
  const [left, right] = fetched
  found.rowsFetched += left.size + right.size
  for (const row of differencesOf(tables, left, right)) {
    count(found, row, 1)
    if (kept.size < MAX_RECHECKED_ROWS) kept.set(keyText(keys, row.key), row)
  }
}

function count(found: RowDifferences, { kind, values = [] }: DifferingRow, by: 1 | -1): void {
  if (kind === 'only_left') found.onlyLeft += by
  else if (kind === 'only_right') found.onlyRight += by
  else found.differing += by
  for (const { column } of values) found.byColumn[column]! += by
}

/** Equal for equal keys. */
function keyText(keys: readonly ColumnPair[], key: readonly string[]): string {
  const plain = keys.map((pair, place) => plainKey(pair, key[place]!))
  return plain.length === 1 ? plain[0]! : JSON.stringify(plain)
}

/** The rows of a table for which a condition holds: their keys and values, by the texts of their keys. */
async function fetchRows({ keys, columns }: AcrossSources, side: Side, condition: Sql): Promise<FetchedRows> {
  const outputs = [
    ...keys.map((pair, place) => sql`${textOf(side, pair)} as ${raw(`k${place}`)}`),
    ...columns.map((pair, place) => sql`${textOf(side, pair)} as ${raw(`v${place}`)}`),
  ]
  const rows = await side.query(sql`select ${join(outputs)} from ${rowsOf(side, condition)}`)
  const byKey = new Map<string, { key: string[]; values: Values }>()
  for (const row of rows) {
    const key = keys.map((_, place) => String(row[`k${place}`]))
    const text = keyText(keys, key)
    if (byKey.has(text)) throw repeatedKeyError(side.name, tablePath(side.table), keys, null)
    byKey.set(text, { key, values: columns.map((_, place) => readText(row[`v${place}`])) })
  }
  return byKey
}

type FetchedRows = ReadonlyMap<string, { key: string[]; values: Values }>

function differencesOf({ columns }: AcrossSources, left: FetchedRows, right: FetchedRows): DifferingRow[] {
  const differences: DifferingRow[] = []
  for (const [text, { key, values }] of left) {
    const other = right.get(text)
    if (!other) {
      differences.push({ key, kind: 'only_left' })
      continue
    }
    const differing = columns.flatMap((pair, place) => {
      const [one = null, two = null] = [values[place], other.values[place]]
      return differs(pair, one, two) ? [{ column: pair.left.name, left: one, right: two }] : []
    })
    if (differing.length > 0) differences.push({ key, kind: 'differs', values: differing })
  }
  for (const [text, { key }] of right) if (!left.has(text)) differences.push({ key, kind: 'only_right' })
  return differences
}

/**
 * Looks at the rows that are not the same once more, since the tables may have changed meanwhile: what is the same now does
 * not count. Left out where there are too many for that: then a few late rows are not what is wrong.
 */
async function lookAgain(
  tables: AcrossSources,
  found: RowDifferences,
  kept: Map<string, DifferingRow>,
): Promise<void> {
  const { keys } = tables
  const differing = found.onlyLeft + found.onlyRight + found.differing
  if (kept.size === 0 || kept.size >= MAX_RECHECKED_ROWS || differing === 0) return
  await tables.waitForLateRows()
  const before = [...kept.values()]
  const [left, right] = await onBothSides(tables, side =>
    fetchRows(
      tables,
      side,
      keyCondition(
        side,
        keys,
        before.map(({ key }) => key),
      ),
    ),
  )
  found.rowsFetched += left.size + right.size
  const now = new Map(differencesOf(tables, left, right).map(row => [keyText(keys, row.key), row]))
  for (const [text, row] of kept) {
    const [wasLeft, wasRight] = [row.kind !== 'only_right', row.kind !== 'only_left']
    found.rowsLeft += Number(left.has(text)) - Number(wasLeft)
    found.rowsRight += Number(right.has(text)) - Number(wasRight)
    count(found, row, -1)
    const still = now.get(text)
    if (still) {
      count(found, still, 1)
      kept.set(text, still)
    } else kept.delete(text)
  }
}

/** Holds for rows with one of some keys. */
function keyCondition(side: Side, keys: readonly ColumnPair[], wanted: readonly string[][]): Sql {
  const equals = (pair: ColumnPair, text: string) =>
    pair.family === 'number' && pair[side.name].kind === 'integer' && /^-?\d+$/.test(text)
      ? sql`${columnOf(side, pair)} = ${raw(text)}`
      : sql`${textOf(side, pair)} = ${text}`
  const each = wanted.map(
    key =>
      sql`(${join(
        keys.map((pair, place) => equals(pair, key[place]!)),
        ' and ',
      )})`,
  )
  return sql`(${join(each, ' or ')})`
}
