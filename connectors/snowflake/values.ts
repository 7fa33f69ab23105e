import type { Row, Value } from '../connector.ts'
import { makeRowReader, readInteger, readJson } from '../row-reader.ts'
import { asBuffer, makeEncoder } from '../value-encoder.ts'
import { trimEnd } from '../trim-end.ts'

/** A bound value: always text on the wire, with Snowflake's name of its type. */
export interface SnowflakeBinding {
  type: 'FIXED' | 'REAL' | 'TEXT' | 'BOOLEAN' | 'BINARY' | 'TIMESTAMP_NTZ'
  value: string | null
}

/** A column of a result in `resultSetMetaData.rowType`. */
export interface SnowflakeColumn {
  name: string
  type: string
  scale?: number | null
}

/** A row of `data`: every value is text or null. */
export type SnowflakeRow = readonly (string | null)[]

/**
 * Values by the position of their placeholder, as `bindings` takes them
 * (https://docs.snowflake.com/en/developer-guide/sql-api/submitting-requests).
 */
export function bindValues(values: readonly unknown[]): Record<string, SnowflakeBinding> {
  return Object.fromEntries(values.map((value, index) => [String(index + 1), bindValue(value)]))
}

const bindValue = makeEncoder<SnowflakeBinding>({
  absent: { type: 'TEXT', value: null },
  text: value => ({ type: 'TEXT', value }),
  number: value => ({ type: Number.isSafeInteger(value) ? 'FIXED' : 'REAL', value: String(value) }),
  bigint: value => ({ type: 'FIXED', value: String(value) }),
  boolean: value => ({ type: 'BOOLEAN', value: String(value) }),
  // Without a zone: TIMEZONE is UTC, so that Snowflake compares it with columns of every kind as that moment.
  date: value => ({ type: 'TIMESTAMP_NTZ', value: String(BigInt(value.getTime()) * 1_000_000n) }),
  bytes: value => ({ type: 'BINARY', value: asBuffer(value).toString('hex') }),
})

export function readRows(columns: readonly SnowflakeColumn[], rows: readonly SnowflakeRow[]): Row[] {
  const read = makeRowReader(columns.map(column => ({ name: column.name, read: findReader(column) })))
  return rows.map(row => read(row))
}

type TextReader = (text: string) => Value

const DAY_MS = 86_400_000

/** https://docs.snowflake.com/en/developer-guide/sql-api/handling-responses, how values are written. */
const READERS: Readonly<Record<string, TextReader>> = {
  real: text => Number(REALS[text] ?? text),
  boolean: text => text === 'true' || text === '1',
  date: text => formatDate(Number(text) * DAY_MS),
  time: text => readTime(text),
  timestamp_ntz: text => readTimestamp(text),
  timestamp_ltz: text => readTimestamp(text),
  // The moment and, after a blank, the zone: minutes from UTC plus 1440. A Date has no zone of its own.
  timestamp_tz: text => readTimestamp(text.split(' ')[0] ?? ''),
  binary: text => Buffer.from(text, 'hex'),
  variant: readJson,
  object: readJson,
  array: readJson,
  map: readJson,
}

const REALS: Readonly<Record<string, number>> = { inf: Infinity, '-inf': -Infinity }

const asText: TextReader = text => text

function findReader({ type, scale }: SnowflakeColumn): TextReader {
  const name = type.toLowerCase()
  if (name === 'fixed') return (scale ?? 0) === 0 ? readInteger : asText
  return READERS[name] ?? asText
}

function formatDate(milliseconds: number): string {
  const iso = new Date(milliseconds).toISOString()
  return iso.slice(0, iso.indexOf('T'))
}

/** `45296.500000000` is `12:34:56.5`. */
function readTime(text: string): string {
  const [seconds = '0', fraction = ''] = text.split('.')
  const clock = new Date(Number(seconds) * 1000).toISOString().slice(11, 19)
  const digits = trimEnd(fraction, '0')
  return digits === '' ? clock : `${clock}.${digits}`
}

/** Seconds since 1970 with up to nine decimals; a Date keeps the milliseconds. */
function readTimestamp(text: string): Date {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.')
  const sign = text.startsWith('-') ? -1 : 1
  const nanoseconds = Number(fraction.padEnd(9, '0').slice(0, 9))
  return new Date(sign * Number(whole) * 1000 + Math.floor((sign * nanoseconds) / 1_000_000))
}
