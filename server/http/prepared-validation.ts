/** Validation whose options are compiled once: hapi would copy them, and Joi compile them, for each request. */
import type { Server } from '@hapi/hapi'
import Joi from 'joi'
import { VALIDATION_OPTIONS } from './validation-messages.ts'

const SOURCES = ['params', 'query', 'payload'] as const

/** A schema with the options that all are validated with. */
interface PreparedSchema {
  whole: Joi.Schema
  /** Joi does not compile a context. */
  options: Joi.ValidationOptions
}

const prepared = new WeakMap<object, PreparedSchema>()
/** What came of validating a path or a query before hapi does. */
const validated = new WeakMap<object, unknown>()

/**
 * Replaces the schemas of all routes. Install it before the first route is added.
 * @param timezone of times without an offset: the setting `TIMEZONE`
 */
export function prepareValidation(server: Server, timezone: string): void {
  /** What replaces the schemas that routes are given: the same for the same schema, so that they describe it once. */
  const replaced = new WeakMap<Joi.Schema, Joi.Schema>()
  const options = { context: { timezone } }
  server.events.on('route', ({ settings: { validate } }) => {
    if (!validate) return
    for (const source of SOURCES) {
      const schema: unknown = validate[source]
      if (!Joi.isSchema(schema)) continue
      const shown = replaced.get(schema) ?? prepare(schema, options)
      replaced.set(schema, shown)
      validate[source] = shown
    }
    delete validate.options
  })
}

/** The same schema to those that describe it. */
function prepare(schema: Joi.Schema, options: Joi.ValidationOptions): Joi.Schema {
  const whole = schema.prefs(VALIDATION_OPTIONS)
  const shown = Object.create(schema) as Joi.Schema
  const validate = async (given: object): Promise<unknown> =>
    validated.get(given) ?? (await whole.validateAsync(given, options))
  shown.validateAsync = validate as Joi.Schema['validateAsync']
  prepared.set(shown, { whole, options })
  return shown
}

/** Validates a path or a query before hapi does, which then takes the result. @returns undefined for what hapi will refuse */
export function validateAhead<Given extends object>(schema: unknown, given: Given): Given | undefined {
  const found = prepared.get(schema as object)
  if (!found) return undefined
  const { error, value } = found.whole.validate(given, found.options) as Joi.ValidationResult<Given>
  if (error) return undefined
  validated.set(given, value)
  return value
}
