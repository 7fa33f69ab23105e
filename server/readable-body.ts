/** What is refused of any body before a schema looks at it. */

/** Maximum nesting of a body; deeper ones cannot be serialised again. */
const MAX_DEPTH = 32
/** Maximum values in a body: validating half a million would block all other requests. */
const MAX_VALUES = 20_000
const TOO_MANY_VALUES = `The body holds more than ${MAX_VALUES} values: send less at a time`

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
