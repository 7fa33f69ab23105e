import type { RequestRoute } from '@hapi/hapi'
import Joi from 'joi'
import { asComponent, pascalCase } from './components.ts'
import type { RequestBody } from './document.ts'
import { exampleOf } from './examples.ts'
import { describeSchema, jsonSchema, type JsonSchema } from './json-schema.ts'
import { operationId } from './operation-id.ts'

/** The names of bodies of one document; one that several operations take has the name of the first. */
export type BodyNames = WeakMap<Joi.Schema, string>

/** Bodies are JSON, unless a route says which content types it takes. */
export function bodyOf(route: RequestRoute, names: BodyNames): RequestBody | undefined {
  const { settings } = route
  const schema: unknown = settings.validate?.payload
  if (!Joi.isSchema(schema)) return undefined
  // A body that is missing or `null` is null for its schema.
  const isNullRefused = schema.validate(null).error !== undefined
  // A contract is any value, `null` too, but has to be sent.
  const required = isNullRefused || describeSchema(schema).flags?.presence === 'required'
  // A default of the whole body is no value of it: generators refuse an object as the default of what may be null.
  const { default: _whole, ...described } = jsonSchema(schema)
  const types = [described.type].flat()
  const isObject = types.includes('object') && described.properties !== undefined
  const named =
    isObject && !described['x-component']
      ? asComponent('schemas', nameOf(schema, described, { route, names }), described)
      : described
  const json = !required && isObject ? { ...named, type: ['object', 'null'] } : named
  const contentTypes = [settings.payload?.allow ?? 'application/json'].flat()
  const content = contentTypes.map(type => {
    const body = ofType(type, json)
    const example = exampleOf(body)
    return [type, { schema: body, ...(example !== undefined && { example }) }]
  })
  return { required, content: Object.fromEntries(content) }
}

function nameOf(
  schema: Joi.Schema,
  { properties }: JsonSchema,
  { route, names }: { route: RequestRoute; names: BodyNames },
): string {
  if (Object.keys(properties as object).length === 0) return 'EmptyRequest'
  const words = operationId(route).replaceAll(/([A-Z])/g, '-$1')
  const name = names.get(schema) ?? `${pascalCase(words)}Request`
  names.set(schema, name)
  return name
}

/** For a body that is text or an object, each content type takes one. */
function ofType(type: string, json: JsonSchema): JsonSchema {
  const choices = (json.anyOf ?? json.oneOf) as JsonSchema[] | undefined
  if (!choices?.some(choice => choice.type === 'string')) return json
  const isObject = type === 'application/json'
  return choices.find(choice => (choice.type !== 'string') === isObject) ?? json
}
