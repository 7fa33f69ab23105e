/** One statement for many parts of a table. */
import type { ColumnInfo } from '../../connectors/catalog.ts'
import type { Row, TablePart, Value } from '../../connectors/connector.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import type { PartMeasures } from './mergeable.ts'
import type { KeptNumber } from './states.ts'

/** Parts of one statement: PostgreSQL locks each, and plans each by itself. */
const MAX_PARTS_PER_STATEMENT = 100

/** The output column with the place of a part in its statement. */
const PLACE_COLUMN = 'tidemark_part'

/** A statement that reads some numbers of some parts. */
export interface PartsStatement<Part extends TablePart = TablePart> {
  select: Sql
  parts: readonly Part[]
  keys: readonly string[]
}

/**
 * The statements that read some numbers of some parts, each of them once. Several parts are read as one table and grouped by
 * their places: engines then share the work out between workers, and compile the expressions once. With a SELECT of each
 * part, 60 parts of 500,000 rows took PostgreSQL four times as long as the table did at once. Parts without rows are
 * missing in their result: `writeEmptyParts` gives their numbers.
 * @param columns all that the measures may name
 */
export function writePartStatements<Part extends TablePart>(
  { keys, parts }: { keys: readonly string[]; parts: readonly Part[] },
  measures: PartMeasures,
  { dialect, columns }: PartsTable,
): PartsStatement<Part>[] {
  return splitKeys(keys, measures, dialect).flatMap(some =>
    splitParts(parts).map(together => {
      const outputs = outputsOf(some, measures, dialect)
      const select =
        together.length === 1
          ? selectOne(0, together[0]!, outputs, dialect)
          : selectGrouped(together, outputs, { dialect, columns })
      return { select, parts: together, keys: some }
    }),
  )
}

/** How the table is written whose parts are read. */
export interface PartsTable {
  dialect: Dialect
  columns: readonly Pick<ColumnInfo, 'name'>[]
}

/** The statement that reads the same numbers of parts without rows: a SELECT of each, which has a row all the same. */
export function writeEmptyParts<Part extends TablePart>(
  { keys }: Pick<PartsStatement<Part>, 'keys'>,
  parts: readonly Part[],
  measures: PartMeasures,
  dialect: Dialect,
): PartsStatement<Part> {
  const outputs = outputsOf(keys, measures, dialect)
  const selects = parts.map((part, place) => selectOne(place, part, outputs, dialect))
  return { select: join(selects, ' union all '), parts, keys }
}

function outputsOf(keys: readonly string[], measures: PartMeasures, dialect: Dialect): Sql {
  return join(keys.map((key, place) => sql`${measures.get(key)!} as ${dialect.quote(`m${place}`)}`))
}

function selectOne(place: number, part: TablePart, outputs: Sql, dialect: Dialect): Sql {
  return sql`select ${raw(String(place))} as ${dialect.quote(PLACE_COLUMN)}, ${outputs} from ${part.from}`
}

function selectGrouped(parts: readonly TablePart[], outputs: Sql, { dialect, columns }: PartsTable): Sql {
  const place = dialect.quote(PLACE_COLUMN)
  const names = columns.map(({ name }) => dialect.quote(name))
  const rows = parts.map(
    (part, number) =>
      sql`select ${join([sql`${raw(String(number))} as ${place}`, ...names])} from ${part.from}`,
  )
  return sql`select ${place}, ${outputs} from (${join(rows, ' union all ')}) tidemark_parts group by ${place}`
}

/** Parts in their order, so many at once. */
function splitParts<Part extends TablePart>(parts: readonly Part[]): Part[][] {
  const count = Math.ceil(parts.length / MAX_PARTS_PER_STATEMENT)
  return Array.from({ length: count }, (_, number) =>
    parts.slice(number * MAX_PARTS_PER_STATEMENT, (number + 1) * MAX_PARTS_PER_STATEMENT),
  )
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

/** The numbers of each part of a statement that has a row. */
export function readPartNumbers<Part extends TablePart>(
  { parts, keys }: PartsStatement<Part>,
  rows: readonly Row[],
): Map<Part, Record<string, KeptNumber['value']>> {
  return new Map(
    rows.map(row => {
      const numbers = keys.map((key, index) => [key, keepable(row[`m${index}`] ?? null)] as const)
      return [parts[Number(row[PLACE_COLUMN])]!, Object.fromEntries(numbers)] as const
    }),
  )
}

/** What JSON can keep. What is no finite number stays one that merges with nothing. */
function keepable(value: Value): KeptNumber['value'] {
  if (value === null || typeof value === 'string') return value
  return typeof value === 'number' && Number.isFinite(value) ? value : String(value)
}
