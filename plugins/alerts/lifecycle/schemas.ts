import Joi from 'joi'
import { pageQuery, queryBoolean, queryInteger, queryWords } from '../../../server/http/page.ts'
import { TIMEZONE } from '../../../server/settings/timezones.ts'
import { SEVERITIES } from '../api.ts'
import { ALERT_STATUSES } from '../models.ts'

export const uuid = Joi.string().guid({ wrapper: false, separator: '-' }).lowercase()

/** A malformed id gets the same reply as an unknown one. */
const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000'
export const idParams = Joi.object({ id: uuid.required().failover(UNKNOWN_ID) })

const INBOX_STATUSES = ['triggered', 'acknowledged'] as const

const MAX_SNOOZE_MINUTES = 525_600

const reason = Joi.string().trim().allow(null).max(1_000)

/** The input of the routes of alerts. */
export function alertSchemas(kindNames: readonly string[]) {
  const filters = {
    ...pageQuery(),
    severity: queryWords(SEVERITIES),
    event_type: queryWords(kindNames),
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
  return {
    none: Joi.object({}),
    page: Joi.object(pageQuery()),
    alerts: Joi.object({ ...filters, status: queryWords(ALERT_STATUSES) }),
    inbox: Joi.object({ ...filters, status: queryWords(INBOX_STATUSES).default([...INBOX_STATUSES]) }),
    trends: Joi.object({
      days: queryInteger(1, 365).default(30).description('The number of days, including today.'),
      timezone: TIMEZONE.description(
        'The zone whose midnights separate the days; defaults to the setting TIMEZONE.',
      ),
      asset_id: filters.asset_id,
    }),
    transition: Joi.object({ reason }).allow(null),
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
        'object.missing': 'Give the end of the snooze: duration_minutes or snoozed_until',
        'object.xor': 'Give one of duration_minutes and snoozed_until',
      }),
  }
}
