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

/** Whether the values of a column may be few. */
export function isListable({ kind }: Pick<ColumnInfo, 'kind'>): boolean {
  return LISTED_KINDS.includes(kind)
}

/** Whether a column has few values that return, by its numbers. */
export function hasTopValues(
  column: ColumnInfo,
  { count, distinct, maxLength }: { count: number | null; distinct: number | null; maxLength: number | null },
): boolean {
  if (!isListable(column) || !count || !distinct || (maxLength ?? 0) > MAX_LENGTH) return false
  return distinct <= MAX_DISTINCT && 2 * distinct <= count
}

type SendStatement = (statement: Sql) => ReturnType<Connection['query']>

/**
 * The most frequent values of some columns, by a statement for all of them.
 * @param run sends a statement
 * @returns by the column's name
 */
export async function readTopValues(
  columns: readonly ColumnInfo[],
  from: Sql,
  dialect: Dialect,
  run: SendStatement,
): Promise<Map<string, TopValue[]>> {
  const found = await readByColumn(columns, some => run(selectTopValues(some, from, dialect)))
  return new Map([...found].map(([column, rows]) => [column.name, readColumnValues(column, rows, dialect)]))
}

/** The frequent values of a column, and how many it has in all. */
export interface FewValues {
  distinct: number
  topValues: TopValue[]
}

/**
 * The most frequent values of some columns and how many values each has, by a statement that reads the table once. It is
 * for columns that seem to have few values: the engine keeps all of them in its memory.
 * @param run sends a statement
 * @returns by the column's name
 */
export async function readFewValues(
  columns: readonly ColumnInfo[],
  from: Sql,
  dialect: Dialect,
  run: SendStatement,
): Promise<Map<string, FewValues>> {
  const found = await readByColumn(columns, some => run(selectFewValues(some, from, dialect)))
  return new Map(
    [...found].map(([column, rows]) => [
      column.name,
      { distinct: Number(rows[0]?.d ?? 0), topValues: readColumnValues(column, rows, dialect) },
    ]),
  )
}

/** The rows of each column; they name its position among those of the statement. */
async function readByColumn(
  columns: readonly ColumnInfo[],
  read: (some: readonly ColumnInfo[]) => Promise<Row[]>,
): Promise<Map<ColumnInfo, Row[]>> {
  const found = new Map<ColumnInfo, Row[]>(columns.map(column => [column, []]))
  for (let first = 0; first < columns.length; first += COLUMNS_PER_STATEMENT) {
    const some = columns.slice(first, first + COLUMNS_PER_STATEMENT)
    for (const row of await read(some)) {
      const column = some[Number(row.c)]
      if (column) found.get(column)?.push(row)
    }
  }
  return found
}

function readColumnValues(column: ColumnInfo, rows: readonly Row[], dialect: Dialect): TopValue[] {
  return rows.map(row => readTopValue(row, column, dialect)).toSorted((a, b) => b.count - a.count)
}

/** A SELECT of the column's position, a value as text, its rows, and the distinct values of the column. */
function selectFewValues(columns: readonly ColumnInfo[], from: Sql, dialect: Dialect): Sql {
  const values = columns.map(({ name }) => dialect.quote(name))
  const whenGrouped = (then: (value: Sql, index: number) => Sql) =>
    sql`case ${join(
      values.map((value, index) => sql`when grouping(${value}) = 0 then ${then(value, index)}`),
      ' ',
    )} end`
  const position = whenGrouped((_, index) => raw(String(index)))
  // Longer texts are not listed, so that what they end in need not be read.
  const text = whenGrouped(
    (value, index) => sql`left(${textOf(value, columns[index], dialect)}, ${raw(String(MAX_LENGTH + 1))})`,
  )
  const sets = join(values.map(value => sql`(${value})`))
  const groups = sql`select ${position} as c, ${text} as v, count(*) as n from ${from} group by grouping sets (${sets})`
  const ranked = sql`select c, v, n, row_number() over (partition by c order by n desc, v) as r, count(*) over (partition by c) as d from (${groups}) g where v is not null`
  return sql`select c, v, n, d from (${ranked}) r where r <= ${raw(String(MAX_TOP_VALUES))} order by c, n desc, v`
}

/** A SELECT of the column's position, a value as text, and its rows. */
function selectTopValues(columns: readonly ColumnInfo[], from: Sql, dialect: Dialect): Sql {
  const [c, v, n] = ['c', 'v', 'n'].map(name => dialect.quote(name)) as [Sql, Sql, Sql]
  const selects = columns.map((column, index) => {
    const value = dialect.quote(column.name)
    // No column has these names: some engines would order by that column.
    const counted = sql`select ${textOf(value, column, dialect)} as tidemark_v, count(*) as tidemark_n from ${from} where ${dialect.isNotNull(value, column)} group by ${value}`
    const most = dialect.limit(sql`${counted} order by tidemark_n desc, tidemark_v`, MAX_TOP_VALUES)
    return sql`select ${raw(String(index))} as ${c}, tidemark_v as ${v}, tidemark_n as ${n} from (${most}) ${raw(`t${index}`)}`
  })
  return join(selects, ' union all ')
}

/** Whether a column holds truth values and nothing else. */
function isTruth(column: ColumnInfo, dialect: Dialect): boolean {
  return column.kind === 'boolean' && dialect.booleanStorage(column) === 'boolean'
}

/** A value as text. Engines write truth values as t, true and 1, and MySQL a bit as its byte; here they are 1 and 0. */
function textOf(value: Sql, column: ColumnInfo | undefined, dialect: Dialect): Sql {
  if (!column || !isTruth(column, dialect)) return dialect.asText(value)
  return dialect.asText(sql`case when ${value} then 1 when not ${value} then 0 end`)
}

function readTopValue(row: Row, column: ColumnInfo, dialect: Dialect): TopValue {
  const text = String(row.v)
  return { value: readValue(text, column, dialect), count: Number(row.n) }
}

const NUMBER_KINDS: readonly ColumnKind[] = ['integer', 'decimal', 'boolean']

/** A value as the column stores it, from its text. */
function readValue(text: string, column: ColumnInfo, dialect: Dialect): TopValue['value'] {
  if (isTruth(column, dialect)) return text === '1'
  const number = Number(text)
  const isNumber = NUMBER_KINDS.includes(column.kind) && text.trim() !== '' && Number.isFinite(number)
  // Text keeps the digits that a double would lose.
  return isNumber && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : text
}
