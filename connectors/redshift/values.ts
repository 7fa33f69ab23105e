import { encodeValue, OID, type BoundValue } from '../postgresql/values.ts'

/**
 * Puts a value into the wire's form as PostgreSQL does, without its numeric: one without a scale is
 * numeric(18,0) here, which would round 0.5 to 1. Fractions and integers beyond 64 bits are the nearest doubles.
 */
export function encodeForRedshift(value: unknown): BoundValue {
  const bound = encodeValue(value)
  return bound.oid === OID.numeric ? { ...bound, oid: OID.float8 } : bound
}
