/**
 * Values as they stand in JSON lines. What JSON has is itself; the rest is an object with one key, so that no value of a
 * database can be mistaken for it.
 */
import type { Value } from '../connector.ts'
import { asBuffer, makeEncoder } from '../value-encoder.ts'

/** A value in JSON: null, a text, a number, a boolean or a marked one. */
export type EncodedValue = null | string | number | boolean | MarkedValue

export type MarkedValue =
  /** A moment, ISO 8601 with its zone. */
  | { $date: string }
  /** Bytes in base64. */
  | { $bytes: string }
  /** What JSON has no number for: `NaN`, `Infinity`, `-Infinity`. */
  | { $number: string }
  /** An integer beyond 2^53; only in bound values. */
  | { $integer: string }
  /** A parsed JSON document, or what else has parts. */
  | { $json: unknown }

/** A bound value. @throws TypeError for what cannot be bound */
export const encodeValue = makeEncoder<EncodedValue>({
  absent: null,
  text: text => text,
  number: number => (Number.isFinite(number) ? number : { $number: String(number) }),
  bigint: integer => ({ $integer: String(integer) }),
  boolean: truth => truth,
  date: moment => ({ $date: moment.toISOString() }),
  bytes: bytes => ({ $bytes: asBuffer(bytes).toString('base64') }),
})

const NOT_FINITE: Record<string, number> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
}

/** A value of a row. @throws TypeError that says what is wrong with it, and quotes nothing of it */
export function decodeValue(given: unknown): Value {
  if (given === null || typeof given === 'string' || typeof given === 'boolean') return given
  if (typeof given === 'number') {
    if (Number.isInteger(given) && !Number.isSafeInteger(given) && Math.abs(given) < 2 ** 63)
      throw new TypeError('an integer beyond 2^53 must be a text')
    return given
  }
  const [[mark, value] = [], second] = typeof given === 'object' ? Object.entries(given ?? {}) : []
  if (second === undefined && mark === '$json') return value as Value
  if (second === undefined && typeof value === 'string') {
    if (mark === '$bytes') return new Uint8Array(Buffer.from(value, 'base64'))
    if (mark === '$number' && value in NOT_FINITE) return NOT_FINITE[value]!
    if (mark === '$date' && !Number.isNaN(Date.parse(value))) return new Date(value)
  }
  throw new TypeError(
    'it must be null, a text, a number, a boolean, or one of $date, $bytes, $number and $json',
  )
}
