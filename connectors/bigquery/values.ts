import type { Row, Value } from '../connector.ts'
import { makeRowReader, readInteger, readJson } from '../row-reader.ts'
import { asBuffer, makeEncoder } from '../value-encoder.ts'

/** A query parameter by its position. https://cloud.google.com/bigquery/docs/reference/rest/v2/QueryParameter */
export interface BigqueryParameter {
  parameterType: { type: string }
  parameterValue: { value: string }
}

const MAX_NUMERIC = 10n ** 29n
const MAX_BIGNUMERIC = 10n ** 38n

/**
 * Puts a value into the wire's form; null has none, and is written as NULL, which is of every type.
 *
 * A text is a STRING, which BigQuery takes for a date or a time where one is compared with it
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/conversion_rules#parameter_coercion). So is a Date,
 * without its zone: as a TIMESTAMP it could not be compared with a DATETIME.
 * @throws TypeError for what cannot be bound
 */
export const toParameter = makeEncoder<BigqueryParameter | null>({
  absent: null,
  text: value => parameter('STRING', value),
  number: value => parameter(Number.isSafeInteger(value) ? 'INT64' : 'FLOAT64', String(value)),
  bigint: value => parameter(integerType(value), String(value)),
  boolean: value => parameter('BOOL', String(value)),
  date: value => parameter('STRING', value.toISOString().replace('T', ' ').replace('Z', '')),
  bytes: value => parameter('BYTES', asBuffer(value).toString('base64')),
})

function integerType(value: bigint): string {
  if (BigInt.asIntN(64, value) === value) return 'INT64'
  const size = value < 0n ? -value : value
  if (size >= MAX_BIGNUMERIC) throw new TypeError('A whole number of more than 38 digits cannot be bound')
  return size < MAX_NUMERIC ? 'NUMERIC' : 'BIGNUMERIC'
}

function parameter(type: string, value: string): BigqueryParameter {
  return { parameterType: { type }, parameterValue: { value } }
}

/** A column of a result, or a field of one. https://cloud.google.com/bigquery/docs/reference/rest/v2/tables */
export interface BigqueryField {
  name: string
  type: string
  mode?: string
  fields?: BigqueryField[]
}

/** A row as replies have it. */
export interface BigqueryRow {
  f: { v: unknown }[]
}

/** How texts of replies become values, by type; every other type stays text. */
const READERS: Readonly<Record<string, (text: string) => Value>> = {
  INTEGER: readInteger,
  INT64: readInteger,
  FLOAT: readFloat,
  FLOAT64: readFloat,
  BOOLEAN: text => text === 'true',
  BOOL: text => text === 'true',
  BYTES: text => Uint8Array.from(Buffer.from(text, 'base64')),
  // Microseconds since 1970, as asked for by formatOptions.
  TIMESTAMP: text => new Date(Math.floor(Number(text) / 1000)),
  DATETIME: text => new Date(`${text.replace(/(\.\d{3})\d+$/, '$1')}Z`),
  JSON: readJson,
}

function readFloat(text: string): Value {
  if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  return Number(text)
}

/** The rows of a page, or a record, by the schema of its fields. */
export function readRows(fields: readonly BigqueryField[], rows: readonly BigqueryRow[]): Row[] {
  const read = makeRowReader<unknown>(
    fields.map(field => ({ name: field.name, read: cell => readCell(field, cell) })),
  )
  return rows.map(({ f: cells }) => read(cells.map(({ v }) => v)))
}

function readCell(field: BigqueryField, cell: unknown): Value {
  if (cell === null || cell === undefined) return null
  if (field.mode === 'REPEATED') {
    const element = { ...field, mode: 'NULLABLE' }
    return (cell as { v: unknown }[]).map(({ v }) => readCell(element, v))
  }
  if (field.type === 'RECORD' || field.type === 'STRUCT')
    return readRows(field.fields ?? [], [cell as BigqueryRow])[0] ?? null
  const parse = Object.hasOwn(READERS, field.type) ? READERS[field.type] : undefined
  return parse ? parse(String(cell)) : String(cell)
}
