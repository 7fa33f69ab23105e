import type { Row, Value } from '../connector.ts'
import { makeRowReader, readInteger, readJson } from '../row-reader.ts'
import { asBuffer, makeEncoder } from '../value-encoder.ts'
import { columnKind } from './types.ts'

/**
 * A value in the wire's form: its text, null for NULL, and its SQL type. A type of null leaves the type to
 * Databricks, which takes STRING, and casts that where another type is compared with it.
 */
export interface DatabricksValue {
  value: string | null
  type: string | null
}

/**
 * Puts a value into the wire's form. Numbers say what they are, so that nothing is cast to the type of a column
 * that cannot hold it: a fraction is DOUBLE, also beside integers.
 * @throws TypeError for what cannot be bound
 */
export const toDatabricksValue = makeEncoder<DatabricksValue>({
  absent: { value: null, type: null },
  text: value => ({ value, type: 'STRING' }),
  number: value => ({ value: String(value), type: Number.isSafeInteger(value) ? 'BIGINT' : 'DOUBLE' }),
  bigint: value => ({ value: String(value), type: bigintType(value) }),
  boolean: value => ({ value: String(value), type: 'BOOLEAN' }),
  date: value => ({ value: value.toISOString(), type: 'TIMESTAMP' }),
  bytes: value => ({ value: asBuffer(value).toString('hex'), type: 'BINARY' }),
})

/** DECIMAL has 38 digits. */
function bigintType(value: bigint): string {
  if (BigInt.asIntN(64, value) === value) return 'BIGINT'
  return String(value).replace('-', '').length <= 38 ? 'DECIMAL(38,0)' : 'DOUBLE'
}

/** A column of a result as its manifest describes it. */
export interface DatabricksColumn {
  name: string
  /** As SQL writes it: `DECIMAL(20,2)`, `TIMESTAMP_NTZ`. */
  type_text?: string
  type_name?: string
}

/** Rows of the format JSON_ARRAY: every value is its text, or null. */
export type DatabricksRow = readonly (string | null)[]

export function readRows(columns: readonly DatabricksColumn[], rows: readonly DatabricksRow[]): Row[] {
  const read = makeRowReader(columns.map(column => ({ name: column.name, read: findReader(column) })))
  return rows.map(row => read(row))
}

function findReader({ type_text: text, type_name: name }: DatabricksColumn): (text: string) => Value {
  const kind = columnKind(text ?? name ?? '')
  if (kind === 'integer') return readInteger
  if (kind === 'float') return Number
  if (kind === 'boolean') return readBoolean
  if (kind === 'timestamp') return readTimestamp
  if (kind === 'binary') return readBytes
  return kind === 'json' ? readJson : asIs
}

const asIs = (text: string): Value => text

const readBoolean = (text: string): Value => text === 'true'

const readBytes = (text: string): Value => Uint8Array.from(Buffer.from(text, 'base64'))

const TIMESTAMP =
  /^([+-]?\d{4,6})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|([+-])(\d\d):?(\d\d)(?::?(\d\d))?)?$/

/** A timestamp to the millisecond, naive ones read as UTC; what is none, or what a Date cannot hold, stays text. */
function readTimestamp(text: string): Value {
  const match = TIMESTAMP.exec(text)
  if (!match) return text
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  const [hours = 0, minutes = 0, seconds = 0] = match.slice(10, 13).map(part => Number(part ?? 0))
  const offset = (match[9] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60 + seconds)
  const date = new Date(0)
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second - offset, milliseconds)
  return Number.isNaN(date.getTime()) ? text : date
}
