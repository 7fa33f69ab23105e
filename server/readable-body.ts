/** What is refused of any body before a schema looks at it. */
import type { Request } from '@hapi/hapi'
import { apiError } from './http/errors.ts'

declare module '@hapi/hapi' {
  interface RouteOptionsApp {
    /** Whether the route gets the bytes of its body, and reads them itself. */
    readsBody?: true
  }
}

/** Maximum nesting of a body; deeper ones cannot be serialised again. */
const MAX_DEPTH = 32
/** Maximum values in a body: validating half a million would block all other requests. */
const MAX_VALUES = 20_000
export const NOT_JSON = 'The body is not valid JSON: check quotes, commas and brackets'
const TOO_MANY_VALUES = `The body holds more than ${MAX_VALUES} values: send less at a time`

/**
 * Parses the body of a route that leaves this to us, in place of hapi, which would not count its values before.
 * @throws 400 for what is not JSON, and for too many values
 */
export function parseBody(request: Request): void {
  const { payload: body, mime, route } = request
  const isParsed = route.settings.app?.readsBody || route.settings.payload?.parse !== 'gunzip'
  if (!isParsed && Buffer.isBuffer(body)) Object.assign(request, { payload: parse(body, mime) })
}

function parse(body: Buffer, mime = ''): unknown {
  if (mime.startsWith('text/')) return body.toString()
  if (body.length === 0) return null
  if (holdsTooManyValues(body)) throw apiError('BAD_REQUEST', TOO_MANY_VALUES)
  try {
    return JSON.parse(body.toString())
  } catch {
    throw apiError('BAD_REQUEST', NOT_JSON)
  }
}

/** Why a body cannot be stored or served, or null: characters, nesting, or the number of its values. */
export function findUnreadable(body: unknown): string | null {
  let left = MAX_VALUES
  const look = (value: unknown, depth: number): string | null => {
    if (--left < 0) return TOO_MANY_VALUES
    if (typeof value === 'string') return unreadableText(value)
    if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return null
    if (depth > MAX_DEPTH) return `The body is nested deeper than ${MAX_DEPTH} levels: flatten it`
    // Counted before they are visited: a body has room for half a million.
    if (Array.isArray(value)) {
      if (value.length > left) return TOO_MANY_VALUES
      for (const item of value) {
        const problem = look(item, depth + 1)
        if (problem) return problem
      }
      return null
    }
    for (const key in value) {
      const problem = unreadableText(key) ?? look((value as Record<string, unknown>)[key], depth + 1)
      if (problem) return problem
    }
    return null
  }
  return look(body, 1)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const [LIST, OBJECT, COMMA] = [0x5b, 0x7b, 0x2c]

/**
 * Whether a body of JSON is not even parsed: half a million values would take the parser and its garbage 100 ms,
 * in which no other request is answered. Counts in one pass over the bytes: each list or object, and what follows a
 * comma, is a value.
 */
function holdsTooManyValues(json: Buffer): boolean {
  if (json.length <= MAX_VALUES) return false
  let opened = 0
  let commas = 0
  let isText = false
  for (let place = 0; place < json.length; place++) {
    const byte = json[place]
    if (isText) {
      if (byte === BACKSLASH) place++
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (byte === COMMA) commas++
    else if (byte === LIST || byte === OBJECT) opened++
  }
  return Math.max(opened, commas + 1) > MAX_VALUES
}

/** Where in a body a field `__proto__` stands, or null. */
export function findPrototype(value: unknown): string[] | null {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return null
  for (const key in value) {
    const path = key === '__proto__' ? [] : findPrototype((value as Record<string, unknown>)[key])
    if (path) return [key, ...path]
  }
  return null
}

function unreadableText(text: string): string | null {
  if (text.includes('\0')) return 'The body holds a NUL character: remove it'
  return text.isWellFormed() ? null : 'The body holds half of a surrogate pair: send well-formed Unicode'
}
