import { stdSerializers } from 'pino'
import { redactCredentials } from '../../connectors/errors.ts'
import { secretMasker } from './mask-secrets.ts'

/** Deepest nesting of errors within errors that is logged. */
const MAX_DEPTH = 6
/** Values of one error that are logged: errors of HTTP clients hold sockets, and these nearly everything. */
const MAX_VALUES = 2_000
/** Characters of one text of an error of an extension. */
const MAX_TEXT_LENGTH = 20_000

/**
 * The fields of an error as the log shows them: pino's, but bytes only by their number. Libraries put what they were
 * given to read into their errors (`rawPacket` of Node, `raw` of hapi), and credentials with it.
 */
export function errorFields(error: Error): Record<string, unknown> {
  return loggedValue(stdSerializers.err(error), { depth: 0, left: { count: MAX_VALUES } }) as Record<
    string,
    unknown
  >
}

/**
 * The fields of what an extension threw, which may be anything: without secrets, and with texts of bounded length. They
 * are logged as `err`, like those of any error.
 */
export function maskedErrorFields(thrown: unknown, secrets: readonly string[]): Record<string, unknown> {
  const mask = secretMasker(secrets)
  // Masked before it is cut, so that no secret is cut in two.
  const clean = (text: string) => redactCredentials(mask(text).slice(0, MAX_TEXT_LENGTH))
  try {
    const walk = { depth: 0, left: { count: MAX_VALUES }, clean }
    const fields =
      thrown instanceof Error ? stdSerializers.err(thrown) : { type: typeof thrown, message: thrown }
    return loggedValue(fields, walk) as Record<string, unknown>
  } catch (error) {
    // A getter that throws, or a proxy.
    return {
      type: typeof thrown,
      message: clean(`What was thrown cannot be read: ${(error as Error)?.message}`),
    }
  }
}

interface Walk {
  depth: number
  /** How many values may follow, in the whole error. */
  left: { count: number }
  clean?(text: string): string
}

function loggedValue(value: unknown, walk: Walk): unknown {
  if (typeof value === 'string') return walk.clean ? walk.clean(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  if (walk.depth > MAX_DEPTH) return '[nested deeper]'
  const inner = { ...walk, depth: walk.depth + 1 }
  if (Array.isArray(value))
    return value.filter(() => walk.left.count-- > 0).map(item => loggedValue(item, inner))
  // What writes itself, such as a date or an address, is not looked into.
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return walk.clean ? walk.clean(JSON.stringify(value) ?? '') : value
  const fields: Record<string, unknown> = {}
  // Also those that pino inherits to its records: type, message and stack.
  for (const name in value) {
    if (walk.left.count-- <= 0) break
    fields[name] = loggedValue((value as Record<string, unknown>)[name], inner)
  }
  return fields
}
