/**
 * A document of OpenAPI with what `$ref` refers to in its place; fields beside a `$ref` are laid over it. Records
 * that are made of others (`allOf`) are one.
 */
export function withoutReferences<T extends object>(document: T): T {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    const { $ref, ...fields } = value as { $ref?: string }
    const own = Object.fromEntries(Object.entries(fields).map(([key, item]) => [key, resolve(item)]))
    if (typeof $ref !== 'string') return asOneRecord(own)
    const keys = $ref.replace(/^#\//, '').split('/')
    const target = keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document)
    return { ...(resolve(target) as object), ...own }
  }
  return resolve(document) as T
}

interface Part {
  type?: string
  properties?: object
  required?: string[]
}

function asOneRecord({ allOf, ...fields }: Record<string, unknown>): object {
  const parts = (allOf ?? []) as Part[]
  if (parts.length === 0 || parts.some(({ type }) => type !== 'object'))
    return { ...(allOf !== undefined && { allOf }), ...fields }
  return {
    type: 'object',
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as object,
    required: parts.flatMap(({ required = [] }) => required),
    ...fields,
  }
}
