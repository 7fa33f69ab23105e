/** Looks at rows that are not the same once more, since tables may change while they are compared. */
import type { Row } from '../../connectors/connector.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import { count, differencesOf, fetchParts, keyText, type AcrossSources } from './fetched-rows.ts'
import type { ColumnPair } from './pairs.ts'
import type { DifferingRow, RowDifferences } from './result.ts'
import { columnOf, textOf, type Side } from './sides.ts'

/** So many rows that differ are looked at once more: where there are more, a few late rows are not what is wrong. */
export const MAX_RECHECKED_ROWS = 1_000
/** Keys that one condition names. */
const MAX_KEYS = 200

/**
 * Fetches the rows that are not the same once more, by their keys: what is the same now does not count. Rows that a check
 * with a window compares are as old as its delay by then, and others were read a while ago, so that nothing is waited for.
 * @param kept all rows that are not the same, by the texts of their keys
 */
export async function lookAgain(
  tables: AcrossSources,
  found: RowDifferences,
  kept: Map<string, DifferingRow>,
): Promise<void> {
  if (kept.size === 0 || kept.size >= MAX_RECHECKED_ROWS) return
  const { keys } = tables
  const before = [...kept].map(([text, row]) => ({ text, row }))
  const most = Math.min(
    MAX_KEYS,
    ...[tables.left, tables.right].map(({ dialect }) => mostKeys(dialect.limits.values, keys)),
  )
  for (let at = 0; at < before.length; at += most) {
    const asked = before.slice(at, at + most)
    const [left, right] = [new Map<string, Row>(), new Map<string, Row>()]
    await fetchParts(tables, asked, {
      condition: (side, parts) =>
        keyCondition(
          side,
          keys,
          parts.map(({ row }) => row.key),
        ),
      partsOf: () => [],
      take(ofLeft, ofRight) {
        found.rowsFetched += ofLeft.size + ofRight.size
        for (const [text, row] of ofLeft) left.set(text, row)
        for (const [text, row] of ofRight) right.set(text, row)
      },
    })
    const now = new Map<string, DifferingRow>()
    for (const row of differencesOf(tables, left, right)) now.set(keyText(keys, row.key), row)
    for (const { text, row } of asked) {
      found.rowsLeft += Number(left.has(text)) - Number(row.kind !== 'only_right')
      found.rowsRight += Number(right.has(text)) - Number(row.kind !== 'only_left')
      count(found, row, -1)
      const still = now.get(text)
      if (still) count(found, still, 1)
      if (still) kept.set(text, still)
      else kept.delete(text)
    }
  }
}

const mostKeys = (values: number, keys: readonly ColumnPair[]) =>
  Math.max(1, Math.floor(values / keys.length))

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
