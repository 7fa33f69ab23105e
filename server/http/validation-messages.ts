/** The sentences of failed validation: every schema's failures are worded here, and name fields in one spelling. */
import type Joi from 'joi'
import { describeSchema, type Description } from '../openapi/json-schema.ts'

/** One failure: where it is, what is wrong, and Joi's type of it. */
export interface Failure {
  path: string[]
  message: string
  type: string
}

/** Most names that a sentence lists. */
const MAX_NAMES = 40

/**
 * The failures of a validation, each once. Fields are named with dots (`config.auth.value`, `tag_filters.3`), and the
 * first unknown field of an object is followed by the names of those that it may have.
 * @param schema what the value was held to
 * @param root what the value as a whole is called: `the body`
 * @param most how many failures to give
 */
export function failuresOf(
  { details }: Pick<Joi.ValidationError, 'details'>,
  schema: unknown,
  root: string,
  most = Infinity,
): Failure[] {
  const seen = new Set<string>()
  const listed = new Set<string>()
  return details.slice(0, most).flatMap(detail => {
    // Joi blames the object as a whole for a field that is given by two names.
    const isTwice = detail.type === 'object.rename.override'
    const path = [...detail.path, ...(isTwice ? [detail.context?.from as string] : [])].map(String)
    const parent = path.slice(0, -1).join('.')
    let message = sentence(detail, path.join('.') || root, root)
    if (detail.type === 'object.unknown' && !listed.has(parent)) {
      message += allowed(schema, path.slice(0, -1))
      listed.add(parent)
    }
    const key = `${path.join('.')} ${message}`
    if (seen.has(key)) return []
    seen.add(key)
    return [{ path, message, type: detail.type }]
  })
}

function sentence({ type, message, context, path }: Joi.ValidationErrorItem, name: string, root: string) {
  if (path.length === 0 && (type === 'object.base' || type === 'any.required'))
    return `a JSON object is required in ${root}`
  if (type === 'string.guid') return `${name} must be a UUID`
  const label = context?.label
  return label !== undefined && message.startsWith(`${label} `) ? name + message.slice(label.length) : message
}

/** The names that an object may have, as the end of a sentence; empty where the schema does not say. */
function allowed(schema: unknown, path: readonly string[]): string {
  // A schema of an extension may be of another copy of Joi.
  const isDescribed = typeof (schema as Partial<Joi.Schema> | undefined)?.describe === 'function'
  const keys = isDescribed ? keysAt(describeSchema(schema as Joi.Schema), path) : null
  if (!keys) return ''
  if (keys.length === 0) return ': nothing is taken here'
  const more = keys.length > MAX_NAMES ? ', …' : ''
  return `; allowed are ${keys.slice(0, MAX_NAMES).join(', ')}${more}`
}

function keysAt(description: Description | undefined, [first, ...rest]: readonly string[]): string[] | null {
  if (!description || description.type === 'alternatives') return null
  if (first !== undefined) return keysAt(description.keys?.[first] ?? description.items?.[0], rest)
  if (description.type !== 'object') return null
  const keys = Object.entries(description.keys ?? {})
  return keys.filter(([, { flags }]) => flags?.presence !== 'forbidden').map(([key]) => key)
}
