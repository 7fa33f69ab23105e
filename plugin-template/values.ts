/** SQLite's own form of a moment in UTC, which its date functions write: `2024-02-29 12:34:56`. */
function formatMoment(moment: Date): string {
  return moment
    .toISOString()
    .replace('T', ' ')
    .replace(/(\.000)?Z$/, '')
}

/**
 * A value as node:sqlite binds it. A whole number is bound as an integer: as a float its text would be `5.0`.
 * Other objects are refused here, because node:sqlite takes a first one for named parameters.
 */
export function toBound(value: unknown): unknown {
  if (typeof value === 'boolean') return BigInt(value)
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value
  if (value instanceof Uint8Array) return value
  if (value instanceof Date) return formatMoment(value)
  throw Object.assign(new TypeError(`A value of type ${typeof value} cannot be bound.`), {
    code: 'UNBINDABLE',
  })
}
