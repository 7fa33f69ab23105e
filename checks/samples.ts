import type { Connection, Row, Value } from '../connectors/connector.ts'
import type { ColumnInfo, TableInfo } from '../connectors/catalog.ts'
import { substring, type Dialect } from '../connectors/dialect.ts'
import { ConnectorError } from '../connectors/errors.ts'
import { join, raw, sql, type Sql } from '../connectors/sql.ts'
import { isRowRule, type TableRule } from './check.ts'
import { storedValue } from './column-values.ts'
import type { PlannedCheck } from './plan.ts'
import type { RowSample, TakenSamples } from './rows/row-sample.ts'
import { invalidRowCondition } from './rows/row-rules.ts'

/** Maximum number of rows kept as evidence for one rule. */
export const MAX_SAMPLES = 100

/** Maximum characters kept of one value. */
const MAX_VALUE_LENGTH = 1000

/** Maximum characters of a structure, such as a JSON document, that is kept as one; a longer one is cut as text. */
const MAX_STRUCTURE_LENGTH = MAX_VALUE_LENGTH * 10

/** Maximum columns of a whole row; wider tables show their first ones. */
const MAX_ROW_COLUMNS = 100

/** Maximum bytes of all samples of one rule, as JSON. */
const MAX_BYTES = 64 * 1024

/** The SELECT of a rule's invalid rows and how to read a sample from one of its rows. */
export interface SampleQuery {
  select: Sql
  /** The same rows with all of their columns, as a person would ask for them. */
  plain: Sql
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
  /** Whether samples have all columns of their rows, which the engine then reads. */
  wholeRows?: boolean | undefined
  /** How values are read: cut by the engine (the default), whole, or none but the keys. */
  values?: 'cut' | 'whole' | 'keys'
  /** What the rows are taken from; defaults to the whole table. */
  from?: Sql
}

/**
 * Writes the SELECT of up to `limit` invalid rows of a rule: the primary key as `row_id` (an object when it has several
 * columns), else the row's number in the sample from 1; as `value` the check's column, else an object of the
 * columns that the check mentions. For a SELECT that a rule brings itself, `value` is the check's column where a row
 * has it, else the row.
 *
 * Long values are cut by the engine. Columns in `maskedColumns` are not selected, only whether they are
 * NULL: NULL is shown as null, and a value as null with `is_hidden` beside it. A primary key with one of them gives way
 * to the row's number. The columns that a rule's own SELECT reads are unknown (an alias, a star, a whole row as one
 * value, another table): with `hideSelectRows` it is read for how many rows it has, each shown as hidden.
 */
export function sampleQuery(
  { check, context }: PlannedCheck,
  limit: number,
  {
    maskedColumns,
    hideSelectRows,
    isNumbered = false,
    wholeRows = false,
    values: reading = 'cut',
    from = context.dialect.table(context.table),
  }: SampleOptions,
): SampleQuery {
  const { dialect, table, info, filter } = context
  const source = isRowRule(check.type)
    ? { where: invalidRowCondition(context, check.type.valid(context)) }
    : (check.type as TableRule).samples(context)
  const keys = isNumbered ? [] : primaryKey(table, maskedColumns)
  const count = Math.min(limit, MAX_SAMPLES)
  if ('select' in source) {
    if (hideSelectRows) return hiddenSampleQuery(source.rows ?? source.select, count, dialect)
    const pick = (row: Row) => (info && info.name in row ? row[info.name] : row)
    const select = dialect.limit(source.select, count)
    return {
      ...{ select, plain: select },
      readSample: (row, index) => ({
        row_id: rowId(keys, row, index),
        value: toPresentable(pick(row)),
        ...(wholeRows && { row: presentRow(row) }),
      }),
    }
  }
  const mentioned = info ? [info.name] : (source.columns ?? [])
  const isUnread = reading === 'keys' && mentioned.some(name => !keys.includes(name))
  const columns = table.columns.filter(
    ({ name }, place) =>
      keys.includes(name) ||
      (reading !== 'keys' && mentioned.includes(name)) ||
      (wholeRows && place < MAX_ROW_COLUMNS),
  )
  const isHidden = ({ name }: ColumnInfo) => maskedColumns.has(name)
  const outputs = columns.flatMap((column, index) => {
    const select = isHidden(column)
      ? [selectPresence(column, dialect)]
      : reading === 'whole'
        ? [dialect.quote(column.name)]
        : selectCut(column, dialect)
    return select.map((output, part) => sql`${output} as ${dialect.quote(outputName(index, part))}`)
  })
  const where = filter ? sql`${filter.condition} and (${source.where})` : source.where
  const select = sql`select ${outputs.length > 0 ? join(outputs) : sql`1`} from ${from} where ${where}`
  return {
    select: dialect.limit(select, count),
    plain: dialect.limit(sql`select * from ${from} where ${where}`, count),
    readSample(row, index) {
      const read = (position: number) => {
        const value = row[outputName(position, 0)] ?? row[outputName(position, 1)] ?? null
        return storedValue(value, columns[position]!, dialect)
      }
      const values = Object.fromEntries(
        columns.map((column, position) => [column.name, isHidden(column) ? null : read(position)]),
      )
      const shown = Object.fromEntries(Object.entries(values).filter(([name]) => mentioned.includes(name)))
      if (isUnread) return { row_id: rowId(keys, values, index), value: null, is_hidden: true }
      const hidesValue = columns.some(
        (column, position) =>
          mentioned.includes(column.name) && isHidden(column) && Number(read(position)) === 1,
      )
      return {
        row_id: rowId(keys, values, index),
        value: toPresentable(info ? values[info.name] : shown),
        ...(hidesValue && { is_hidden: true }),
        ...(wholeRows && {
          row: presentRow(values),
          hidden_columns: columns.filter(isHidden).map(({ name }) => name),
        }),
      }
    },
  }
}

/** The name of a column's output: of its value, or of the text in its place. */
function outputName(column: number, part: number): string {
  return `${part === 0 ? 's' : 't'}${column}`
}

/** One row for each row of a SELECT, without its values. */
function hiddenSampleQuery(select: Sql, count: number, dialect: Dialect): SampleQuery {
  return {
    select: dialect.limit(sql`select 1 as ${dialect.quote('s0')} from (${select}) h`, count),
    plain: dialect.limit(select, count),
    readSample: (_, index) => ({ row_id: index + 1, value: null, is_hidden: true }),
  }
}

/** Whether a row has a value, without the value. */
function selectPresence(column: ColumnInfo, dialect: Dialect): Sql {
  return sql`case when ${dialect.isNull(dialect.quote(column.name), column)} then 0 else 1 end`
}

/** A column as sampled: its value, and, of one that is NULL where it is long, the beginning of its text. */
function selectCut(column: ColumnInfo, dialect: Dialect): Sql[] {
  // One more character than is kept, so that truncation is visible.
  const length = MAX_VALUE_LENGTH + 1
  const cut = dialect.cutValue(column, length)
  if (cut) return [cut]
  const value = dialect.quote(column.name)
  const text = dialect.asText(value)
  const isLong = sql`${dialect.textLength(text)} > ${raw(String(MAX_STRUCTURE_LENGTH))}`
  return [sql`case when ${isLong} then null else ${value} end`, substring(text, length)]
}

/**
 * Samples the invalid rows of a rule and keeps what fits into the byte limit. Where the primary key is not to be read
 * (no right to it, or gone since the last discovery), rows are numbered. Where values cannot be cut, they are read whole,
 * and where they cannot be read, rows are shown by their keys alone.
 */
export async function takeSamples(
  item: PlannedCheck,
  limit: number,
  options: SampleOptions,
  run: (statement: Sql) => ReturnType<Connection['query']>,
): Promise<TakenSamples> {
  if (!item.sampleFrom) return takeFrom(item, limit, options, run)
  const taken: TakenSamples = { samples: [] }
  for (const from of item.sampleFrom) {
    const left = limit - taken.samples.length
    if (left <= 0) break
    const { samples, samplesNote, samplesSql } = await takeFrom(item, left, { ...options, from }, run)
    taken.samples.push(...samples)
    if (samplesSql) taken.samplesSql ??= samplesSql
    if (samplesNote !== undefined) return { ...taken, samplesNote }
  }
  return { ...taken, ...limitTaken(taken, item, options) }
}

/** One column that may not be read, or holds what its engine cannot cut, must not hide the others: then rows are read without. */
async function takeWholeRows(
  item: PlannedCheck,
  limit: number,
  options: SampleOptions,
  run: (statement: Sql) => ReturnType<Connection['query']>,
): Promise<TakenSamples | undefined> {
  const { select, plain, readSample } = sampleQuery(item, limit, { ...options, wholeRows: true })
  try {
    const taken = limitSamples(await run(select), readSample)
    return { ...taken, samplesSql: item.context.dialect.render(plain) }
  } catch (thrown) {
    if (thrown instanceof ConnectorError && FALLBACK_KINDS.includes(thrown.kind)) return undefined
    throw thrown
  }
}

const FALLBACK_KINDS: readonly string[] = ['permission', 'missing-object', 'invalid-query']

/** Rows without a key are numbered through, and all together keep to the limit of bytes. */
function limitTaken(
  { samples }: TakenSamples,
  { context }: PlannedCheck,
  options: SampleOptions,
): TakenSamples {
  const hasKey = primaryKey(context.table, options.maskedColumns).length > 0
  return limitSamples(samples, (sample, index) => (hasKey ? sample : { ...sample, row_id: index + 1 }))
}

async function takeFrom(
  item: PlannedCheck,
  limit: number,
  { wholeRows, ...options }: SampleOptions,
  run: (statement: Sql) => ReturnType<Connection['query']>,
): Promise<TakenSamples> {
  const whole = wholeRows && (await takeWholeRows(item, limit, options, run))
  if (whole) return whole
  const { select, readSample } = sampleQuery(item, limit, options)
  const numbered = sampleQuery(item, limit, { ...options, isNumbered: true })
  try {
    return limitSamples(await run(select), readSample)
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    if (['permission', 'missing-object'].includes(thrown.kind)) {
      if (numbered.select.key === select.key) throw thrown
      return limitSamples(await run(numbered.select), numbered.readSample)
    }
    if (thrown.kind !== 'invalid-query') throw thrown
    return await takeOtherwise(thrown, item, limit, options, run)
  }
}

/** @throws the error of the first attempt where no other one succeeds */
async function takeOtherwise(
  error: ConnectorError,
  item: PlannedCheck,
  limit: number,
  options: SampleOptions,
  run: (statement: Sql) => ReturnType<Connection['query']>,
): Promise<TakenSamples> {
  const tried = new Set([sampleQuery(item, limit, options).select.key])
  const hasKeys = primaryKey(item.context.table, options.maskedColumns).length > 0
  for (const values of hasKeys ? (['whole', 'keys'] as const) : (['whole'] as const)) {
    const { select, readSample } = sampleQuery(item, limit, { ...options, values })
    if (tried.has(select.key)) continue
    tried.add(select.key)
    try {
      const taken = limitSamples(await run(select), readSample)
      if (values === 'whole') return taken
      return {
        samplesNote: `The values could not be read, and rows are shown by their keys: ${error.message}`,
        ...taken,
      }
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError) || thrown.kind !== 'invalid-query') throw thrown
    }
  }
  throw error
}

function limitSamples<Of>(rows: readonly Of[], read: (row: Of, index: number) => RowSample): TakenSamples {
  const samples: RowSample[] = []
  let bytes = 0
  for (const [index, row] of rows.entries()) {
    const sample = read(row, index)
    bytes += Buffer.byteLength(JSON.stringify(sample))
    if (bytes > MAX_BYTES) {
      const samplesNote = `Samples are limited to ${MAX_BYTES / 1024} KiB: ${index} of ${rows.length} rows are shown.`
      return { samples, samplesNote }
    }
    samples.push(sample)
  }
  return { samples }
}

function primaryKey(table: TableInfo, maskedColumns: ReadonlySet<string>): string[] {
  const columns = table.constraints.find(({ type }) => type === 'primary_key')?.columns ?? []
  return columns.some(name => maskedColumns.has(name)) ? [] : columns
}

function presentRow(row: Row): Record<string, Value> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toPresentable(value)]))
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
  return text.length > MAX_STRUCTURE_LENGTH ? cutText(text) : value
}
