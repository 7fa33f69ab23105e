import Joi from 'joi'
import { pageQuery, queryBoolean } from '../../server/page.ts'
import { CHECK_INTERVAL, SLA_THRESHOLD } from '../../server/durations.ts'
import { SIGNALS } from './models.ts'
import { READINESS } from './present.ts'

const MINUTE = 60
const LONGEST_SLA = 400 * 86_400

/** Values separated by commas. */
const commaList = (item: Joi.StringSchema) =>
  Joi.string()
    .max(2_000)
    .custom((value: string, helpers) => {
      const items = value
        .split(',')
        .map(part => part.trim())
        .filter(Boolean)
      const bad = items.map(part => item.label('value').validate(part).error).find(Boolean)
      if (items.length === 0) return helpers.error('string.empty')
      return bad ? helpers.message({ custom: `{{#label}}: ${bad.message.replaceAll(/[{}]/g, '')}` }) : items
    })

const freshnessFilters = {
  status: commaList(Joi.string().valid(...READINESS)),
  schema: commaList(Joi.string()),
  tag: commaList(Joi.string()).normalize('NFC'),
  search: Joi.string().max(200),
  ...pageQuery(),
}

const assetId = Joi.string().max(1_000)

export const assetParams = Joi.object({ asset_id: assetId.required() })
export const freshnessQuery = Joi.object(freshnessFilters)
export const namedAssetQuery = Joi.object({ asset: assetId.required() })
export const monitoredQuery = Joi.object({ ...freshnessFilters, asset_id: assetId })
export const summaryQuery = Joi.object({ asset_id: assetId })

export const scheduleParams = Joi.object({ id: Joi.string().max(100).required() })
export const schedulesQuery = Joi.object({ ...pageQuery(), asset_id: assetId, is_active: queryBoolean })

const scheduleFields = {
  monitoring_mode: Joi.string().valid('auto_learn', 'explicit'),
  sla_threshold: SLA_THRESHOLD,
  expected_interval_hours: Joi.number()
    .strict()
    .min(MINUTE / 3600)
    .max(LONGEST_SLA / 3600),
  freshness_column: Joi.string().max(255).allow(null),
  freshness_signal: Joi.string()
    .valid(...SIGNALS)
    .when('freshness_column', { is: Joi.string().exist(), then: Joi.valid('column') })
    .messages({ 'any.only': '{{#label}} must be {{#valids}}; last_modified reads no freshness_column' }),
  check_interval: CHECK_INTERVAL,
  is_active: Joi.boolean().strict(),
}

export const newSchedule = Joi.object({
  asset_id: assetId.required(),
  table_path: Joi.string().max(1_000),
  ...scheduleFields,
  is_active: scheduleFields.is_active.default(true),
})
  .oxor('sla_threshold', 'expected_interval_hours')
  .required()

export const schedulePatch = Joi.object(scheduleFields)
  .min(1)
  .oxor('sla_threshold', 'expected_interval_hours')
  .required()
