import type { FieldPacket, TypedParameter, TypedParameterValue } from 'mysql2'
import type { Row, Value } from '../connector.ts'
import { makeRowReader } from '../row-reader.ts'
import { asBuffer, makeEncoder } from '../value-encoder.ts'

/** Column types of the protocol (include/mysql/plugin_auth_common.h, field_types.h), fixed for all versions. */
const COLUMN_TYPE = {
  tiny: 1,
  float: 4,
  timestamp: 7,
  longlong: 8,
  datetime: 12,
  bit: 16,
  json: 245,
} as const

/** A column of a result in mysql2. */
export type MysqlField = Pick<FieldPacket, 'name'> & {
  columnType?: number
  columnLength?: number
  flags?: number | string[]
}

const UNSIGNED_FLAG = 32

/** How rows, as mysql2 reads them with all its conversions off, become ours. */
export function rowReader(fields: readonly MysqlField[]): (values: readonly Value[]) => Row {
  return makeRowReader(fields.map(field => ({ name: field.name, read: findReader(field) })))
}

function findReader(field: MysqlField): (value: Value) => Value {
  switch (field.columnType) {
    case COLUMN_TYPE.tiny:
      return isBoolean(field) ? readBoolean : asIs
    case COLUMN_TYPE.longlong:
      return readInteger
    case COLUMN_TYPE.float:
      return readFloat
    case COLUMN_TYPE.timestamp:
    case COLUMN_TYPE.datetime:
      return readTimestamp
    case COLUMN_TYPE.bit:
      return field.columnLength === 1 ? value => (value as Uint8Array)[0] === 1 : readBytes
    case COLUMN_TYPE.json:
      return parseJson
    default:
      return value => (value instanceof Uint8Array ? readBytes(value) : value)
  }
}

const asIs = (value: Value): Value => value

/** tinyint(1), which is what BOOLEAN is stored as. */
function isBoolean({ columnLength, flags }: MysqlField): boolean {
  return columnLength === 1 && typeof flags === 'number' && (flags & UNSIGNED_FLAG) === 0
}

/** A tinyint(1) may hold 2, which stays a number. */
function readBoolean(value: Value): Value {
  return value === 0 || value === 1 ? value === 1 : value
}

function readInteger(value: Value): Value {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/** The shortest number that is this float: 0.1, where its double is 0.10000000149011612. */
function readFloat(value: Value): Value {
  const float = value as number
  for (const digits of [6, 7, 8]) {
    const short = Number(float.toPrecision(digits))
    if (Math.fround(short) === float) return short
  }
  return float
}

/** To the millisecond, naive ones read as UTC, which is the session's time zone; 0000-00-00 stays text. */
function readTimestamp(value: Value): Value {
  const text = value as string
  const date = new Date(`${text.slice(0, 10)}T${text.slice(11, 23)}Z`)
  // JavaScript takes the 31st of February for the 2nd of March, and some sessions may store it.
  const isReal = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text.slice(0, 10))
  return isReal ? date : text
}

function readBytes(value: Value): Value {
  return Uint8Array.from(value as Uint8Array)
}

function parseJson(value: Value): Value {
  return JSON.parse(value as string) as Value
}

/** Puts values into the protocol's form; what it throws a TypeError for cannot be bound. */
export function makeMysqlEncoder(types: TypedParameter) {
  return makeEncoder<TypedParameterValue | string | Buffer | Date | null>({
    absent: null,
    text: value => value,
    number(value) {
      if (!Number.isFinite(value)) throw new TypeError(`MySQL knows no number ${value}`)
      return Number.isSafeInteger(value) ? types.LONGLONG(value) : types.DOUBLE(value)
    },
    bigint: value =>
      BigInt.asIntN(64, value) === value ? types.LONGLONG(value) : types.DECIMAL(String(value)),
    boolean: value => types.TINY(value ? 1 : 0),
    date(value) {
      if (!Number.isNaN(value.getTime())) return value
      throw new TypeError('An invalid date cannot be bound to a statement')
    },
    bytes: asBuffer,
  })
}
