import type Joi from 'joi'
import { RECORD_NAME } from '../http/envelopes.ts'
import { asComponent } from './components.ts'
import type { JsonSchema } from './schema.ts'

export type { JsonSchema }

/** What `Joi.describe()` says of a schema, as far as it is read. */
export interface Description {
  type: string
  flags?: { default?: unknown; label?: string; description?: string; presence?: string; empty?: Description }
  allow?: unknown[]
  metas?: { openapi?: JsonSchema; secret?: boolean; contentType?: string }[]
  examples?: unknown[]
  keys?: Record<string, Description>
  items?: Description[]
  matches?: { schema?: Description }[]
  whens?: unknown[]
  renames?: { from: string; to: string }[]
  rules?: { name: string }[]
  dependencies?: { rel: string; key?: string; peers: string[] }[]
}

interface Emitter {
  '~standard': { jsonSchema: Record<'input' | 'output', (options: { target: string }) => JsonSchema> }
}

/**
 * The JSON Schema of a Joi schema. Joi emits it itself; what it leaves out is added: `null` in nullable enums,
 * examples, `or`, `xor`, `and`, `oxor`, `nand`, `with` and `without`, secrets as write-only. `.meta({ openapi })` is laid over what was emitted,
 * and stands alone when it names another type. A record with a label is marked as the component of that name.
 * @param side what is sent (`input`) or what is answered (`output`)
 */
export function jsonSchema(schema: Joi.Schema, side: 'input' | 'output' = 'input'): JsonSchema {
  const known = made[side].get(schema) ?? make(schema, side)
  made[side].set(schema, known)
  return known
}

/** Routes share schemas, and describing one takes Joi a millisecond. */
const made = { input: new WeakMap<Joi.Schema, JsonSchema>(), output: new WeakMap<Joi.Schema, JsonSchema>() }
const described = new WeakMap<Joi.Schema, Description>()

/** What Joi says of a schema, asked once. */
export function describeSchema(schema: Joi.Schema): Description {
  const known = described.get(schema) ?? (schema.describe() as Description)
  described.set(schema, known)
  return known
}

function make(schema: Joi.Schema, side: 'input' | 'output'): JsonSchema {
  const emitted = (schema as unknown as Emitter)['~standard'].jsonSchema[side]({ target: 'draft-2020-12' })
  // Through JSON, since Joi shares parts between results and leaves dates and undefined in them.
  const plain = JSON.parse(JSON.stringify(emitted)) as JsonSchema
  const { $defs: _shared, ...json } = mend(describeSchema(schema), plain)
  const mended = mendTypes(json) as JsonSchema
  return side === 'output' ? withoutLimits(mended) : mended
}

/**
 * The schema of a reply, less what is of use to who checks input only. That replies have no more fields is no promise:
 * clients have to expect new ones.
 */
function withoutLimits(schema: JsonSchema): JsonSchema {
  const kept = Object.entries(schema).filter(
    ([key, value]) =>
      !(key === 'additionalProperties' && value === false) &&
      !(key === 'minLength' && value === 1) &&
      !(key === 'minimum' && value === 0),
  )
  return Object.fromEntries(kept.map(([key, value]) => [key, mapSchemas(key, value, withoutLimits)]))
}

/** Applies a change to the schemas that a keyword of a schema holds. */
function mapSchemas(keyword: string, value: unknown, change: (schema: JsonSchema) => JsonSchema): unknown {
  if (keyword === 'properties' && isSchema(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, isSchema(item) ? change(item) : item]),
    )
  if (['items', 'additionalProperties', 'not'].includes(keyword) && isSchema(value)) return change(value)
  if (['anyOf', 'oneOf', 'allOf'].includes(keyword) && Array.isArray(value))
    return (value as unknown[]).map(item => (isSchema(item) ? change(item) : item))
  return value
}

function mend(description: Description, json: JsonSchema): JsonSchema {
  const { type, flags, metas = [], examples, dependencies = [] } = description
  // Its reference would count from the root of whatever the schema is put into.
  if (type === 'link') return {}
  // A default that another field gives is described as an object of Joi's own.
  if (typeof flags?.default === 'object' && flags.default !== null && 'ref' in flags.default)
    delete json.default
  if (description.whens === undefined) mendChildren(description, json)
  if (examples) json.examples = examples
  if (metas.some(({ secret }) => secret)) json.writeOnly = true
  const choices: JsonSchema[] = []
  const excluded: string[][] = []
  for (const { rel, key, peers } of dependencies) {
    if (rel === 'or') choices.push({ anyOf: peers.map(peer => ({ required: [peer] })) })
    if (rel === 'xor') choices.push({ oneOf: peers.map(peer => ({ required: [peer] })) })
    if (rel === 'with' && key)
      json.dependentRequired = { ...(json.dependentRequired as object), [key]: peers }
    if (rel === 'and')
      json.dependentRequired = {
        ...(json.dependentRequired as object),
        ...Object.fromEntries(peers.map(peer => [peer, peers.filter(other => other !== peer)])),
      }
    if (rel === 'without' && key) excluded.push(...peers.map(peer => [key, peer]))
    if (rel === 'oxor')
      excluded.push(...peers.flatMap((one, index) => peers.slice(index + 1).map(other => [one, other])))
    if (rel === 'nand') excluded.push(peers)
  }
  if (choices.length === 1) Object.assign(json, choices[0])
  if (choices.length > 1) json.allOf = choices
  const apart = excluded.map(required => ({ required }))
  if (apart.length > 0) json.not = apart.length === 1 ? apart[0] : { anyOf: apart }
  const given: JsonSchema = Object.assign({}, ...metas.map(({ openapi }) => openapi))
  for (const each of [json, given])
    if (typeof each.pattern === 'string') each.pattern = portable(each.pattern)
  // An empty text is as none.
  const isEmptyTaken = flags?.empty?.allow?.includes('') === true
  if (isEmptyTaken && json.minLength === 1) delete json.minLength
  // Trimmed, white space alone is empty.
  if (
    type === 'string' &&
    !isEmptyTaken &&
    json.minLength !== undefined &&
    description.rules?.some(({ name }) => name === 'trim')
  ) {
    if (json.pattern === undefined && given.pattern === undefined) json.pattern = '\\S'
    else json.allOf = [{ pattern: '\\S' }]
  }
  const { description: text, default: fallback } = json
  const isOther = given.type !== undefined && given.type !== json.type
  const kept = isOther
    ? {
        ...(text !== undefined && { description: text }),
        ...(fallback !== undefined && { default: fallback }),
      }
    : json
  const whole = { ...kept, ...given }
  const { label } = flags ?? {}
  return label !== undefined && RECORD_NAME.test(label) ? asComponent('schemas', label, whole) : whole
}

/**
 * A pattern that every language can compile: classes of Unicode are known with JavaScript's flag `u` only. Halves of
 * surrogate pairs are in no text of a body that is read.
 */
function portable(pattern: string): string {
  return pattern
    .replaceAll('\\P{Cc}', '[^\\p{Cc}]')
    .replaceAll('\\p{Cs}', '')
    .replaceAll('\\p{Cc}', '\\u0000-\\u001f\\u007f-\\u009f')
    .replaceAll('\\0', '\\u0000')
}

function mendChildren({ keys = {}, items = [], matches = [] }: Description, json: JsonSchema): void {
  const properties = json.properties as Record<string, JsonSchema> | undefined
  for (const [key, child] of Object.entries(keys)) {
    if (!properties?.[key]) continue
    if (child.flags?.presence !== 'forbidden') properties[key] = mend(child, properties[key])
    // Joi emits one that may be anything.
    else if (json.additionalProperties === false) delete properties[key]
    else properties[key] = { not: {} }
  }
  const [item, another] = items
  if (item && !another && isSchema(json.items)) json.items = mend(item, json.items)
  const choices = (json.anyOf ?? json.oneOf ?? json.allOf) as JsonSchema[] | undefined
  // A nullable choice is emitted with `null` in front.
  const before = (choices?.length ?? 0) - matches.length
  matches.forEach(({ schema }, index) => {
    const choice = choices?.[before + index]
    if (schema && choices && choice) choices[before + index] = mend(schema, choice)
  })
}

/** Flattens nested lists of types and lets an enum hold the `null` that its type allows. */
function mendTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mendTypes)
  if (!isSchema(value)) return value
  const json = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mendTypes(item)]))
  if (Array.isArray(json.anyOf) && json.anyOf.length === 1) {
    const [only] = json.anyOf as JsonSchema[]
    delete json.anyOf
    return { ...only, ...json }
  }
  if (Array.isArray(json.type)) {
    json.type = [...new Set(json.type.flat())]
    if (Array.isArray(json.enum) && (json.type as unknown[]).includes('null') && !json.enum.includes(null)) {
      json.enum = [...(json.enum as unknown[]), null]
    }
  }
  return json
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
