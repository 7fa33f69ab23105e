import type { JsonSchema } from './json-schema.ts'

/** Texts of the formats that Joi knows. */
const OF_FORMAT: Record<string, string> = {
  uuid: '0197f5e2-7c1b-7d3e-9a44-3f6f0a5b9c21',
  'date-time': '2026-03-14T09:26:53.000Z',
  date: '2026-03-14',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  ipv4: '192.0.2.1',
}

/** Deepest nesting that an example is put together for. */
const MAX_DEPTH = 12

/**
 * An example of what a schema describes: the one that it gives, or one that is put together from its parts. What it
 * cannot guess, such as a text of a pattern, has to be given with `.example()`.
 */
export function exampleOf(schema: JsonSchema, depth = 0): unknown {
  const { examples, const: only, enum: choices, default: fallback } = schema
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if (only !== undefined) return only
  if (fallback !== undefined) return fallback
  if (Array.isArray(choices)) return choices[0]
  if (depth > MAX_DEPTH) return undefined
  const types = [schema.type].flat()
  const type = types.find(each => each !== 'null') ?? types[0]
  if (Array.isArray(schema.allOf) && !schema.properties)
    return exampleOfAll(schema.allOf as JsonSchema[], depth)
  if (type === undefined || (type === 'object' && !schema.properties)) {
    const parts = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
    // Others name the fields that have to be there.
    const choices = parts?.filter(part => !part.required || part.properties) ?? []
    const choice = choices.find(part => part.type !== 'null') ?? choices[0]
    if (choice) return exampleOf(choice, depth + 1)
  }
  if (type === 'object') return objectOf(schema, depth)
  if (type === 'array') return listOf(schema, depth)
  return scalarOf(schema, type)
}

function exampleOfAll(parts: JsonSchema[], depth: number): unknown {
  const examples = parts.map(part => exampleOf(part, depth + 1))
  const isRecord = examples.every(example => typeof example === 'object')
  return isRecord ? (Object.assign({}, ...examples) as object) : examples.at(-1)
}

function objectOf(schema: JsonSchema, depth: number): Record<string, unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
  const choices = [schema, ...((schema.allOf as JsonSchema[] | undefined) ?? [])].map(({ oneOf }) => oneOf)
  const apart = (schema.not as { anyOf?: { required: string[] }[] } | undefined)?.anyOf ?? []
  const others = choices.flatMap(choice => {
    const parts = (choice ?? []) as { required?: string[]; properties?: object }[]
    // Those with properties are forms of one field.
    return parts.flatMap(({ required, properties: more }) => (more ? [] : (required?.[0] ?? []))).slice(1)
  })
  const left = new Set([...others, ...apart.map(({ required }) => required[1])])
  const shown = properties.filter(([name]) => !left.has(name))
  return Object.fromEntries(
    shown
      .map(([name, property]) => [name, exampleOf(property, depth + 1)])
      .filter(([, value]) => value !== undefined),
  )
}

function listOf(schema: JsonSchema, depth: number): unknown[] {
  const item = schema.items as JsonSchema | undefined
  const value = item && exampleOf(item, depth + 1)
  return value === undefined ? [] : [value]
}

function scalarOf(schema: JsonSchema, type: unknown): unknown {
  const { minimum, maximum, format, minLength, maxLength } = schema as Record<string, number | undefined>
  if (type === 'boolean') return true
  if (type === 'null') return null
  if (type === 'integer' || type === 'number') return Math.min(Math.max(1, minimum ?? 1), maximum ?? Infinity)
  if (type !== 'string') return undefined
  const known = OF_FORMAT[String(format)]
  return known ?? 'text'.padEnd(minLength ?? 0, '-').slice(0, maxLength ?? undefined)
}
