/** Rows of two sources that were fetched, and how they differ by their values. */
import { tablePath } from '../../connectors/catalog.ts'
import type { Row } from '../../connectors/connector.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { RESULT_TOO_LARGE } from '../../connectors/session.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import type { ColumnPair } from './pairs.ts'
import { readText, repeatedKeyError, type DifferingRow, type RowDifferences } from './result.ts'
import { rowsOf, textOf, type Side } from './sides.ts'
import { differs, plainKey } from './values.ts'

/** Two tables of two sources, and what is compared of them. */
export interface AcrossSources {
  left: Side
  right: Side
  keys: readonly ColumnPair[]
  columns: readonly ColumnPair[]
  /** Rows to show. */
  sampleLimit: number
}

/**
 * Rows by the texts of their keys, which are equal for equal keys. They stay as the connector gave them, with the key in
 * `k0`, `k1` … and the values in `v0`, `v1` …: a copy would double what a comparison keeps in memory.
 */
export type FetchedRows = ReadonlyMap<string, Row>

/** Asks both sides at once. */
export async function onBothSides<T>(
  { left, right }: Pick<AcrossSources, 'left' | 'right'>,
  ask: (side: Side) => Promise<T>,
): Promise<[T, T]> {
  return Promise.all([ask(left), ask(right)])
}

/** A text of a key, equal for equal keys. */
export function keyText(keys: readonly ColumnPair[], key: readonly string[]): string {
  const plain = keys.map((pair, place) => plainKey(pair, key[place]!))
  return plain.length === 1 ? plain[0]! : JSON.stringify(plain)
}

/** The rows of a table for which a condition holds. @throws RepeatedKeyError */
async function fetchRows({ keys, columns }: AcrossSources, side: Side, condition: Sql): Promise<FetchedRows> {
  const outputs = [
    ...keys.map((pair, place) => sql`${textOf(side, pair)} as ${raw(`k${place}`)}`),
    ...columns.map((pair, place) => sql`${textOf(side, pair)} as ${raw(`v${place}`)}`),
  ]
  const rows = await side.query(sql`select ${join(outputs)} from ${rowsOf(side, condition)}`)
  const byKey = new Map<string, Row>()
  for (const row of rows) {
    const text = keyText(keys, readKey(row, keys))
    if (byKey.has(text)) throw repeatedKeyError(side.name, tablePath(side.table), keys, null)
    byKey.set(text, row)
  }
  return byKey
}

function readKey(row: Row, keys: readonly ColumnPair[]): string[] {
  return keys.map((_, place) => String(row[`k${place}`]))
}

/** How many characters rows have; what is no text counts as eight. */
export function charactersOf(rows: FetchedRows): number {
  let characters = 0
  for (const row of rows.values())
    for (const name in row) {
      const value = row[name]
      characters += typeof value === 'string' ? value.length : 8
    }
  return characters
}

/**
 * Fetches some parts of both tables, and hands them over: all at once, or fewer where rows are too wide for one result.
 * @param condition holds for the rows of some parts
 * @param partsOf what the only part that is left is cut into; nothing where it cannot be cut
 */
export async function fetchParts<Part>(
  tables: AcrossSources,
  parts: readonly Part[],
  handlers: {
    condition(side: Side, parts: readonly Part[]): Sql
    partsOf(part: Part): Part[]
    take(left: FetchedRows, right: FetchedRows): void
  },
): Promise<void> {
  const { condition, partsOf, take } = handlers
  const rows = await onBothSides(tables, side => fetchRows(tables, side, condition(side, parts))).catch(
    (error: unknown) => {
      if (error instanceof ConnectorError && error.code === RESULT_TOO_LARGE) return error
      throw error
    },
  )
  if (!(rows instanceof ConnectorError)) return take(...rows)
  const smaller = parts.length > 1 ? parts : partsOf(parts[0]!)
  if (smaller.length === 0) throw rows
  const middle = Math.ceil(smaller.length / 2)
  for (const half of [smaller.slice(0, middle), smaller.slice(middle)])
    await fetchParts(tables, half, handlers)
}

/** The rows that are not the same: of two tables, or of the same parts of them. */
export function* differencesOf(
  { keys, columns }: Pick<AcrossSources, 'keys' | 'columns'>,
  left: FetchedRows,
  right: FetchedRows,
): Generator<DifferingRow> {
  for (const [text, row] of left) {
    const other = right.get(text)
    if (!other) {
      yield { key: readKey(row, keys), kind: 'only_left' }
      continue
    }
    const differing = columns.flatMap((pair, place) => {
      const [one, two] = [readText(row[`v${place}`]), readText(other[`v${place}`])]
      return differs(pair, one, two) ? [{ column: pair.left.name, left: one, right: two }] : []
    })
    if (differing.length > 0) yield { key: readKey(row, keys), kind: 'differs', values: differing }
  }
  for (const [text, row] of right) if (!left.has(text)) yield { key: readKey(row, keys), kind: 'only_right' }
}

/** Adds a row to what was found, or takes it out again. */
export function count(found: RowDifferences, { kind, values = [] }: DifferingRow, by: 1 | -1): void {
  if (kind === 'only_left') found.onlyLeft += by
  else if (kind === 'only_right') found.onlyRight += by
  else found.differing += by
  for (const { column } of values) found.byColumn[column]! += by
}
