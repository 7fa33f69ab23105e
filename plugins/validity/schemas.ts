import Joi from 'joi'
import { pageQuery, queryBoolean } from '../../server/http/page.ts'

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
  rule_type: Joi.string()
    .required()
    .meta({ openapi: { 'x-words': 'rule_type' } })
    .description('NOT_NULL, UNIQUE, REGEX, RANGE, ENUM, DATE_FORMAT, CUSTOM_SQL, or one of an extension.'),
  table_path: Joi.string().min(1).max(1_000).required().description('`catalog.schema.table`.'),
  column_name: Joi.string().min(1).max(300).description('Of all types but CUSTOM_SQL.'),
  rule_config: Joi.object()
    .unknown()
    .allow(null)
    .description('What the type asks for, such as allowed_values. Integers beyond 2^53 are given as text.'),
  name: Joi.string().trim().min(1).max(200),
  description: text(2_000),
  error_message: text(1_000).description('What alerts say in place of our words.'),
  severity: severity.default('warning'),
  alert_threshold_percent: threshold.description(
    'Manual mode: the percentage of invalid rows above which it fails; 0 unless given.',
  ),
  detection_mode: detectionMode
    .default('manual')
    .description('Whether it fails by the threshold, or by what is unusual for it.'),
  sensitivity: sensitivity
    .default(2)
    .description('Auto mode: width of the band in standard deviations; 1 alerts most.'),
  operating_period_mode: periodMode
    .default('off')
    .description('Whether busy and quiet hours have a baseline each: by a schedule, or learned.'),
  operating_schedule_id: Joi.string()
    .max(100)
    .when('operating_period_mode', { is: 'schedule', then: Joi.required() }),
  treat_null_as_valid: Joi.boolean().strict().default(false).description('Skips NULL, except of NOT_NULL.'),
  check_interval: interval.default('daily'),
  backfill_days: Joi.number()
    .strict()
    .integer()
    .min(1)
    .max(90)
    .description(
      'Auto mode: learns this many days of the past at once, as the timestamps of the table tell it.',
    ),
})
  .required()
  .example({
    rule_type: 'ENUM',
    table_path: 'public.orders',
    column_name: 'status',
    rule_config: { allowed_values: ['new', 'paid', 'shipped', 'delivered', 'cancelled'] },
    name: 'Known statuses',
    severity: 'critical',
  })

/** The body of a new rule, and how far back to look. */
export const dryRun = newRule
  .keys({
    asset_id: Joi.string().max(1_000).required(),
    lookback_days: Joi.number()
      .strict()
      .integer()
      .min(1)
      .max(90)
      .default(30)
      .description('Days of the past that are looked at.'),
    backfill_days: Joi.forbidden(),
  })
  .example(
    {
      asset_id: 'shop',
      rule_type: 'NOT_NULL',
      table_path: 'public.customers',
      column_name: 'email',
      detection_mode: 'auto',
    },
    { override: true },
  )

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
})
  .required()
  .example({ severity: 'warning', is_active: false })

/** @param types the names of the rule types, known once the server is built */
export const ruleList = (types: () => string[]) =>
  Joi.object({
    rule_type: Joi.string()
      .meta({ openapi: { 'x-words': 'rule_type' } })
      .custom((value: string, helpers) =>
        types().includes(value)
          ? value
          : helpers.message({ custom: `{{#label}} must be one of ${types().join(', ')}` }),
      )
      .description('Only rules of this type.'),
    is_active: queryBoolean,
    ...pageQuery(),
  })

export const resultList = Joi.object(pageQuery({ max: 1_000, fallback: 100 }))

export const checkBody = Joi.object({
  sample_limit: Joi.number()
    .strict()
    .integer()
    .min(0)
    .max(100)
    .default(10)
    .description('Invalid rows that the reply shows.'),
})
  .allow(null)
  .example({ sample_limit: 10 })
  .default({ sample_limit: 10 })
