/** Validation whose options are compiled once: hapi would copy them, and Joi compile them, for each request. */
import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { VALIDATION_OPTIONS } from './validation-messages.ts'

const SOURCES = ['params', 'query', 'payload'] as const

/** What replaces the schemas that routes are given: the same for the same schema, so that they describe it once. */
const replaced = new WeakMap<Joi.Schema, Joi.Schema>()
/** The schemas of routes, with the options that all are validated with. */
const prepared = new WeakMap<object, Joi.Schema>()
/** What came of validating a path or a query before hapi does. */
const validated = new WeakMap<object, unknown>()

/** Replaces the schemas of all routes. Install it before the first route is added. */
export function prepareValidation(server: Server): void {
  server.events.on('route', ({ settings: { validate } }) => {
    if (!validate) return
    for (const source of SOURCES) {
      const schema: unknown = validate[source]
      if (Joi.isSchema(schema)) validate[source] = prepare(schema)
    }
    delete validate.options
  })
}

/** The same schema to those that describe it. */
function prepare(schema: Joi.Schema): Joi.Schema {
  const known = replaced.get(schema)
  if (known) return known
  const whole = schema.prefs(VALIDATION_OPTIONS)
  const shown = Object.create(schema) as Joi.Schema
  const validate = async (given: object): Promise<unknown> =>
    validated.get(given) ?? (await whole.validateAsync(given))
  shown.validateAsync = validate as Joi.Schema['validateAsync']
  prepared.set(shown, whole)
  replaced.set(schema, shown)
  return shown
}

/** Validates a path or a query before hapi does, which then takes the result. @returns undefined for what hapi will refuse */
export function validateAhead(schema: unknown, given: object): object | undefined {
  const whole = prepared.get(schema as object)
  if (!whole) return undefined
  const { error, value } = whole.validate(given) as Joi.ValidationResult<object>
  if (error) return undefined
  validated.set(given, value)
  return value
}
