/** Requests with one thing wrong each, made of the OpenAPI document: of every parameter and every field of a body. */
import type { OpenApiDocument, Operation } from '../../server/openapi/document.ts'
import type { JsonSchema } from '../../server/openapi/json-schema.ts'
import { exampleOf } from '../../server/openapi/examples.ts'
import { withoutReferences } from './references.ts'

/** A request, and what is wrong with it. */
export interface WrongRequest {
  name: string
  method: string
  url: string
  body?: unknown
  operation: Operation
}

interface Parameter {
  name: string
  in: string
  schema: JsonSchema
}

/** Values of parameters that hardly one takes. */
export const WRONG_TEXTS = ['', ' ', 'x', '-1', '1.5', '999999999999', 'null', '2026-02-30', 'ä'.repeat(300)]
/** Values of fields that hardly one takes. */
const WRONG_VALUES = [
  null,
  '',
  ' ',
  'x',
  -1,
  1.5,
  1e15,
  true,
  [],
  ['x'],
  [null],
  {},
  { x: 1 },
  'ä'.repeat(12_000),
]
/** Levels of objects in a body that are gone into. */
const MAX_DEPTH = 4

/**
 * Makes them of every operation, always the same.
 * @param ids what stands in a path in place of its parameters; defaults to `x`
 */
export function* wrongRequests(
  document: Pick<OpenApiDocument, 'paths'>,
  ids: Readonly<Record<string, string>> = {},
): Generator<WrongRequest> {
  for (const [path, methods] of Object.entries(withoutReferences(document).paths)) {
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? 'x'))
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`
      const { content } = (operation.requestBody ?? {}) as {
        content?: Record<string, { schema: JsonSchema; example?: unknown }>
      }
      const media = content?.['application/json']
      const body = media && structuredClone(media.example ?? exampleOf(media.schema))
      const base = { method, url, operation, ...(body !== undefined && { body }) }
      for (const query of wrongQueries(operation))
        yield { ...base, name: `${name}?${query}`, url: `${url}?${query}` }
      if (!media) continue
      for (const wrong of [undefined, null, 1, 'x', [], [1]])
        yield { ...base, name: `${name} with ${JSON.stringify(wrong)}`, body: wrong }
      for (const [place, wrong] of wrongBodies(media.schema, body))
        yield { ...base, name: `${name} with ${place}`, body: wrong }
    }
  }
}

function* wrongQueries({ parameters = [] }: Operation): Generator<string> {
  const inQuery = (parameters as Parameter[]).filter(({ in: place }) => place === 'query')
  yield 'unknown=1'
  for (const { name, schema } of inQuery) {
    yield `${mistype(name)}=1`
    const { enum: words } = (schema.items as JsonSchema | undefined) ?? schema
    const near = Array.isArray(words) ? [mistype(String(words[0]))] : []
    for (const text of [...WRONG_TEXTS, ...near]) yield `${name}=${encodeURIComponent(text)}`
    yield `${name}=1&${name}=2`
  }
}

/** A body for each thing that is wrong with a field of it. */
function* wrongBodies(
  schema: JsonSchema,
  body: unknown,
  path = '',
  depth = 0,
): Generator<[place: string, body: unknown]> {
  const properties = propertiesOf(schema)
  const whole =
    typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : {}
  const names = Object.keys(properties)
  yield [`${path}unknown`, { ...whole, unknown: 1 }]
  for (const name of names) {
    const { [name]: value, ...rest } = whole
    const property = properties[name]!
    yield [`no ${path}${name}`, rest]
    yield [`${path}${mistype(name)}`, { ...rest, [mistype(name)]: value ?? 1 }]
    const words = property.enum as unknown[] | undefined
    for (const wrong of [...WRONG_VALUES, ...(words ? [mistype(String(words[0]))] : [])])
      yield [`${path}${name} ${JSON.stringify(wrong).slice(0, 20)}`, { ...whole, [name]: wrong }]
    if (depth >= MAX_DEPTH) continue
    const item = property.items as JsonSchema | undefined
    const inner = item && propertiesOf(item)
    if (inner && Object.keys(inner).length > 0)
      for (const [place, wrong] of wrongBodies(item, exampleOf(item), `${path}${name}.0.`, depth + 1))
        yield [place, { ...whole, [name]: [wrong] }]
    if (Object.keys(propertiesOf(property)).length > 0)
      for (const [place, wrong] of wrongBodies(
        property,
        value ?? exampleOf(property),
        `${path}${name}.`,
        depth + 1,
      ))
        yield [place, { ...whole, [name]: wrong }]
  }
}

export function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  const choices = ['anyOf', 'oneOf', 'allOf'].flatMap(
    word => (schema[word] as JsonSchema[] | undefined) ?? [],
  )
  return Object.assign({}, ...choices.map(propertiesOf), schema.properties) as Record<string, JsonSchema>
}

/** A word with two letters exchanged. */
function mistype(word: string): string {
  return word.length < 2 ? `${word}x` : word.slice(0, -2) + word.at(-1)! + word.at(-2)!
}
