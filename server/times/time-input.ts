import Joi from 'joi'
import { withOffset } from './read-time.ts'

const zoned = Joi.extend({
  type: 'date',
  base: Joi.date().iso(),
  prepare(value: unknown, { prefs }: Joi.CustomHelpers) {
    if (typeof value !== 'string') return undefined
    const { timezone = 'UTC' } = (prefs.context ?? {}) as { timezone?: string }
    const at = withOffset(value, timezone)
    return at === undefined ? undefined : { value: at }
  },
}) as Joi.Root

/**
 * A time of ISO 8601 in a path, query or body. Without an offset, it is in the zone of the context, which routes set to
 * the setting `TIMEZONE`; Joi's own type would use the zone of the process.
 */
export const timeInput = zoned.date()
