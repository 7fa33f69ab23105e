import type { Value } from '../connector.ts'
import { asBuffer, makeEncoder } from '../value-encoder.ts'

/** Type oids of PostgreSQL's catalog (src/include/catalog/pg_type.dat), fixed for all versions. */
export const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
  jsonb: 3802,
  /** Redshift's own. */
  super: 4000,
  /** Redshift's own. */
  varbyte: 6551,
} as const

/** Lets the server infer the type from where the value stands. */
const INFERRED_OID = 0

/** How texts of the wire become values, by type oid; every other type stays text. */
const PARSERS: ReadonlyMap<number, (text: string) => Value> = new Map<number, (text: string) => Value>([
  [OID.bool, text => text === 't'],
  [OID.int2, Number],
  [OID.int4, Number],
  [OID.oid, Number],
  [OID.int8, text => (Number.isSafeInteger(Number(text)) ? Number(text) : text)],
  [OID.float4, Number],
  [OID.float8, Number],
  [OID.timestamp, parseTimestamp],
  [OID.timestamptz, parseTimestamp],
  [OID.json, text => JSON.parse(text) as Value],
  [OID.jsonb, text => JSON.parse(text) as Value],
  [OID.super, text => JSON.parse(text) as Value],
  [OID.varbyte, text => Uint8Array.from(Buffer.from(text, 'hex'))],
  [OID.bytea, text => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))],
])

const asIs = (text: string): Value => text

/** The parser of a column's type. */
export function findParser(oid: number): (text: string) => Value {
  return PARSERS.get(oid) ?? asIs
}

const TIMESTAMP =
  /^(\d{4,})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:([+-])(\d\d)(?::?(\d\d))?(?::?(\d\d))?)?( BC)?$/

/** A timestamp in ISO style, naive ones read as UTC, to the millisecond; `infinity` and what a Date cannot hold stay text. */
function parseTimestamp(text: string): Value {
  const match = TIMESTAMP.exec(text)
  if (!match) return text
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  const milliseconds = Math.floor(Number(`0.${match[7] ?? '0'}`) * 1000 + 1e-6)
  const sign = match[8] === '-' ? -1 : 1
  const offset = sign * (Number(match[9] ?? 0) * 3600 + Number(match[10] ?? 0) * 60 + Number(match[11] ?? 0))
  const date = new Date(0)
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(match[12] ? 1 - year : year, month - 1, day)
  date.setUTCHours(hour, minute, second - offset, milliseconds)
  return Number.isNaN(date.getTime()) ? text : date
}

/** A value in the wire's form with its declared type. */
export interface BoundValue {
  wire: string | Buffer | null
  oid: number
}

/**
 * Puts a value into the wire's form. Numbers, booleans, dates and bytes say what they are: left to inference,
 * `int_column > 0.5` would fail, because the server takes 0.5 for an integer. Texts are left to inference, so
 * that they compare with enums, uuids and dates.
 */
export const encodeValue = makeEncoder<BoundValue>({
  absent: { wire: null, oid: INFERRED_OID },
  text: value => ({ wire: value, oid: INFERRED_OID }),
  number: value => ({ wire: String(value), oid: numberOid(value) }),
  bigint: value => ({
    wire: String(value),
    oid: BigInt.asIntN(64, value) === value ? OID.int8 : OID.numeric,
  }),
  boolean: value => ({ wire: String(value), oid: OID.bool }),
  date: value => ({ wire: value.toISOString().replace(/^\+0*/, ''), oid: OID.timestamptz }),
  bytes: value => ({ wire: asBuffer(value), oid: OID.bytea }),
})

function numberOid(value: number): number {
  if (!Number.isFinite(value)) return OID.float8
  if (!Number.isSafeInteger(value)) return OID.numeric
  return Math.abs(value) < 2 ** 31 ? OID.int4 : OID.int8
}
