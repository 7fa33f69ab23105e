/** Values between DuckDB and the form that `Value` describes; used in the reader process alone. */
import {
  BIGINT,
  BLOB,
  blobValue,
  BOOLEAN,
  DOUBLE,
  DuckDBArrayValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBBlobValue,
  DuckDBTypeId,
  DuckDBUnionValue,
  HUGEINT,
  SQLNULL,
  TIMESTAMP,
  VARCHAR,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api'

/** How values of a column are read; NULL apart. */
export function valueReader(type: DuckDBType): (value: DuckDBValue) => unknown {
  if (type.alias === 'JSON') return value => JSON.parse(String(value)) as unknown
  if (type.typeId === DuckDBTypeId.FLOAT) return value => shortFloat(value as number)
  return readValue
}

function readValue(value: DuckDBValue): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : String(value)
  }
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof DuckDBBlobValue) return Uint8Array.from(value.bytes)
  const millis = millisOf(value)
  if (millis !== undefined) {
    const date = new Date(millis)
    // Infinity, and years that a Date cannot hold.
    return Number.isNaN(date.getTime()) ? String(value) : date
  }
  return isNested(value) ? readNested(value) : String(value)
}

function millisOf(value: DuckDBValue & object): number | undefined {
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue)
    return Math.floor(Number(value.micros) / 1000)
  if (value instanceof DuckDBTimestampMillisecondsValue) return Number(value.millis)
  if (value instanceof DuckDBTimestampSecondsValue) return Number(value.seconds) * 1000
  if (value instanceof DuckDBTimestampNanosecondsValue) return Number(value.nanos / 1_000_000n)
  return undefined
}

type Nested = DuckDBListValue | DuckDBArrayValue | DuckDBStructValue | DuckDBMapValue | DuckDBUnionValue

function isNested(value: object): value is Nested {
  return [DuckDBListValue, DuckDBArrayValue, DuckDBStructValue, DuckDBMapValue, DuckDBUnionValue].some(
    type => value instanceof type,
  )
}

/** What has parts, as JSON has them: a map as the list of its entries. */
function readNested(value: Nested): unknown {
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) return value.items.map(readPart)
  if (value instanceof DuckDBStructValue)
    return Object.fromEntries(Object.entries(value.entries).map(([name, part]) => [name, readPart(part)]))
  if (value instanceof DuckDBMapValue)
    return value.entries.map(entry => ({ key: readPart(entry.key), value: readPart(entry.value) }))
  return readPart(value.value)
}

function readPart(value: DuckDBValue): unknown {
  const read = readValue(value)
  return read instanceof Date ? read.toISOString() : read
}

/** The shortest number that is this float: 0.1, where its double is 0.10000000149011612. */
function shortFloat(float: number): number {
  for (const digits of [6, 7, 8]) {
    const short = Number(float.toPrecision(digits))
    if (Math.fround(short) === float) return short
  }
  return float
}

interface Bindable {
  value: DuckDBValue
  type: DuckDBType
}

/** A value as DuckDB binds it: what `undefined` or an object is, it cannot say. */
export function toBindable(value: unknown): Bindable {
  if (typeof value === 'string') return { value, type: VARCHAR }
  if (typeof value === 'boolean') return { value, type: BOOLEAN }
  if (typeof value === 'bigint') return { value, type: BigInt.asIntN(64, value) === value ? BIGINT : HUGEINT }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { value: BigInt(value), type: BIGINT } : { value, type: DOUBLE }
  if (value === null) return { value, type: SQLNULL }
  if (value instanceof Uint8Array) return { value: blobValue(value), type: BLOB }
  if (value instanceof Date && !Number.isNaN(value.getTime()))
    return { value: new DuckDBTimestampValue(BigInt(value.getTime()) * 1000n), type: TIMESTAMP }
  throw Object.assign(new TypeError(`A value of type ${typeof value} cannot be bound.`), {
    code: 'UNBINDABLE',
  })
}
