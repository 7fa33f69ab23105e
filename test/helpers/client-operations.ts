/** Writes the types of the TypeScript client (`plugins/public/client/operations.ts`) from an OpenAPI document. */
import { join } from 'node:path'
import type { OpenApiDocument, Operation } from '../../server/openapi/document.ts'
import { GENERATED_FILE, root } from './sources.ts'

export const OPERATIONS_FILE = join(root, GENERATED_FILE)

type Schema = Record<string, unknown>

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Schema
}

type Content = Record<string, { schema: Schema }>

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

const HEADER = `/**
 * What the server takes and replies, by method and path: written from its OpenAPI document by \`npm run client:types\`,
 * which installing, testing and building run.
 */
`

/**
 * Returns the text of the file. Only what a program calls is in it: no pages, no error replies, which are all `ApiError`,
 * and no component that neither a body nor a reply refers to.
 */
export async function renderOperations(document: OpenApiDocument): Promise<string> {
  const names = new Set<string>()
  const writer = new TypeWriter(document, names)
  const operations = METHODS.map(method => {
    const entries = Object.entries(document.paths).flatMap(([path, methods]) => {
      const operation = methods[method]
      const text = operation && writer.operation(operation)
      return text ? [`'${path}': ${text}`] : []
    })
    return `${method}: {\n${entries.join('\n')}\n}`
  })
  const components: string[] = []
  // A component that is written may name others, which are then visited too.
  for (const name of names) components.push(writer.component(name))
  const text = `${HEADER}
export interface Operations {\n${operations.join('\n')}\n}

/** The POSTs that make nothing twice when they are repeated with the same \`Idempotency-Key\`; without \`/api/v1/\`. */
export const IDEMPOTENT_POSTS: readonly string[] =
  '${writer.idempotentPosts().join(' ').replaceAll('/api/v1/', '')}'.split(' ')

${components.sort().join('\n\n')}\n`
  const prettier = await import('prettier').catch(() => null)
  // Without the tools of development it is as good for programs.
  if (!prettier) return text
  return prettier.format(text, { ...(await prettier.resolveConfig(OPERATIONS_FILE)), parser: 'typescript' })
}

class TypeWriter {
  readonly #document: OpenApiDocument
  readonly #names: Set<string>

  /** @param names gets the names of the components that were written */
  constructor(document: OpenApiDocument, names: Set<string>) {
    this.#document = document
    this.#names = names
  }

  /** The options and the reply of an operation; null of one that answers with a page. */
  operation(operation: Operation): string | null {
    const reply = this.#replyOf(operation)
    if (reply === null) return null
    const parameters = this.#parametersOf(operation)
    const inPath = parameters.filter(({ in: place }) => place === 'path')
    const inQuery = parameters.filter(({ in: place }) => place === 'query')
    const query = inQuery.map(({ name, required, description, schema }) =>
      property(name, required, description, this.#type(schema)),
    )
    const options = [
      ...(inPath.length > 0
        ? [`path: { ${inPath.map(({ name }) => `${name}: string | number`).join('; ')} }`]
        : []),
      ...(query.length > 0
        ? [
            property(
              'query',
              inQuery.some(each => each.required),
              undefined,
              `{\n${query.join('\n')}\n}`,
            ),
          ]
        : []),
      ...this.#bodyOf(operation),
      ...(hasKey(parameters) ? ['idempotencyKey?: string'] : []),
    ]
    return `{ options: ${options.length > 0 ? `{${options.join('\n')}}` : 'object'}; reply: ${reply} }`
  }

  component(name: string): string {
    const schema = this.#resolve({ $ref: `#/components/schemas/${name}` })
    const text = this.#type(schema)
    const isInterface = text.startsWith('{') && text === this.#ownType(schema)
    const declaration = isInterface ? `interface ${name} ${text}` : `type ${name} = ${text}`
    return `${comment(schema.description)}export ${declaration}`
  }

  idempotentPosts(): string[] {
    return Object.entries(this.#document.paths).flatMap(([path, { post }]) =>
      post && hasKey(this.#parametersOf(post)) ? [path] : [],
    )
  }

  #parametersOf({ parameters = [] }: Operation): Parameter[] {
    return parameters.map(parameter => this.#resolve(parameter as Schema) as unknown as Parameter)
  }

  #bodyOf({ requestBody }: Operation): string[] {
    if (!requestBody) return []
    const { required, content } = requestBody as { required: boolean; content: Content }
    const types = Object.entries(content).flatMap(([type, { schema }]) =>
      type === 'application/json' ? [this.#type(schema)] : /^text\//.test(type) ? ['string'] : [],
    )
    return [property('body', required, undefined, union(types))]
  }

  #replyOf({ responses }: Operation): string | null {
    const types = Object.entries(responses).flatMap(([status, response]) => {
      if (!status.startsWith('2')) return []
      const { content = {} } = this.#resolve(response as Schema) as { content?: Content }
      if (status === '204') return ['undefined']
      const json = content['application/json']
      if (json) return [this.#type(json.schema)]
      return Object.keys(content).some(type => /^text\/(plain|markdown)|svg/.test(type)) ? ['string'] : []
    })
    return types.length > 0 ? union(types) : null
  }

  #resolve(schema: Schema): Schema {
    if (typeof schema.$ref !== 'string') return schema
    const words = schema.$ref.slice(2).split('/')
    return words.reduce((value, word) => value[word] as Schema, this.#document as unknown as Schema)
  }

  #type(schema: Schema): string {
    if (typeof schema.$ref === 'string') {
      const name = schema.$ref.slice('#/components/schemas/'.length)
      this.#names.add(name)
      return name
    }
    const parts = [
      this.#ownType(schema),
      ...((schema.allOf as Schema[] | undefined) ?? []).map(part => this.#type(part)),
      this.#choice((schema.anyOf ?? schema.oneOf) as Schema[] | undefined),
    ].filter(part => part !== 'unknown')
    if (parts.length < 2) return parts[0] ?? 'unknown'
    return parts.map(part => (part.includes(' | ') ? `(${part})` : part)).join(' & ')
  }

  /** `unknown` where a choice is between conditions, such as which fields are there, and not between types. */
  #choice(choices: Schema[] = []): string {
    const types = choices.map(choice => this.#type(choice))
    return types.length === 0 || types.includes('unknown') ? 'unknown' : union(types)
  }

  #ownType(schema: Schema): string {
    const { type, enum: values } = schema
    if (JSON.stringify(schema.not) === '{}') return 'never'
    if ('const' in schema) return JSON.stringify(schema.const)
    if (Array.isArray(values)) return union(values.map(value => JSON.stringify(value)))
    const types = [type ?? []].flat() as string[]
    return types.length === 0 ? 'unknown' : union(types.map(name => this.#typeNamed(name, schema)))
  }

  #typeNamed(name: string, schema: Schema): string {
    if (name === 'integer') return 'number'
    if (name === 'array') return `(${this.#type((schema.items ?? {}) as Schema)})[]`
    return name === 'object' ? this.#objectType(schema) : name
  }

  #objectType({ properties, required, ...others }: Schema): string {
    const fields = Object.entries((properties ?? {}) as Record<string, Schema>)
    if (fields.length > 0) {
      const isRequired = (field: string) => ((required ?? []) as string[]).includes(field)
      const lines = fields.map(([field, schema]) =>
        property(field, isRequired(field), schema.description as string | undefined, this.#type(schema)),
      )
      // More than is named may be sent, as in an artifact of which a part is read.
      if (others.additionalProperties === true) lines.push('[field: string]: unknown')
      return `{\n${lines.join('\n')}\n}`
    }
    const [values] = [others.additionalProperties, ...Object.values(others.patternProperties ?? {})].filter(
      (value): value is Schema => typeof value === 'object',
    )
    if (values) return `Record<string, ${this.#type(values)}>`
    return `Record<string, ${others.additionalProperties === false ? 'never' : 'unknown'}>`
  }
}

function hasKey(parameters: readonly Parameter[]): boolean {
  return parameters.some(({ name }) => name === 'Idempotency-Key')
}

/** An open vocabulary keeps its words, which `string` would swallow, for completion. */
function union(types: readonly string[]): string {
  const unique = [...new Set(types)]
  const isOpen = unique.includes('string') && unique.some(type => type.startsWith('"'))
  return unique.map(type => (isOpen && type === 'string' ? '(string & {})' : type)).join(' | ')
}

function property(name: string, isRequired: boolean, description: string | undefined, type: string): string {
  return `${comment(description)}'${name}'${isRequired ? '' : '?'}: ${type}`
}

function comment(text: unknown): string {
  return typeof text === 'string' ? `/** ${text.replaceAll('*/', '*\\/').replaceAll(/\s+/g, ' ')} */\n` : ''
}
