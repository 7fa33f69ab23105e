import { held, nullable } from '../../server/http/envelopes.ts'
import type { Fields } from '../../server/http/fields.ts'
import Joi from 'joi'
import type { FreshnessStatus, SlaStatus } from './models.ts'

export const freshnessStatus: Joi.AnySchema<FreshnessStatus> = Joi.valid('fresh', 'stale', 'unknown')
export const slaStatus: Joi.AnySchema<SlaStatus | null> = Joi.valid('within_sla', 'warning', 'violated')
  .allow(null)
  .description('Null while unknown.')
export const ageMinutes = nullable(held.integer.min(0)).description('Age at the time of the check.')

/** What replies show of a check that is stored. */
export const checkFields = {
  checked_at: { reply: held.time, example: '2026-03-09T08:05:00.000Z' },
  status: { reply: freshnessStatus, example: 'fresh' },
  sla_status: { reply: slaStatus, example: 'within_sla' },
  last_updated: { reply: nullable(held.time), example: '2026-03-09T07:58:00.000Z' },
  data_age_minutes: { reply: ageMinutes, example: 7 },
  is_update: {
    reply: held.flag.description('Whether the data is newer than at the previous check.'),
    example: true,
  },
  error_message: { reply: nullable(held.text), example: null },
  is_backfilled: {
    reply: held.flag.description(
      'Read from the rows when the table was first watched: such a check has no verdict.',
    ),
    example: false,
  },
} satisfies Fields
