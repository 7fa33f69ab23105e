import Joi from 'joi'
import { shared, windowFields } from '../../server/http/check-schemas.ts'
import { held } from '../../server/http/envelopes.ts'
import type { CreateBody, Fields, PatchBody } from '../../server/http/fields.ts'
import type { ValidityRule } from './models.ts'

/** The fields of a rule that lists show too. */
export const listedFields = {
  name: { ...shared.name, example: 'Known statuses' },
  severity: { ...shared.severity, example: 'critical' },
  is_active: { ...shared.isActive, create: false },
  check_interval: shared.interval,
} as const satisfies Fields<ValidityRule>

const threshold = Joi.number()
  .strict()
  .min(0)
  .max(100)
  .description('Manual mode: the rule fails above this percentage of invalid rows; defaults to 0.')

const direction = shared.direction.body.description(
  'Auto mode: whether rises of the percentage, drops or both are anomalies; defaults to rise. Null of manual mode.',
)

/** The fields of a rule that only its details show. */
export const detailFields = {
  description: shared.description,
  filter: shared.filter,
  ...windowFields,
  alert_threshold_percent: {
    column: 'alertThresholdPercent',
    body: threshold,
    patch: threshold.allow(null),
    reply: threshold.allow(null),
    example: null,
  },
  treat_null_as_valid: {
    column: 'treatNullAsValid',
    body: Joi.boolean().strict().description('Ignores rows with NULL, except for NOT_NULL.'),
    default: false,
    patch: true,
    example: false,
  },
  detection_mode: {
    column: 'detectionMode',
    body: Joi.string()
      .valid('manual', 'auto')
      .description('manual: fails above the threshold; auto: fails outside a learned range.'),
    default: 'manual',
    patch: true,
    example: 'manual',
  },
  sensitivity: {
    column: 'sensitivity',
    body: Joi.number()
      .strict()
      .integer()
      .min(1)
      .max(4)
      .description('Auto mode: width of the range in standard deviations; 1 alerts most often.'),
    default: 2,
    patch: true,
    example: 2,
  },
  direction: {
    ...shared.direction,
    body: direction,
    patch: direction.allow(null),
    reply: direction.allow(null),
    example: null,
  },
  consecutive: shared.consecutive,
  operating_period_mode: {
    column: 'operatingPeriodMode',
    body: Joi.string()
      .valid('off', 'schedule', 'auto')
      .description('Learns active and quiet hours apart: by an operating schedule, or detected.'),
    default: 'off',
    patch: true,
    example: 'off',
  },
  operating_schedule_id: {
    column: 'operatingScheduleId',
    body: Joi.string().max(100).when('operating_period_mode', { is: 'schedule', then: Joi.required() }),
    patch: Joi.string().max(100).allow(null),
    reply: held.id.allow(null),
    example: null,
  },
  error_message: {
    column: 'errorMessage',
    body: Joi.string()
      .allow('', null)
      .max(1_000)
      .description('The title of alerts, in place of the default.'),
    reply: held.text.allow(null),
    example: null,
  },
} as const satisfies Fields<ValidityRule>

/** All fields of a rule that bodies set. */
export const ruleFields = { ...listedFields, ...detailFields }

/** The body of a new rule, validated. */
export type NewRule = CreateBody<ValidityRule, typeof ruleFields> & {
  rule_type: string
  table_path: string
  column_name?: string
  rule_config?: Record<string, unknown> | null
  backfill_days?: number
}

/** The body of a change, validated. */
export type RulePatch = PatchBody<ValidityRule, typeof ruleFields>
