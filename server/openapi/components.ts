import type { JsonSchema } from './schema.ts'
import { putChoices, putVariants } from './put-choices.ts'
import type { ApiParts } from './tags.ts'

/** The kinds of parts that a document keeps apart and refers to by name. */
export type ComponentKind = 'schemas' | 'responses' | 'parameters'
export type Components = Record<ComponentKind, Record<string, JsonSchema>>

/** What features add to schemas that name it. */
interface Contributions {
  vocabularies?: ReadonlyMap<string, () => string[]>
  choices?: ApiParts['choices']
}

/** Marks a part, wherever it stands, as the component of this name; `gatherComponents` takes the mark away. */
export function asComponent<T extends object>(kind: ComponentKind, name: string, part: T): T {
  return { ...part, 'x-component': [kind, name] }
}

/**
 * Takes the marked parts out of a document and refers to them in their place. Words of vocabularies, which extensions add
 * to, are put in the place of `x-words`.
 * @param contributions what features add: lists of words, and what objects can be
 * @returns the rest of the document, and the parts in the order of their names
 * @throws Error when two different parts have one name
 */
export function gatherComponents<T>(
  value: T,
  { vocabularies, choices = {} }: Contributions = {},
): { rest: T; components: Components } {
  const found: Record<ComponentKind, Map<string, { part: JsonSchema; known: string }>> = {
    schemas: new Map(),
    responses: new Map(),
    parameters: new Map(),
  }
  const replace = (item: unknown): unknown => {
    if (Array.isArray(item)) return item.map(replace)
    if (typeof item !== 'object' || item === null) return item
    const { 'x-words': vocabulary, 'x-component': mark, ...rest } = withChoices(item as JsonSchema, choices)
    const fields: JsonSchema = Object.fromEntries(
      Object.entries(rest).map(([key, inner]) => [key, replace(inner)]),
    )
    const words = vocabularies?.get(String(vocabulary))
    if (words) fields.enum = words().sort()
    // The example of a body is put together from those of its components.
    if ('example' in fields && JSON.stringify(fields.schema).includes('"$ref"')) delete fields.example
    return mark ? refer(mark as [ComponentKind, string], fields) : fields
  }
  const refer = ([kind, name]: [ComponentKind, string], fields: JsonSchema): JsonSchema => {
    const $ref = `#/components/${kind}/${name}`
    const isSchema = kind === 'schemas'
    // What is said of a schema at one place is not said of it at others.
    const { description, default: fallback, ...shape } = fields
    const part = isSchema ? shape : fields
    const isNullable = isSchema && Array.isArray(part.type) && part.type.includes('null')
    if (isNullable) part.type = (part.type as string[]).filter(type => type !== 'null').join()
    const known = JSON.stringify(part, (key, item: unknown) => (key === 'examples' ? undefined : item))
    const before = found[kind].get(name)
    if (before && before.known !== known)
      throw new Error(
        `Two different ${kind} of /openapi.json are named ${name}: ${before.known} and ${known}`,
      )
    if (!before) found[kind].set(name, { part, known })
    if (!isSchema) return { $ref }
    return {
      ...(isNullable ? { anyOf: [{ $ref }, { type: 'null' }] } : { $ref }),
      ...(description !== undefined && { description }),
      ...(fallback !== undefined && { default: fallback }),
    }
  }
  const rest = replace(value) as T
  const components = Object.entries(found).map(([kind, parts]) => {
    const sorted = [...parts].sort(([a], [b]) => (a < b ? -1 : 1))
    return [kind, Object.fromEntries(sorted.map(([name, { part }]) => [name, part]))]
  })
  return { rest, components: Object.fromEntries(components) as Components }
}

function withChoices(schema: JsonSchema, choices: ApiParts['choices']): JsonSchema {
  const { 'x-choices': name, 'x-choices-by': field, ...rest } = schema
  const known = choices[String(name)]?.() ?? []
  if (known.length === 0) return rest
  return typeof field === 'string' ? putVariants(rest, field, known) : putChoices(rest, known)
}

/** `RULE_NOT_FOUND` and `rule-not-found` as `RuleNotFound`. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter(Boolean)
  return words.map(word => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()).join('')
}
