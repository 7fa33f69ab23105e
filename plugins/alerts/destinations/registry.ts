import type {} from '@hapi/hapi'
import Joi from 'joi'
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
