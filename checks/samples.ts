import type { Connection, Row, Value } from '../connectors/connector.ts'
import type { ColumnInfo, TableInfo } from '../connectors/catalog.ts'
import type { Dialect } from '../connectors/dialect.ts'
import { ConnectorError } from '../connectors/errors.ts'
import { join, raw, sql, type Sql } from '../connectors/sql.ts'
import { isRowRule, type RowSample, type TableRule } from './check.ts'
import { storedValue } from './column-values.ts'
import type { PlannedCheck } from './plan.ts'
import { invalidRowCondition } from './row-rules.ts'

/** Maximum number of rows kept as evidence for one rule. */
export const MAX_SAMPLES = 100

/** Maximum characters kept of one value. */
const MAX_VALUE_LENGTH = 1000

/** Maximum bytes of all samples of one rule, as JSON. */
const MAX_BYTES = 64 * 1024

/** The SELECT of a rule's invalid rows and how to read a sample from one of its rows. */
export interface SampleQuery {
  select: Sql
  readSample(row: Row, index: number): RowSample
}

/** How rows are sampled. */
export interface SampleOptions {
  /** Columns whose values are neither selected nor shown. */
  maskedColumns: ReadonlySet<string>
  /** Whether rows of a rule's own SELECT are only counted. */
  hideSelectRows: boolean
  /** Whether rows are numbered even if the table has a primary key. */
  isNumbered?: boolean
}

/**
 * Writes the SELECT of up to `limit` invalid rows of a rule: the primary key as `row_id` (an object when it has several
 * columns), else the row's number in the sample from 1; as `value` the check's column, else an object of the
 * columns that the check mentions. Of a SELECT that a rule brings itself, `value` is the check's column where a row
 * has it, else the row.
 *
 * Long texts are cut by the engine, in columns of kind text. Columns in `maskedColumns` are not selected, only whether they are
 * NULL: NULL is shown as null, and a value as null with `is_hidden` beside it. A primary key with one of them gives way
 * to the row's number. The columns that a rule's own SELECT reads are unknown (an alias, a star, a whole row as one
 * value, another table): with `hideSelectRows` it is read for how many rows it has, each shown as hidden.
 */
export function sampleQuery(
  { check, context }: PlannedCheck,
  limit: number,
  { maskedColumns, hideSelectRows, isNumbered = false }: SampleOptions,
): SampleQuery {
  const { dialect, from, table, info } = context
  const source = isRowRule(check.type)
    ? { where: invalidRowCondition(context, check.type.valid(context)) }
    : (check.type as TableRule).samples(context)
  const keys = isNumbered ? [] : primaryKey(table, maskedColumns)
  const count = Math.min(limit, MAX_SAMPLES)
  if ('select' in source) {
    if (hideSelectRows) return hiddenSampleQuery(source.rows ?? source.select, count, dialect)
    const pick = (row: Row) => (info && info.name in row ? row[info.name] : row)
    return {
      select: dialect.limit(source.select, count),
      readSample: (row, index) => ({ row_id: rowId(keys, row, index), value: toPresentable(pick(row)) }),
    }
  }
  const mentioned = info ? [info.name] : (source.columns ?? [])
  const columns = table.columns.filter(({ name }) => keys.includes(name) || mentioned.includes(name))
  const outputs = columns.map((column, index) => {
    const output = maskedColumns.has(column.name)
      ? selectPresence(column, dialect)
      : selectShortened(column, dialect)
    return sql`${output} as ${dialect.quote(`s${index}`)}`
  })
  const select = sql`select ${outputs.length > 0 ? join(outputs) : sql`1`} from ${from} where ${source.where}`
  return {
    select: dialect.limit(select, count),
    readSample(row, index) {
      const found = columns.map(
        (column, position) =>
          [column.name, storedValue(row[`s${position}`] ?? null, column, dialect)] as const,
      )
      const values = Object.fromEntries(
        found.map(([name, value]) => [name, maskedColumns.has(name) ? null : value]),
      )
      const shown = Object.fromEntries(Object.entries(values).filter(([name]) => mentioned.includes(name)))
      const isHidden = found.some(([name, value]) => maskedColumns.has(name) && Number(value) === 1)
      return {
        row_id: rowId(keys, values, index),
        value: toPresentable(info ? values[info.name] : shown),
        ...(isHidden && { is_hidden: true }),
      }
    },
  }
}

/** One row for each row of a SELECT, without its values. */
function hiddenSampleQuery(select: Sql, count: number, dialect: Dialect): SampleQuery {
  return {
    select: dialect.limit(sql`select 1 as ${dialect.quote('s0')} from (${select}) h`, count),
    readSample: (_, index) => ({ row_id: index + 1, value: null, is_hidden: true }),
  }
}

/** Whether a row has a value, without the value. */
function selectPresence(column: ColumnInfo, dialect: Dialect): Sql {
  return sql`case when ${dialect.isNull(dialect.quote(column.name), column)} then 0 else 1 end`
}

const SHORT_CHAR_TYPE = /^char\(\d{1,3}\)$/

/** A column as sampled. Types that are short anyway are not cut, since that would strip the padding of a CHAR. */
function selectShortened({ name, kind, type }: ColumnInfo, dialect: Dialect): Sql {
  const column = dialect.quote(name)
  // One more character than is kept, so that truncation is visible.
  return kind === 'text' && !SHORT_CHAR_TYPE.test(type)
    ? sql`substr(${column}, 1, ${raw(String(MAX_VALUE_LENGTH + 1))})`
    : column
}

/**
 * Samples the invalid rows of a rule and keeps what fits into the byte limit. Where the primary key is not to be read
 * (no right to it, or gone since the last discovery), rows are numbered.
 */
export async function takeSamples(
  item: PlannedCheck,
  limit: number,
  options: SampleOptions,
  run: (statement: Sql) => ReturnType<Connection['query']>,
): Promise<RowSample[]> {
  const { select, readSample } = sampleQuery(item, limit, options)
  const numbered = sampleQuery(item, limit, { ...options, isNumbered: true })
  try {
    return limitSamples(await run(select), readSample)
  } catch (thrown) {
    const isUnreadable =
      thrown instanceof ConnectorError && ['permission', 'missing-object'].includes(thrown.kind)
    if (!isUnreadable || numbered.select.key === select.key) throw thrown
    return limitSamples(await run(numbered.select), numbered.readSample)
  }
}

function limitSamples(rows: readonly Row[], read: SampleQuery['readSample']): RowSample[] {
  const samples: RowSample[] = []
  let bytes = 0
  for (const [index, row] of rows.entries()) {
    const sample = read(row, index)
    bytes += Buffer.byteLength(JSON.stringify(sample))
    if (bytes > MAX_BYTES) break
    samples.push(sample)
  }
  return samples
}

function primaryKey(table: TableInfo, maskedColumns: ReadonlySet<string>): string[] {
  const columns = table.constraints.find(({ type }) => type === 'primary_key')?.columns ?? []
  return columns.some(name => maskedColumns.has(name)) ? [] : columns
}

function rowId(keys: readonly string[], row: Row, index: number): Value {
  if (keys.length === 0 || keys.some(key => !(key in row))) return index + 1
  const [only] = keys
  if (keys.length === 1 && only !== undefined) return toPresentable(row[only])
  return Object.fromEntries(keys.map(key => [key, toPresentable(row[key])]))
}

/**
 * A value as JSON can carry and a database can store it: long texts cut, NaN and the infinities as text, NUL
 * and halves of surrogate pairs replaced, bytes in hexadecimal.
 */
export function toPresentable(value: Value | bigint | undefined): Value {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return cutText(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'boolean') return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString()
  if (value instanceof Uint8Array)
    return cutText(`\\x${Buffer.from(value.subarray(0, MAX_VALUE_LENGTH)).toString('hex')}`)
  if (Array.isArray(value)) return fitStructure(value.map(item => toPresentable(item as Value)))
  return fitStructure(
    Object.fromEntries(Object.entries(value).map(([key, item]) => [cutText(key), toPresentable(item)])),
  )
}

function cutText(text: string): string {
  const cut = text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH - 1)}…` : text
  return cut.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** A structure of shortened values; as text if the whole is still too long. */
function fitStructure(value: object): Value {
  const text = JSON.stringify(value)
  return text.length > MAX_VALUE_LENGTH * 10 ? cutText(text) : value
}
