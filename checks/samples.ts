import type { Connection, Row, Value } from '../connectors/connector.ts'
import type { TableInfo } from '../connectors/catalog.ts'
import { join, sql, type Sql } from '../connectors/sql.ts'
import { isRowRule, type Sample, type TableRule } from './check.ts'
import type { Planned } from './plan.ts'
import { invalidRow } from './rows.ts'

/** The most rows kept as evidence for one rule, whatever is asked. */
export const MAX_SAMPLES = 100

/** Characters kept of one value. */
const MAX_VALUE = 1000

/** Bytes of all samples of one rule, as JSON. */
const MAX_BYTES = 64 * 1024

/** The SELECT of a rule's invalid rows and how to read a sample from one of its rows. */
export interface SampleQuery {
  select: Sql
  read(row: Row, index: number): Sample
}

/**
 * What shows up to `limit` invalid rows of a rule: the primary key as `row_id` (an object when it has several
 * columns), else the row's number in the sample from 1; the check's column as `value`, else an object of the
 * columns that the check mentions, else of the whole row.
 */
export function sampleQuery({ check, context }: Planned, limit: number): SampleQuery {
  const { dialect, from, table, info } = context
  const source = isRowRule(check.type)
    ? { where: invalidRow(context, check.type.valid(context)) }
    : (check.type as TableRule).samples(context)
  const keys = primaryKey(table)
  const count = Math.min(limit, MAX_SAMPLES)
  if ('select' in source) {
    const pick = (row: Row) => (info && info.name in row ? row[info.name] : row)
    return {
      select: dialect.limit(source.select, count),
      read: (row, index) => ({ row_id: rowId(keys, row, index), value: presentable(pick(row)) }),
    }
  }
  const mentioned = 'columns' in source ? (source.columns ?? []) : []
  const shown = info
    ? [info.name]
    : table.columns.map(({ name }) => name).filter(name => mentioned.includes(name))
  const columns = [...new Set([...keys, ...shown])]
  const outputs = columns.map((name, index) => sql`${dialect.quote(name)} as ${dialect.quote(`s${index}`)}`)
  const select = sql`select ${outputs.length > 0 ? join(outputs) : sql`1`} from ${from} where ${source.where}`
  const named = (row: Row) =>
    Object.fromEntries(columns.map((name, index) => [name, row[`s${index}`] ?? null]))
  return {
    select: dialect.limit(select, count),
    read(row, index) {
      const values = named(row)
      const value = info
        ? values[info.name]
        : Object.fromEntries(shown.map(name => [name, values[name] ?? null]))
      return { row_id: rowId(keys, values, index), value: presentable(value) }
    },
  }
}

/** Runs a sample query and keeps what fits into the byte limit. */
export async function takeSamples(
  { select, read }: SampleQuery,
  run: (statement: Sql) => ReturnType<Connection['query']>,
): Promise<Sample[]> {
  const rows = await run(select)
  const samples: Sample[] = []
  let bytes = 0
  for (const [index, row] of rows.entries()) {
    const sample = read(row, index)
    bytes += Buffer.byteLength(JSON.stringify(sample))
    if (bytes > MAX_BYTES) break
    samples.push(sample)
  }
  return samples
}

function primaryKey(table: TableInfo): string[] {
  return table.constraints.find(({ type }) => type === 'primary_key')?.columns ?? []
}

function rowId(keys: readonly string[], row: Row, index: number): Value {
  if (keys.length === 0 || keys.some(key => !(key in row))) return index + 1
  const [only] = keys
  if (keys.length === 1 && only !== undefined) return presentable(row[only])
  return Object.fromEntries(keys.map(key => [key, presentable(row[key])]))
}

/**
 * A value as JSON can carry and a database can store it: long texts cut, NaN and the infinities as text, NUL
 * and halves of surrogate pairs replaced, bytes in hexadecimal.
 */
export function presentable(value: Value | bigint | undefined): Value {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return cutText(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'boolean') return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString()
  if (value instanceof Uint8Array)
    return cutText(`\\x${Buffer.from(value.subarray(0, MAX_VALUE)).toString('hex')}`)
  if (Array.isArray(value)) return fitted(value.map(item => presentable(item as Value)))
  return fitted(
    Object.fromEntries(Object.entries(value).map(([key, item]) => [cutText(key), presentable(item)])),
  )
}

function cutText(text: string): string {
  const cut = text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1)}…` : text
  return cut.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** A structure whose parts were each made presentable, as text when the whole is still too long. */
function fitted(value: object): Value {
  const text = JSON.stringify(value)
  return text.length > MAX_VALUE * 10 ? cutText(text) : value
}
