import Joi from 'joi'
import { createKeys, patchKeys } from '../../server/http/fields.ts'
import { metricFields } from './fields.ts'
import {
  columnName,
  columnNames,
  dryRunKeys,
  pastDays,
  tablePath,
  typeFilter,
} from '../../server/http/check-schemas.ts'
import { pageQuery, queryBoolean, queryInteger } from '../../server/http/page.ts'

export const metricId = Joi.string().max(100).required()

/** What all metric types take; the rest of the body is the type's own to check. */
export const newMetric = Joi.object({
  metric_type: Joi.string()
    .required()
    .meta({ openapi: { 'x-words': 'metric_type' } })
    .description(
      'row_count, null_percent, distinct_count, duplicate_count, min_value, max_value, mean, percentile, sum, standard_deviation, min_length, mean_length, max_length, custom_sql, or one of an extension.',
    ),
  table_path: tablePath.description('`catalog.schema.table`.'),
  column_name: columnName.description('Of all types but row_count and custom_sql.'),
  ...createKeys(metricFields),
  percentile_value: Joi.number().strict().description('Of percentile: from 0 to 100.'),
  sql_expression: Joi.string().description(
    'Of custom_sql: an aggregate expression over the rows, or one SELECT of one number.',
  ),
  backfill_days: pastDays.description(
    'Learns this many days of the past at once, computed from the timestamps of the table.',
  ),
})
  .unknown()
  .required()
  .example({ metric_type: 'row_count', table_path: 'public.orders', sensitivity: 3 })

/** A metric of a declaration: the body of a new one without its table and its past, and whether it is active. */
export const declaredMetric = newMetric.keys({
  table_path: Joi.forbidden(),
  backfill_days: Joi.forbidden(),
  is_active: metricFields.is_active.body.default(true),
})

/** The body of a new metric for each of several columns, which are named after them. */
export const newMetrics = newMetric
  .keys({ column_name: Joi.forbidden(), name: Joi.forbidden(), column_names: columnNames })
  .example(
    { metric_type: 'null_percent', table_path: 'public.customers', column_names: ['email', 'phone'] },
    { override: true },
  )

/** The body of a new metric, and how far back to look. */
export const dryRun = newMetric
  .keys(dryRunKeys)
  .example(
    { asset_id: 'shop', metric_type: 'mean', table_path: 'public.orders', column_name: 'total' },
    { override: true },
  )

export const metricPatch = Joi.object(patchKeys(metricFields)).required().example({ sensitivity: 2.5 })

/** @param types the names of the metric types, known once the server is built */
export const metricList = (types: () => string[]) =>
  Joi.object({
    metric_type: typeFilter('metric_type', types).description('Only metrics of this type.'),
    is_active: queryBoolean,
    ...pageQuery(),
  })

export const metricQuery = Joi.object({
  include_snapshots: queryBoolean.default(true).description('Whether it comes with its last snapshots.'),
  snapshot_limit: queryInteger(1, 1_000).default(30).description('How many of them.'),
})
