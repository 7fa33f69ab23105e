import Joi from 'joi'
import { held, record } from '../../../server/http/envelopes.ts'
import { asComponent, pascalCase } from '../../../server/openapi/components.ts'
import { jsonSchema, type JsonSchema } from '../../../server/openapi/json-schema.ts'
import type { AlertKind } from '../api.ts'

/** The event of alerts of one kind, for the description of the API. */
export function eventSchema({ name, details }: AlertKind): JsonSchema {
  const described = record({
    type: Joi.string().valid(name),
    change_type: held.text.allow(null),
    details: details ?? Joi.object().unknown(),
  })
  return asComponent('schemas', `${pascalCase(name)}Event`, jsonSchema(described, 'output'))
}
