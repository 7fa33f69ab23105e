import type { Connection, Row } from '../../connectors/connector.ts'
import type { Dialect } from '../../connectors/dialect.ts'
import type { ColumnInfo, ColumnKind } from '../../connectors/catalog.ts'
import { join, raw, sql, type Sql } from '../../connectors/sql.ts'
import type { TopValue } from './api.ts'

/** Values of one column. */
export const MAX_TOP_VALUES = 20
/** Distinct values above which none is frequent enough to be listed. */
const MAX_DISTINCT = 200
/** Longer texts are not listed. */
const MAX_LENGTH = 200
/** Columns of one statement. */
const COLUMNS_PER_STATEMENT = 100

const LISTED_KINDS: readonly ColumnKind[] = ['integer', 'decimal', 'text', 'boolean', 'date', 'other']

/** Whether a column has few values that return, by its numbers. */
export function hasTopValues(
  { kind }: ColumnInfo,
  { count, distinct, maxLength }: { count: number | null; distinct: number | null; maxLength: number | null },
): boolean {
  if (!LISTED_KINDS.includes(kind) || !count || !distinct || (maxLength ?? 0) > MAX_LENGTH) return false
  return distinct <= MAX_DISTINCT && 2 * distinct <= count
}

/**
 * The most frequent values of some columns, by a statement for all of them.
 * @param run sends a statement
 * @returns by the column's name
 */
export async function readTopValues(
  columns: readonly ColumnInfo[],
  from: Sql,
  dialect: Dialect,
  run: (statement: Sql) => ReturnType<Connection['query']>,
): Promise<Map<string, TopValue[]>> {
  const found = new Map<string, TopValue[]>()
  for (let first = 0; first < columns.length; first += COLUMNS_PER_STATEMENT) {
    const some = columns.slice(first, first + COLUMNS_PER_STATEMENT)
    const rows = await run(selectTopValues(some, from, dialect))
    for (const [index, column] of some.entries())
      found.set(
        column.name,
        rows
          .filter(row => Number(row.c) === index)
          .map(row => readTopValue(row, column))
          .toSorted((a, b) => b.count - a.count),
      )
  }
  return found
}

/** A SELECT of the column's position, a value as text, and its rows. */
function selectTopValues(columns: readonly ColumnInfo[], from: Sql, dialect: Dialect): Sql {
  const [c, v, n] = ['c', 'v', 'n'].map(name => dialect.quote(name)) as [Sql, Sql, Sql]
  const selects = columns.map((column, index) => {
    const value = dialect.quote(column.name)
    // No column has these names: some engines would order by that column.
    const counted = sql`select ${dialect.asText(value)} as tidemark_v, count(*) as tidemark_n from ${from} where ${value} is not null group by ${value}`
    const most = dialect.limit(sql`${counted} order by tidemark_n desc, tidemark_v`, MAX_TOP_VALUES)
    return sql`select ${raw(String(index))} as ${c}, tidemark_v as ${v}, tidemark_n as ${n} from (${most}) ${raw(`t${index}`)}`
  })
  return join(selects, ' union all ')
}

function readTopValue(row: Row, { kind }: ColumnInfo): TopValue {
  const text = String(row.v)
  return { value: readValue(text, kind), count: Number(row.n) }
}

function readValue(text: string, kind: ColumnKind): TopValue['value'] {
  if (kind === 'boolean') return /^(true|t|1)$/i.test(text)
  const number = Number(text)
  const isNumber = (kind === 'integer' || kind === 'decimal') && text.trim() !== '' && Number.isFinite(number)
  // Text keeps the digits that a double would lose.
  return isNumber && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : text
}
