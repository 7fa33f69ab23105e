import Joi from 'joi'
import { hoursFields, hoursInput } from '../../server/http/check-schemas.ts'
import { exampleIn, held } from '../../server/http/envelopes.ts'
import type { Fields } from '../../server/http/fields.ts'
import { TIMEZONE } from '../../server/settings/timezones.ts'

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
    body: hoursInput,
    required: true,
    patch: true,
    reply: hoursFields.rules,
    example: exampleIn(hoursFields.rules),
  },
  created_at: { reply: held.time, example: '2026-03-09T08:20:00.000Z' },
  updated_at: { reply: held.time, example: '2026-03-09T08:20:00.000Z' },
} as const satisfies Fields
