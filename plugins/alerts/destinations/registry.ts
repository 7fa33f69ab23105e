import type {} from '@hapi/hapi'
import Joi from 'joi'
import type { Logger } from 'pino'
import { ignoreRejection } from '../../../connectors/foreign-code.ts'
import { reportThrown } from '../../../server/extension-errors.ts'
import { unknownName } from '../../../server/http/errors.ts'
import { Registry } from '../../../server/registry.ts'
import type { DestinationType } from './destination.ts'

declare module '@hapi/hapi' {
  interface Server {
    destinations: Registry<DestinationType>
  }
}

const shape = Joi.object({
  name: Joi.string()
    .pattern(/^[a-z][a-z0-9_]*$/)
    .required(),
  label: Joi.string().required(),
  config: Joi.object().schema().required(),
  urlField: Joi.string(),
  signs: Joi.valid(true),
  messages: Joi.valid('alerts', 'incidents'),
  unavailable: Joi.function(),
  compose: Joi.function(),
  composeDigest: Joi.function(),
  deliver: Joi.function().required(),
})

export function createDestinationRegistry(): Registry<DestinationType> {
  return new Registry<DestinationType>('destination type', shape)
}

/** @throws 400 for a name that no type has */
export function getDestinationType(types: Registry<DestinationType>, name: string): DestinationType {
  if (types.has(name)) return types.get(name)
  throw unknownName('destination_type', name, types.names())
}

/** Why no destination of a type can be created, as it says; null if one can. A type that throws has none. */
export function whyUnavailable(log: Logger, type: DestinationType): string | null {
  try {
    const reason: unknown = type.unavailable?.() ?? null
    if (reason === null || typeof reason === 'string') return reason
    ignoreRejection(reason)
    throw new TypeError(`unavailable of ${type.name} must return a sentence or null`)
  } catch (thrown) {
    return reportThrown(log, `destination type ${type.name}`, thrown, { fields: { call: 'unavailable' } })
  }
}
