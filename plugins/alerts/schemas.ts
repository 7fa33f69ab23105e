import Joi from 'joi'
import { pageQuery, queryBoolean, queryInteger, queryWords } from '../../server/http/page.ts'
import { TIMEZONE } from '../../server/settings/timezones.ts'
import { EVENT_TYPES, SEVERITIES } from './api.ts'
import { ALERT_STATUSES } from './models.ts'

const uuid = Joi.string().guid({ wrapper: false, separator: '-' }).lowercase()

const listOf = (item: Joi.Schema, most: number) => Joi.array().items(item).min(1).max(most).unique()

/** The id of nothing: a malformed id is answered as one that never was. */
const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000'
const idParams = Joi.object({ id: uuid.required().failover(UNKNOWN_ID) })
const page = Joi.object(pageQuery())

const alertFilters = {
  ...pageQuery(),
  severity: queryWords(SEVERITIES),
  event_type: queryWords(EVENT_TYPES),
  asset_id: Joi.string()
    .max(1_000)
    .description('The id or the qualified name of a table, or of a source with all its tables.'),
  delivery_failed: queryBoolean.description('Whether a message about it reached none of its destinations.'),
  search: Joi.string()
    .max(200)
    .description(
      'A part of the title, the name of the rule or the qualified name, in any case; no wildcards.',
    ),
  since: Joi.date().iso().description('Opened at this time or after.'),
  until: Joi.date().iso().description('Opened before this time.'),
}

/** The statuses of alerts that wait for someone. */
const INBOX_STATUSES = ['triggered', 'acknowledged'] as const

const reason = Joi.string().trim().allow(null).max(1_000)

/** A year. */
const MAX_SNOOZE_MINUTES = 525_600

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

/** What a preview looks at of a rule. */
const { name: _name, description: _description, is_active: _isActive, ...previewFields } = ruleFields

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
  alerts: Joi.object({ ...alertFilters, status: queryWords(ALERT_STATUSES) }),
  inbox: Joi.object({ ...alertFilters, status: queryWords(INBOX_STATUSES).default([...INBOX_STATUSES]) }),
  trends: Joi.object({
    days: queryInteger(1, 365).default(30).description('How many days, today the last.'),
    timezone: TIMEZONE.description('Whose midnights part the days; the setting TIMEZONE, unless told.'),
    asset_id: alertFilters.asset_id,
  }),
  move: Joi.object({ reason }).allow(null),
  snooze: Joi.object({
    snoozed_until: Joi.date()
      .iso()
      .greater('now')
      .custom((value: Date, helpers) =>
        value.getTime() > Date.now() + MAX_SNOOZE_MINUTES * 60_000
          ? helpers.message({ custom: '{{#label}} must lie within a year' })
          : value,
      )
      .messages({ 'date.greater': '{{#label}} must lie in the future' }),
    duration_minutes: Joi.number().integer().min(1).max(MAX_SNOOZE_MINUTES),
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
  }).required(),
  rules: Joi.object({
    ...pageQuery(),
    is_active: queryBoolean,
    destination_id: uuid.description('Rules that send to this destination.'),
  }),
  preview: Joi.object({
    ...previewFields,
    rule_id: uuid.description('A stored rule to begin with.'),
    days_back: Joi.number().integer().min(1).max(90).default(7).description('How far to look back.'),
    limit: Joi.number().integer().min(1).max(100).default(20).description('How many alerts to show.'),
    offset: Joi.number().integer().min(0).max(1_000_000_000).default(0),
  }).required(),
  rulePatch: Joi.object({
    ...ruleFields,
    // A rule whose only destination was deleted is off and has none: what was read can be sent back.
    destination_ids: Joi.array().items(uuid).max(100).unique(),
  })
    .min(1)
    .required(),
  destinations: Joi.object({
    ...pageQuery(),
    destination_type: Joi.string()
      .max(100)
      .meta({ openapi: { 'x-words': 'destination_type' } }),
    is_active: queryBoolean,
    is_failing: queryBoolean.description('Whether its latest attempts have all failed.'),
  }),
  newDestination: Joi.object({
    name: destinationFields.name.required(),
    destination_type: Joi.string()
      .required()
      .example('webhook')
      .meta({ openapi: { 'x-words': 'destination_type' } }),
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
