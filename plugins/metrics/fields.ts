import Joi from 'joi'
import { shared } from '../../server/http/check-schemas.ts'
import { held } from '../../server/http/envelopes.ts'
import type { CreateBody, Fields, PatchBody } from '../../server/http/fields.ts'
import type { Metric } from './models.ts'

/** The fields of a metric that bodies set; types of extensions have fields of their own. */
export const metricFields = {
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
