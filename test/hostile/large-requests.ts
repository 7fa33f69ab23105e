/** The most expensive requests within the limits that this program can think of, made of the OpenAPI document. */
import { exampleOf } from '../../server/openapi/examples.ts'
import type { OpenApiDocument, Operation } from '../../server/openapi/document.ts'
import type { JsonSchema } from '../../server/openapi/json-schema.ts'
import { withoutReferences } from '../helpers/references.ts'
import { propertiesOf } from '../helpers/wrong-requests.ts'

export interface LargeRequest {
  /** `POST /api/v1/sdk/assets`. */
  route: string
  /** What is large in it: `name: a text of blanks`. */
  attack: string
  method: string
  url: string
  body?: string
  operation: Operation
}

/** Bodies of most routes are limited to 1 MiB. */
const BYTES = 1_000_000
/** Characters of an address that Node takes. */
const URL_CHARACTERS = 14_000
/** Nesting that JSON of a body may have. */
const MAX_DEPTH = 32

/** Values of about `BYTES` as JSON, by what is large in them. */
const LARGE_VALUES: Readonly<Record<string, string>> = {
  'a text of letters': JSON.stringify('a'.repeat(BYTES)),
  'a text of blanks': JSON.stringify(`a${' '.repeat(BYTES)}b`),
  'a text of quotes': JSON.stringify('"'.repeat(BYTES / 2)),
  'a text of brackets': JSON.stringify('('.repeat(BYTES)),
  'a text of dots': JSON.stringify('.'.repeat(BYTES)),
  'a text of lines': JSON.stringify('a: a\n'.repeat(BYTES / 6)),
  'a list of numbers': `[${'0,'.repeat(BYTES / 2 - 2)}0]`,
  'a list of texts': `[${list(BYTES / 10, index => `"t${index}"`)}]`,
  'a list of objects': `[${'{},'.repeat(BYTES / 3 - 2)}{}]`,
  'an object of many fields': `{${list(BYTES / 14, index => `"f${index}":0`)}}`,
  'deep lists': deepLists(),
}

/** Those that every field is given. */
const KINDS_OF_FIELDS = [
  'a text of blanks',
  'a text of brackets',
  'a list of texts',
  'an object of many fields',
  'deep lists',
]

/** @param ids what stands in a path in place of its parameters; defaults to `x` */
export function* largeRequests(
  document: Pick<OpenApiDocument, 'paths'>,
  ids: Readonly<Record<string, string>>,
): Generator<LargeRequest> {
  for (const [path, methods] of Object.entries(withoutReferences(document).paths)) {
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? 'x'))
    for (const [method, operation] of Object.entries(methods)) {
      const base = { route: `${method.toUpperCase()} ${path}`, method, url, operation }
      for (const [attack, query] of largeQueries(operation)) yield { ...base, attack, url: `${url}?${query}` }
      if (path.includes('{')) yield { ...base, attack: 'a long path', url: longPath(path) }
      const { content } = (operation.requestBody ?? {}) as {
        content?: Record<string, { schema: JsonSchema; example?: unknown }>
      }
      const media = content?.['application/json']
      if (!media) continue
      const example = media.example ?? exampleOf(media.schema)
      for (const [attack, body] of largeBodies(media.schema, example)) yield { ...base, attack, body }
    }
  }
}

function* largeQueries({ parameters = [] }: Operation): Generator<[string, string]> {
  const inQuery = (parameters as { name: string; in: string }[]).filter(({ in: place }) => place === 'query')
  yield ['many parameters', list(URL_CHARACTERS / 6, index => `p${index}=`, '&')]
  for (const { name } of inQuery) {
    yield [`${name}: a long text`, `${name}=${'a'.repeat(URL_CHARACTERS)}`]
    yield [`${name}: a text of blanks`, `${name}=a${'+'.repeat(URL_CHARACTERS)}b`]
    yield [`${name}: a long list`, `${name}=${'a,'.repeat(URL_CHARACTERS / 2)}`]
    yield [`${name}: stars`, `${name}=${'*a'.repeat(URL_CHARACTERS / 2)}`]
    yield [`${name}: given often`, list(URL_CHARACTERS / (name.length + 2), () => `${name}=`, '&')]
  }
}

const longPath = (path: string) => path.replaceAll(/\{\w+\}/g, 'a.'.repeat(URL_CHARACTERS / 2))

function* largeBodies(schema: JsonSchema, example: unknown): Generator<[string, string]> {
  for (const [kind, value] of Object.entries(LARGE_VALUES)) yield [`the body: ${kind}`, value]
  if (!isRecord(example)) return
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    for (const kind of KINDS_OF_FIELDS)
      yield [`${name}: ${kind}`, withField(example, name, LARGE_VALUES[kind]!)]
    const item = property.items as JsonSchema | undefined
    if (item) {
      const one = JSON.stringify(exampleOf(item) ?? 0)
      yield [
        `${name}: a list of examples`,
        withField(example, name, `[${list(BYTES / (one.length + 1), () => one)}]`),
      ]
    }
    for (const inner of Object.keys(propertiesOf(property)))
      for (const kind of ['a text of blanks', 'a list of texts', 'an object of many fields'])
        yield [
          `${name}.${inner}: ${kind}`,
          withField(example, name, withField(example[name], inner, LARGE_VALUES[kind]!)),
        ]
  }
}

/** The JSON of an object with another value of a field, which is JSON itself. */
function withField(whole: unknown, name: string, value: string): string {
  const { [name]: _former, ...rest } = isRecord(whole) ? whole : {}
  const others = JSON.stringify(rest).slice(1, -1)
  return `{${others === '' ? '' : `${others},`}${JSON.stringify(name)}:${value}}`
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function list(count: number, item: (index: number) => string, separator = ','): string {
  return Array.from({ length: Math.floor(count) }, (_, index) => item(index)).join(separator)
}

/** Wide and as deep as a body may be. */
function deepLists(): string {
  const one = `${'['.repeat(MAX_DEPTH - 2)}${']'.repeat(MAX_DEPTH - 2)}`
  return `[${list(BYTES / (one.length + 1), () => one)}]`
}
