/** One statement for many parts of a table: a SELECT of each. */
import type { Row, TablePart, Value } from '../../connectors/connector.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import type { PartMeasures } from './mergeable.ts'
import type { KeptNumber } from './states.ts'

/** Parts of one statement: PostgreSQL locks each, and plans each by itself. */
const MAX_PARTS_PER_STATEMENT = 100

/**
 * Estimated rows of one statement of several parts. PostgreSQL compiles the expressions of each SELECT, in each of its
 * workers, once the cost of all of them is high: with 60 parts of 500,000 rows and 90 expressions in one statement that took
 * four times as long as the table did at once.
 */
const MAX_ROWS_PER_STATEMENT = 2_000_000

/** The output column with the place of a part in its statement. */
const PLACE_COLUMN = 'p'

/** A statement that reads some numbers of some parts. */
export interface PartsStatement<Part extends TablePart = TablePart> {
  select: Sql
  parts: readonly Part[]
  keys: readonly string[]
}

/** The statements that read some numbers of some parts, each of them once. */
export function writePartStatements<Part extends TablePart>(
  { keys, parts }: { keys: readonly string[]; parts: readonly Part[] },
  measures: PartMeasures,
  dialect: Dialect,
): PartsStatement<Part>[] {
  const statements: PartsStatement<Part>[] = []
  for (const some of splitKeys(keys, measures, dialect)) {
    const values = some.reduce((sum, key) => sum + measures.get(key)!.values.length, 0)
    const most = Math.min(MAX_PARTS_PER_STATEMENT, Math.floor(dialect.limits.values / Math.max(1, values)))
    const outputs = join(
      some.map((key, place) => sql`${measures.get(key)!} as ${dialect.quote(`m${place}`)}`),
    )
    for (const together of splitParts(parts, Math.max(1, most))) {
      const selects = together.map(
        (part, place) =>
          sql`select ${raw(String(place))} as ${dialect.quote(PLACE_COLUMN)}, ${outputs} from ${part.from}`,
      )
      statements.push({ select: join(selects, ' union all '), parts: together, keys: some })
    }
  }
  return statements
}

/** Parts in their order, so many at once, and no more rows than are well read at once. */
function splitParts<Part extends TablePart>(parts: readonly Part[], most: number): Part[][] {
  const groups: Part[][] = []
  let rows = 0
  for (const part of parts) {
    const last = groups.at(-1)
    rows += part.rows ?? 0
    if (last && last.length < most && rows <= MAX_ROWS_PER_STATEMENT) last.push(part)
    else {
      groups.push([part])
      rows = part.rows ?? 0
    }
  }
  return groups
}

/** No more numbers at once than the engine takes in output columns and bound values. */
function splitKeys(keys: readonly string[], measures: PartMeasures, { limits }: Dialect): string[][] {
  const groups: string[][] = []
  let values = 0
  for (const key of keys) {
    const own = measures.get(key)!.values.length
    const last = groups.at(-1)
    if (last && last.length + 2 <= limits.columns && values + own <= limits.values) {
      last.push(key)
      values += own
    } else {
      groups.push([key])
      values = own
    }
  }
  return groups
}

/** The numbers of each part of a statement, from its rows. @throws Error for a part without a row */
export function readPartNumbers<Part extends TablePart>(
  { parts, keys }: PartsStatement<Part>,
  rows: readonly Row[],
): Map<Part, Record<string, KeptNumber['value']>> {
  const byPlace = new Map(rows.map(row => [Number(row[PLACE_COLUMN]), row]))
  return new Map(
    parts.map((part, place) => {
      const row = byPlace.get(place)
      const numbers = keys.map((key, index) => {
        const value = row?.[`m${index}`]
        if (value === undefined) throw new Error(`the engine gave no numbers of the part ${part.name}`)
        return [key, keepable(value)] as const
      })
      return [part, Object.fromEntries(numbers)]
    }),
  )
}

/** What JSON can keep. What is no finite number stays one that merges with nothing. */
function keepable(value: Value): KeptNumber['value'] {
  if (value === null || typeof value === 'string') return value
  return typeof value === 'number' && Number.isFinite(value) ? value : String(value)
}
