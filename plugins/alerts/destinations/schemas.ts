import Joi from 'joi'
import { MAX_NEW_DESTINATIONS } from './bulk.ts'
import type { DestinationChanges, NewDestination } from './destinations.ts'
import { EVENT_TYPES, type EventType } from './payload.ts'
import { MESSAGE_CHOICES, type Delivery } from '../models.ts'
import { pageQuery, type Page, queryBoolean, queryWords } from '../../../server/http/page.ts'

const destinationFields = {
  name: Joi.string().trim().min(1).max(200),
  messages: Joi.string()
    .valid(...MESSAGE_CHOICES)
    .description(
      '`alerts`: a message about each alert, the default of webhooks. `incidents`: one about each incident, and another when it gets worse or is over; the default of types for people.',
    ),
  is_active: Joi.boolean().strict(),
}

const destinationType = Joi.string().meta({ openapi: { 'x-words': 'destination_type' } })

export interface DestinationFilters extends Page {
  destination_type?: string
  is_active?: boolean
  active_only?: boolean
  is_failing?: boolean
}

export interface DeliveryFilters extends Page {
  status?: Delivery['status'][]
  event_type?: EventType[]
}

const newDestination = Joi.object<NewDestination>({
  name: destinationFields.name.required(),
  destination_type: destinationType.required().example('webhook'),
  config: Joi.object()
    .unknown()
    .required()
    .meta({ openapi: { 'x-choices': 'destination_config' } })
    .description('What `destination_type` asks for. Secrets are returned redacted.'),
  messages: destinationFields.messages,
  is_active: destinationFields.is_active.default(true),
})

export const schemas = {
  nothing: Joi.object({}).allow(null),
  destinations: Joi.object<DestinationFilters>({
    ...pageQuery(),
    destination_type: destinationType.max(100),
    is_active: queryBoolean,
    active_only: queryBoolean.description('Whether to leave out destinations that are switched off.'),
    is_failing: queryBoolean.description('Whether its latest attempts have all failed.'),
  }),
  newDestination: newDestination.required(),
  newDestinations: Joi.object<{ destinations: NewDestination[] }>({
    destinations: Joi.array().items(newDestination).min(1).max(MAX_NEW_DESTINATIONS).required(),
  }).required(),
  destinationPatch: Joi.object<DestinationChanges>({ ...destinationFields, config: Joi.object().unknown() })
    .min(1)
    .required(),
  deliveries: Joi.object<DeliveryFilters>({
    ...pageQuery(),
    status: queryWords(['pending', 'delivered', 'failed', 'stopped']),
    event_type: queryWords([...EVENT_TYPES]),
  }),
}
