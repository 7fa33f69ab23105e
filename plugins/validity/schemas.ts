import Joi from 'joi'
import { pageQuery, queryBoolean } from '../../server/page.ts'

const severity = Joi.string().valid('info', 'warning', 'critical')
const threshold = Joi.number().strict().min(0).max(100)
const detectionMode = Joi.string().valid('manual', 'auto')
const sensitivity = Joi.number().strict().integer().min(1).max(4)
const periodMode = Joi.string().valid('off', 'schedule', 'auto')
const interval = Joi.string().valid('hourly', 'daily', 'weekly')
const text = (max: number) => Joi.string().allow('', null).max(max)

export const assetParams = Joi.object({ asset_id: Joi.string().max(1_000).required() })
export const ruleParams = assetParams.keys({ rule_id: Joi.string().max(100).required() })

export const newRule = Joi.object({
  rule_type: Joi.string().required(),
  table_path: Joi.string().min(1).max(1_000).required(),
  column_name: Joi.string().min(1).max(300),
  rule_config: Joi.object().unknown().allow(null),
  name: Joi.string().trim().min(1).max(200),
  description: text(2_000),
  error_message: text(1_000),
  severity: severity.default('warning'),
  alert_threshold_percent: threshold,
  detection_mode: detectionMode.default('manual'),
  sensitivity: sensitivity.default(2),
  operating_period_mode: periodMode.default('off'),
  operating_schedule_id: Joi.string()
    .max(100)
    .when('operating_period_mode', { is: 'schedule', then: Joi.required() }),
  treat_null_as_valid: Joi.boolean().strict().default(false),
  check_interval: interval.default('daily'),
  backfill_days: Joi.number().strict().integer().min(1).max(90),
}).required()

/** The body of a new rule, and how far back to look. */
export const dryRun = newRule.keys({
  asset_id: Joi.string().max(1_000).required(),
  lookback_days: Joi.number().strict().integer().min(1).max(90).default(30),
  backfill_days: Joi.forbidden(),
})

export const rulePatch = Joi.object({
  is_active: Joi.boolean().strict(),
  name: Joi.string().trim().min(1).max(200),
  description: text(2_000),
  severity,
  alert_threshold_percent: threshold.allow(null),
  detection_mode: detectionMode,
  sensitivity,
  operating_period_mode: periodMode,
  operating_schedule_id: Joi.string().max(100).allow(null),
  treat_null_as_valid: Joi.boolean().strict(),
  check_interval: interval,
}).required()

/** @param types the names of the rule types, known once the server is built */
export const ruleList = (types: () => string[]) =>
  Joi.object({
    rule_type: Joi.string().custom((value: string, helpers) =>
      types().includes(value)
        ? value
        : helpers.message({ custom: `{{#label}} must be one of ${types().join(', ')}` }),
    ),
    is_active: queryBoolean,
    ...pageQuery(),
  })

export const resultList = Joi.object(pageQuery({ max: 1_000, fallback: 100 }))

export const checkBody = Joi.object({
  sample_limit: Joi.number().strict().integer().min(0).max(100).default(10),
})
  .allow(null)
  .default({ sample_limit: 10 })
