import Joi from 'joi'
import { pageQuery, queryBoolean, queryWords } from '../../../server/http/page.ts'

const destinationFields = {
  name: Joi.string().trim().min(1).max(200),
  is_active: Joi.boolean().strict(),
}

const destinationType = Joi.string().meta({ openapi: { 'x-words': 'destination_type' } })

/** The input of the routes of destinations and deliveries. */
export const schemas = {
  nothing: Joi.object({}).allow(null),
  destinations: Joi.object({
    ...pageQuery(),
    destination_type: destinationType.max(100),
    is_active: queryBoolean,
    is_failing: queryBoolean.description('Whether its latest attempts have all failed.'),
  }),
  newDestination: Joi.object({
    name: destinationFields.name.required(),
    destination_type: destinationType.required().example('webhook'),
    config: Joi.object().unknown().required(),
    is_active: destinationFields.is_active.default(true),
  }).required(),
  destinationPatch: Joi.object({ ...destinationFields, config: Joi.object().unknown() })
    .min(1)
    .required(),
  deliveries: Joi.object({
    ...pageQuery(),
    status: queryWords(['pending', 'delivered', 'failed', 'stopped']),
    event_type: queryWords(['alert.triggered', 'alert.resolved', 'alert.test']),
  }),
}
