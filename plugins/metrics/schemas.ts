import Joi from 'joi'
import { pageQuery, queryBoolean, queryInteger } from '../../server/page.ts'

const interval = Joi.string().valid('hourly', 'daily', 'weekly')
const sensitivity = Joi.number().strict().min(0.1).max(10)

export const assetParams = Joi.object({ asset_id: Joi.string().max(1_000).required() })
export const metricParams = assetParams.keys({ metric_id: Joi.string().max(100).required() })

/** What all metric types take; the rest of the body is the type's own to check. */
export const newMetric = Joi.object({
  metric_type: Joi.string().required(),
  table_path: Joi.string().min(1).max(1_000).required(),
  column_name: Joi.string().min(1).max(300),
  capture_interval: interval.default('daily'),
  sensitivity: sensitivity.default(1),
  group_by_columns: Joi.array().items(Joi.string().min(1).max(300)).max(3).unique().default([]),
  percentile_value: Joi.number().strict(),
  backfill_days: Joi.number().strict().integer().min(1).max(90),
})
  .unknown()
  .required()

/** The body of a new metric, and how far back to look. */
export const dryRun = newMetric.keys({
  asset_id: Joi.string().max(1_000).required(),
  lookback_days: Joi.number().strict().integer().min(1).max(90).default(30),
  backfill_days: Joi.forbidden(),
})

export const metricPatch = Joi.object({
  is_active: Joi.boolean().strict(),
  capture_interval: interval,
  sensitivity,
}).required()

/** @param types the names of the metric types, known once the server is built */
export const metricList = (types: () => string[]) =>
  Joi.object({
    metric_type: Joi.string().custom((value: string, helpers) =>
      types().includes(value)
        ? value
        : helpers.message({ custom: `{{#label}} must be one of ${types().join(', ')}` }),
    ),
    is_active: queryBoolean,
    ...pageQuery(),
  })

export const metricQuery = Joi.object({
  include_snapshots: queryBoolean.default(true),
  snapshot_limit: queryInteger(1, 1_000).default(30),
})

export const snapshotList = Joi.object(pageQuery({ max: 1_000, fallback: 100 }))
