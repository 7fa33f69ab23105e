import Joi from 'joi'
import { shared, windowFields } from '../../server/http/check-schemas.ts'
import { held } from '../../server/http/envelopes.ts'
import type { CreateBody, Fields, PatchBody } from '../../server/http/fields.ts'
import type { Metric } from './models.ts'

const changePercent = Joi.number()
  .strict()
  .min(0)
  .description('A value fails that differs by more than this percentage of the earlier one.')

const changeAgainst = Joi.string()
  .valid('previous', 'same_weekday')
  .description(
    'The earlier value: the previous one, which is the default, or that of the same weekday (and hour, of hourly ones) in UTC.',
  )

const detection = Joi.string()
  .valid('anomaly', 'threshold', 'both')
  .description(
    'What makes a value fail: being an anomaly, breaking a threshold, or either. Defaults to threshold where one is given, else to anomaly.',
  )

const severity = shared.severity.body.description(
  'Of its alerts. Without one it follows from each value: warning for a broken threshold; info below 3 standard deviations, warning from 3, critical from 6.',
)

/** The fields of a metric that bodies set; types of extensions have fields of their own. */
export const metricFields = {
  name: {
    ...shared.name,
    body: shared.name.body.description('Lists and alerts call it so, in place of its type and column.'),
    patch: shared.name.body.allow(null),
    reply: held.text.allow(null),
    example: null,
  },
  severity: {
    column: 'severity',
    body: severity,
    patch: severity.allow(null),
    reply: severity.allow(null),
    example: null,
  },
  group_by_columns: {
    column: 'groupByColumns',
    body: Joi.array()
      .items(Joi.string().min(1).max(300))
      .max(3)
      .unique()
      .description('Measures each group of these columns separately.'),
    default: [],
    reply: held.texts,
    example: [],
  },
  filter: shared.filter,
  ...windowFields,
  capture_interval: shared.interval,
  sensitivity: {
    column: 'sensitivity',
    body: Joi.number()
      .strict()
      .min(0.1)
      .max(10)
      .description('The |z_score| beyond which a value is an anomaly.'),
    default: 1,
    patch: true,
    reply: held.number.description('The |z_score| beyond which a value is an anomaly.'),
    example: 3,
  },
  min: {
    column: 'min',
    body: Joi.number().strict().description('A value below it fails.'),
    patch: Joi.number().strict().allow(null),
    reply: held.number.allow(null).description('A value below it fails.'),
    example: null,
  },
  max: {
    column: 'max',
    body: Joi.number().strict().description('A value above it fails.'),
    patch: Joi.number().strict().allow(null),
    reply: held.number.allow(null).description('A value above it fails.'),
    example: null,
  },
  max_change_percent: {
    column: 'maxChangePercent',
    body: changePercent,
    patch: changePercent.allow(null),
    reply: changePercent.allow(null),
    example: null,
  },
  change_against: {
    column: 'changeAgainst',
    body: changeAgainst,
    patch: changeAgainst.allow(null),
    reply: changeAgainst.allow(null),
    example: null,
  },
  detection: {
    column: 'detection',
    body: detection,
    patch: detection.allow(null),
    reply: detection,
    example: 'anomaly',
  },
  direction: {
    ...shared.direction,
    body: shared.direction.body.description(
      'Whether rises, drops or both count as anomalies and changes; min and max have a direction of their own.',
    ),
    default: 'both',
  },
  consecutive: shared.consecutive,
  is_active: { ...shared.isActive, create: false },
} as const satisfies Fields<Metric>

/** The body of a new metric, validated; what is not named here belongs to the metric type. */
export type NewMetric = CreateBody<Metric, typeof metricFields> & {
  metric_type: string
  table_path: string
  column_name?: string
  backfill_days?: number
  [field: string]: unknown
}

/** The body of a change, validated. */
export type MetricPatch = PatchBody<Metric, typeof metricFields>
