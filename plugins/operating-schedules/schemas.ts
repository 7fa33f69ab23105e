import Joi from 'joi'
import { pageQuery } from '../../server/http/page.ts'
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

const name = Joi.string().trim().min(1).max(200)
const rules = Joi.array().items(rule).min(1).max(MAX_RULES)

export const newSchedule = Joi.object({
  name: name.required(),
  timezone: TIMEZONE.required(),
  rules: rules.required(),
})
  .required()
  .example({
    name: 'Office hours',
    timezone: 'Europe/Berlin',
    rules: [{ days: [1, 2, 3, 4, 5], start: '08:00', end: '18:00' }],
  })

export const schedulePatch = Joi.object({ name, timezone: TIMEZONE, rules })
  .required()
  .example({ timezone: 'Europe/Paris' })

export const scheduleParams = Joi.object({ schedule_id: Joi.string().required() })

export const scheduleList = Joi.object(pageQuery())
