import Joi from 'joi'
import { held, record } from '../../../server/http/envelopes.ts'
import { asComponent, pascalCase } from '../../../server/openapi/components.ts'
import { jsonSchema, type JsonSchema } from '../../../server/openapi/json-schema.ts'
import type { AlertKind } from '../api.ts'

const contracts = Joi.array()
  .items(
    record({ contract: held.text, clause: held.text, owner: held.text.allow(null) }).label('BrokenClause'),
  )
  .optional()
  .description('Present where contracts rely on the check: the clauses that fail with it.')

/** The details of events of one kind, for the description of the API. */
export function detailsSchema({ name, details = Joi.object().unknown() }: AlertKind): JsonSchema {
  const described = {
    ...jsonSchema(details.append({ contracts }), 'output'),
    description: `Of type ${name}.`,
  }
  return asComponent('schemas', `${pascalCase(name)}Details`, described)
}

/** The event of alerts of one kind, for the description of the API. */
export function eventSchema(kind: AlertKind): JsonSchema {
  const { name } = kind
  const described = record({
    type: Joi.string().valid(name),
    change_type: held.text.allow(null),
    details: Joi.object(),
  })
  const { description: _of, ...details } = detailsSchema(kind)
  const event = jsonSchema(described, 'output')
  return asComponent('schemas', `${pascalCase(name)}Event`, {
    ...event,
    properties: { ...(event.properties as object), details },
  })
}
