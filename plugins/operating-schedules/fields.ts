import Joi from 'joi'
import { hoursFields } from '../../server/http/check-schemas.ts'
import { exampleIn, held } from '../../server/http/envelopes.ts'
import type { Fields } from '../../server/http/fields.ts'
import { TIMEZONE } from '../../server/settings/timezones.ts'

const MAX_RULES = 100

const time = (pattern: RegExp, meaning: string) =>
  Joi.string()
    .pattern(pattern)
    .messages({ 'string.pattern.base': `{{#label}} must be a time of day as HH:MM, ${meaning}` })
    .required()

const rule = Joi.object({
  days: Joi.array()
    .items(Joi.number().strict().integer().min(1).max(7))
    .min(1)
    .unique()
    .required()
    .description('The days on which it starts, 1 is Monday'),
  start: time(/^([01]\d|2[0-3]):[0-5]\d$/, '00:00 to 23:59'),
  end: time(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, '00:00 to 24:00').description(
    'At or before the start, it is on the next day: 22:00 to 06:00 is a night, 08:00 to 08:00 are 24 hours',
  ),
})

/** What an operating schedule is made of. */
export const scheduleFields = {
  id: { reply: held.id, example: '0196f2f0-4455-7667-8899-aabbccddeeff' },
  name: {
    body: Joi.string().trim().min(1).max(200),
    required: true,
    patch: true,
    reply: held.text,
    example: 'Office hours',
  },
  timezone: {
    body: TIMEZONE,
    required: true,
    patch: true,
    reply: hoursFields.timezone,
    example: exampleIn(hoursFields.timezone),
  },
  rules: {
    body: Joi.array().items(rule).min(1).max(MAX_RULES),
    required: true,
    patch: true,
    reply: hoursFields.rules,
    example: exampleIn(hoursFields.rules),
  },
  created_at: { reply: held.time, example: '2026-03-09T08:20:00.000Z' },
  updated_at: { reply: held.time, example: '2026-03-09T08:20:00.000Z' },
} as const satisfies Fields
