import Joi from 'joi'
import { exampleOf, replyKeys } from '../../server/http/fields.ts'
import { metricFields } from './fields.ts'
import { held, inData, inItems, record, removal, reply } from '../../server/http/envelopes.ts'

const { text, time, count, integer, number, flag } = held

const METRIC = {
  id: 'm_7d1c2b3a-4e5f-4a6b-9c7d-8e9f0a1b2c3d',
  internal_id: 9,
  asset_id: 3,
  table_path: 'shop.public.orders',
  column_name: null,
  metric_type: 'row_count',
  ...exampleOf(metricFields),
  last_status: 'PASS',
  created_at: '2026-03-09T08:12:00.000Z',
}

const metricKeys = {
  id: Joi.string()
    .pattern(/^m_[0-9a-f-]{36}$/)
    .description('The `metric_id` of paths.'),
  internal_id: integer,
  asset_id: integer.description('The number of its source.'),
  table_path: Joi.string().description('`catalog.schema.table`.'),
  column_name: text.allow(null),
  metric_type: Joi.string().description(
    'row_count, null_percent, distinct_count, …, or one of an extension.',
  ),
  percentile_value: number.optional().description('Of percentile.'),
  ...replyKeys(metricFields),
  last_status: Joi.valid('PASS', 'WARNING', 'FAIL', 'ERROR')
    .allow(null)
    .description('How it did last; null before its first capture.'),
  created_at: time,
}

/** Types of extensions have fields of their own. */
const metric = record(metricKeys, METRIC).unknown().label('Metric')

const made = record(
  {
    ...metricKeys,
    backfill: record({
      points: count.description('Values that were computed of the past.'),
      timestamp_column: text.allow(null).description('The column with the time at which rows were added.'),
      message: Joi.string(),
    })
      .optional()
      .description('With backfill_days.'),
  },
  { ...METRIC, last_status: null },
).unknown()

const SNAPSHOT = {
  id: 5120,
  metric_definition_id: 9,
  value: 18_250,
  captured_at: '2026-03-09T08:12:05.000Z',
  is_anomaly: false,
  z_score: 0.42,
  status: 'PASS',
  expected_value: 18_236.5,
  expected_range_low: 18_140,
  expected_range_high: 18_333,
  learning: false,
  is_backfilled: false,
  is_confirmed: false,
  error_message: null,
}

const groupValues = Joi.object().unknown().description('The values of group_by_columns, by column.')

const valueFields = {
  value: number.allow(null).description('Null where there is none, such as the mean of no rows.'),
  is_anomaly: flag,
  z_score: number.description('Standard deviations from what was expected; 0 while there is no expectation.'),
  expected_value: number.allow(null),
  expected_range_low: number.allow(null),
  expected_range_high: number.allow(null),
  learning: flag.description('Too little is known yet to alert.'),
}

const snapshot = record(
  {
    id: integer,
    metric_definition_id: integer.description('The `internal_id` of its metric.'),
    group_values: groupValues.optional(),
    ...valueFields,
    captured_at: time,
    status: Joi.valid('PASS', 'FAIL', 'ERROR'),
    is_backfilled: flag.description('Computed of the past when the metric was made.'),
    is_confirmed: flag.description('A user dismissed it as expected.'),
    error_message: text.allow(null).description('Why no value could be taken.'),
  },
  SNAPSHOT,
).label('MetricSnapshot')

const withSnapshots = record(
  {
    ...metricKeys,
    snapshots: Joi.array()
      .items(snapshot)
      .optional()
      .description('The last ones, newest first; left out with include_snapshots=false.'),
  },
  { ...METRIC, snapshots: [SNAPSHOT] },
).unknown()

const captured = record(
  {
    snapshot_count: count.description('One, or one a group.'),
    snapshots: Joi.array().items(snapshot),
  },
  { snapshot_count: 1, snapshots: [SNAPSHOT] },
)

const summary = record(
  {
    total_metrics: count,
    active_metrics: count,
    total_checks: count.description('Snapshots of them.'),
    passing: count.description('Active metrics that passed last.'),
    failing: count,
    warning: count.description('Active metrics between 80 % and 100 % of their band.'),
    error: count.description('Active metrics of which no value could be taken.'),
    health_percentage: number.min(0).max(100),
  },
  {
    total_metrics: 4,
    active_metrics: 4,
    total_checks: 120,
    passing: 4,
    failing: 0,
    warning: 0,
    error: 0,
    health_percentage: 100,
  },
)

const statement = record({ text: Joi.string(), values: Joi.array().items(Joi.any()) })

const dryRun = record(
  {
    sql: Joi.array().items(statement).description('What the source is sent.'),
    status: Joi.valid('PASS', 'FAIL', 'ERROR'),
    ...valueFields,
    groups: Joi.array()
      .items(record({ group_values: groupValues, ...valueFields, total_rows: count.allow(null) }))
      .optional()
      .description('Where it has groups.'),
    total_rows: count.allow(null),
    error_message: text.allow(null),
    history: record({
      lookback_days: count,
      source: Joi.valid('snapshots', 'timestamps')
        .allow(null)
        .description('Snapshots of such a metric, or the timestamps of the table; null without either.'),
      timestamp_column: text.allow(null),
      groups: count.optional().description('Groups that have snapshots.'),
      groups_replayed: count.optional(),
      points: count,
      anomalies: count,
      alerts: count.description('Anomalies in a row are one.'),
      by_sensitivity: Joi.array().items(record({ sensitivity: number, anomalies: count, alerts: count })),
      message: Joi.string(),
    }),
  },
  {
    sql: [{ text: 'select count(*) from "public"."orders"', values: [] }],
    status: 'PASS',
    value: 18_250,
    is_anomaly: false,
    z_score: 0.42,
    expected_value: 18_236.5,
    expected_range_low: 18_140,
    expected_range_high: 18_333,
    learning: false,
    total_rows: 18_250,
    error_message: null,
    history: {
      lookback_days: 30,
      source: 'timestamps',
      timestamp_column: 'created_at',
      points: 30,
      anomalies: 1,
      alerts: 1,
      by_sensitivity: [
        { sensitivity: 1, anomalies: 4, alerts: 3 },
        { sensitivity: 2, anomalies: 2, alerts: 2 },
        { sensitivity: 3, anomalies: 1, alerts: 1 },
        { sensitivity: 4, anomalies: 0, alerts: 0 },
      ],
      message:
        'Of 30 daily values in the last 30 days, computed, 1 would have been anomalies at sensitivity 3, in 1 alert',
    },
  },
)

/** Replies about metrics, for the `response` of a route. */
export const replies = {
  summary: reply(inData(summary)),
  list: reply(inItems(metric)),
  created: reply(inData(made), 201),
  dryRun: reply(inData(dryRun)),
  get: reply(inData(withSnapshots)),
  patched: reply(inData(metric)),
  removed: reply(removal(`Metric ${METRIC.id} was removed`)),
  run: reply(inData(captured)),
  results: reply(inItems(snapshot)),
}
