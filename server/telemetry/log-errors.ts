import { stdSerializers } from 'pino'

/** Deepest nesting of errors within errors that is logged. */
const MAX_DEPTH = 6

/**
 * The fields of an error as the log shows them: pino's, but bytes only by their number. Libraries put what they were
 * given to read into their errors (`rawPacket` of Node, `raw` of hapi), and credentials with it.
 */
export function errorFields(error: Error): object {
  return withoutBytes(stdSerializers.err(error), 0) as object
}

function withoutBytes(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  if (depth > MAX_DEPTH) return '[nested deeper]'
  if (Array.isArray(value)) return value.map(item => withoutBytes(item, depth + 1))
  // What writes itself, such as a date, is not looked into.
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return value
  const fields: Record<string, unknown> = {}
  // Also those that pino inherits to its records: type, message and stack.
  for (const name in value) fields[name] = withoutBytes((value as Record<string, unknown>)[name], depth + 1)
  return fields
}
