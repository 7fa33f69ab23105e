import Joi from 'joi'
import { pageQuery, queryBoolean } from '../../server/page.ts'
import { EVENT_TYPES } from './api.ts'
import { STATUSES } from './models.ts'

const SEVERITIES = ['info', 'warning', 'critical']

const uuid = Joi.string().guid({ wrapper: false, separator: '-' })

const listOf = (item: Joi.Schema, most: number) => Joi.array().items(item).min(1).max(most).unique()

/** The id of nothing: a malformed id is answered as one that never was. */
const NO_ID = '00000000-0000-0000-0000-000000000000'
const idParams = Joi.object({ id: uuid.required().failover(NO_ID) })
const page = Joi.object(pageQuery())

const alertFilters = {
  severity: Joi.string().valid(...SEVERITIES),
  event_type: Joi.string().valid(...EVENT_TYPES),
  asset_id: uuid,
}

const reason = Joi.string().trim().allow(null).max(1_000)

const ruleFields = {
  name: Joi.string().trim().min(1).max(200),
  description: Joi.string().trim().allow(null, '').max(2_000),
  event_types: listOf(Joi.string().valid(...EVENT_TYPES), EVENT_TYPES.length).allow(null),
  severities: listOf(Joi.string().valid(...SEVERITIES), SEVERITIES.length).allow(null),
  asset_ids: listOf(uuid, 1_000).allow(null),
  tag_filter_mode: Joi.string().valid('any', 'all').allow(null),
  tag_filter_tags: listOf(Joi.string().min(1).max(200), 100).allow(null),
  destination_ids: listOf(uuid, 100),
  cooldown_minutes: Joi.number().integer().min(0).max(43_200),
  is_active: Joi.boolean().strict(),
}

const destinationFields = {
  name: Joi.string().trim().min(1).max(200),
  is_active: Joi.boolean().strict(),
}

/** What each route takes. */
export const schemas = {
  none: Joi.object({}),
  nothing: Joi.object({}).allow(null),
  page,
  idParams,
  alerts: Joi.object({
    ...pageQuery(),
    status: Joi.string().valid(...STATUSES),
    delivery_failed: queryBoolean,
    ...alertFilters,
  }),
  inbox: Joi.object({ ...pageQuery(), ...alertFilters }),
  move: Joi.object({ reason }).allow(null),
  snooze: Joi.object({
    snoozed_until: Joi.date()
      .iso()
      .greater('now')
      .messages({ 'date.greater': '{{#label}} must lie in the future' }),
    duration_minutes: Joi.number().integer().min(1).max(525_600),
    reason,
  })
    .xor('snoozed_until', 'duration_minutes')
    .required()
    .messages({
      'object.missing': 'Say how long: duration_minutes or snoozed_until',
      'object.xor': 'Give one of duration_minutes and snoozed_until',
    }),
  newRule: Joi.object({
    ...ruleFields,
    name: ruleFields.name.required(),
    destination_ids: ruleFields.destination_ids.required(),
    cooldown_minutes: ruleFields.cooldown_minutes.default(0),
    is_active: ruleFields.is_active.default(true),
  })
    .with('tag_filter_mode', 'tag_filter_tags')
    .required(),
  rulePatch: Joi.object(ruleFields).min(1).required(),
  newDestination: Joi.object({
    name: destinationFields.name.required(),
    destination_type: Joi.string().required(),
    config: Joi.object().unknown().required(),
    is_active: destinationFields.is_active.default(true),
  }).required(),
  destinationPatch: Joi.object({ ...destinationFields, config: Joi.object().unknown() })
    .min(1)
    .required(),
  deliveries: Joi.object({
    ...pageQuery(),
    status: Joi.string().valid('pending', 'delivered', 'failed', 'stopped'),
  }),
}
