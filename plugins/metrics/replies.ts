import Joi from 'joi'
import {
  backfillReply,
  bucketReply,
  bandsReply,
  columnResultsReply,
  failingRunReply,
  operatingHoursReply,
  pastSeriesReply,
  shared,
  partsReply,
  statementsReply,
} from '../../server/http/check-schemas.ts'
import { trialReply, warningsReply } from '../../server/http/trial-schemas.ts'
import { checkRemoval, managedBy, managedFields } from '../../server/http/check-owner.ts'
import { replyKeys } from '../../server/http/fields.ts'
import { costReply } from '../checks/kit.ts'
import { metricFields } from './fields.ts'
import {
  exampleIn,
  exampleRecord,
  held,
  inData,
  inItems,
  record,
  reply,
  withoutExamples,
} from '../../server/http/envelopes.ts'

const { id, text, time, count, integer, number, flag } = held

const METRIC_ID = 'm_7d1c2b3a-4e5f-4a6b-9c7d-8e9f0a1b2c3d'

const metricKeys = {
  id: Joi.string()
    .pattern(/^m_[0-9a-f-]{36}$/)
    .description('The `metric_id` of paths.')
    .example(METRIC_ID),
  internal_id: integer.example(9),
  asset_id: integer.description('The number of its source.').example(3),
  asset_public_id: id
    .description('The id of its source, as paths take it.')
    .example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  table_path: Joi.string().description('`catalog.schema.table`.').example('shop.public.orders'),
  column_name: text.allow(null).example(null),
  metric_type: Joi.string()
    .description('row_count, null_percent, distinct_count, …, or one of an extension.')
    .example('row_count'),
  percentile_value: number.optional().description('Of percentile.'),
  sql_expression: text.optional().description('Of custom_sql.'),
  ...replyKeys(metricFields),
  failing_runs: shared.failingRuns.reply.example(0),
  last_status: Joi.valid('PASS', 'WARNING', 'FAIL', 'ERROR')
    .allow(null)
    .description('How it did last; null before its first capture.')
    .example('PASS'),
  created_at: time.example('2026-03-09T08:12:00.000Z'),
}

/** Types of extensions have fields of their own. */
const metric = exampleRecord({ ...metricKeys, ...managedFields })
  .unknown()
  .label('Metric')

const made = exampleRecord(
  {
    ...metricKeys,
    backfill: backfillReply('Values that were computed of the past.'),
    warnings: warningsReply,
  },
  { last_status: null },
)
  .label('CreatedMetric')
  .unknown()

const groupValues = Joi.object().unknown().description('The values of group_by_columns, by column.')

const valueFields = {
  value: number
    .allow(null)
    .description('Null where there is none, such as the mean of no rows.')
    .example(18_250),
  is_anomaly: flag
    .description(
      'Whether |z_score| exceeds the sensitivity; the status goes by the thresholds and the direction, too.',
    )
    .example(false),
  z_score: number
    .description('Standard deviations from what was expected; 0 while there is no expectation.')
    .example(0.42),
  expected_value: number.allow(null).example(18_236.5),
  expected_range_low: number.allow(null).example(18_140),
  expected_range_high: number.allow(null).example(18_333),
  learning: flag.description('Too little is known yet to alert.').example(false),
  breach: record({
    threshold: Joi.valid('min', 'max', 'max_change_percent'),
    limit: number,
    excess: number.allow(null).description('How far beyond the limit; null of a change from zero.'),
    before: number.allow(null).description('The earlier value, of a change.'),
    allowed: text.description('`at most 10 %`'),
    beyond: text.allow(null).description('`30 %`'),
  })
    .allow(null)
    .label('BrokenThreshold')
    .description('The threshold that the value breaks; null of none.')
    .example(null),
}

const snapshot = exampleRecord({
  id: integer.example(5120),
  metric_definition_id: integer.description('The `internal_id` of its metric.').example(9),
  group_values: groupValues.optional(),
  ...valueFields,
  judged_by: Joi.valid('value', 'change')
    .allow(null)
    .description(
      'Whether the value or its change from the one before was compared; null without an expectation.',
    )
    .example('value'),
  failing_run: failingRunReply,
  explanation: text
    .allow(null)
    .description('The value and what it was compared with, in a sentence; null without a value.')
    .example('18,250 rows, expected 18,140 to 18,333; compared with 30 earlier values'),
  captured_at: time.example('2026-03-09T08:12:05.000Z'),
  ...bucketReply,
  status: Joi.valid('PASS', 'FAIL', 'ERROR').example('PASS'),
  is_backfilled: flag.description('Computed of the past when the metric was made.').example(false),
  is_confirmed: flag.description('A user dismissed it as expected.').example(false),
  error_message: text.allow(null).description('Why no value could be taken.').example(null),
}).label('MetricSnapshot')

const snapshots = Joi.array()
  .items(snapshot)
  .example([exampleIn(snapshot)])

const withSnapshots = exampleRecord({
  ...metricKeys,
  snapshots: snapshots
    .optional()
    .description('The last ones, newest first; left out with include_snapshots=false.'),
  managed_by: managedBy,
})
  .label('MetricDetail')
  .unknown()

const captured = exampleRecord({
  snapshot_count: count.description('One, or one a group.').example(1),
  snapshots,
  parts: partsReply.optional(),
}).label('MetricCapture')

const summary = exampleRecord({
  total_metrics: count.example(4),
  active_metrics: count.example(4),
  total_checks: count.description('Snapshots of them.').example(120),
  passing: count.description('Active metrics that passed last.').example(4),
  failing: count.example(0),
  warning: count.description('Active metrics between 80 % and 100 % of their band.').example(0),
  error: count.description('Active metrics of which no value could be taken.').example(0),
  health_percentage: number.min(0).max(100).example(100),
}).label('MetricSummary')

const thresholdType = Joi.valid('z_score', 'min', 'max', 'max_change_percent')

const dryRun = exampleRecord(
  {
    sql: statementsReply.example([{ text: 'select count(*) from "public"."orders"', values: [] }]),
    status: Joi.valid('PASS', 'FAIL', 'ERROR').example('PASS'),
    ...valueFields,
    groups: Joi.array()
      .items(
        record({ group_values: groupValues, ...withoutExamples(valueFields), total_rows: count.allow(null) }),
      )
      .optional()
      .description('Where it has groups.'),
    bands: bandsReply.example([{ sensitivity: 3, low: 18_140, high: 18_333 }]),
    total_rows: count.allow(null).example(18_250),
    error_message: text.allow(null).example(null),
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
      series: pastSeriesReply.description(
        'The last 750 points, the oldest first, for a chart; empty for a metric by groups.',
      ),
      message: Joi.string(),
    }),
    cost: costReply,
    ...trialReply,
    warnings: warningsReply,
    metric_id: Joi.string()
      .description('The metric whose snapshots were replayed; `new` where there is none.')
      .example('new'),
    metric_type: Joi.string().example('row_count'),
    threshold_type: thresholdType.example('z_score'),
    threshold_value: number
      .description('The sensitivity, or the threshold where it alone counts.')
      .example(3),
    lookback_days: count.example(30),
    total_snapshots: count.description('Equal to history.points.').example(30),
    would_alert_count: count
      .description('Values beyond the sensitivity, once enough is known; in a row they are one alert.')
      .example(1),
    alert_rate_percent: number.min(0).max(100).description('Of total_snapshots.').example(3.33),
    avg_value: number.allow(null).description('Of the values of the past; null without any.').example(18_190),
    min_value: number.allow(null).example(17_900),
    max_value: number.allow(null).example(19_400),
    sample_alerts: Joi.array()
      .items(
        record({
          captured_at: time,
          value: number,
          threshold_type: thresholdType,
          threshold_value: number,
          would_alert: Joi.valid(true),
        }),
      )
      .description('The last 10 values that would have alerted, newest first.')
      .example([
        {
          captured_at: '2026-03-02T08:12:05.000Z',
          value: 19_400,
          threshold_type: 'z_score',
          threshold_value: 3,
          would_alert: true,
        },
      ]),
    recommendation: Joi.string().example('Sensitivity 3 would have raised 1 alert in the last 30 days'),
  },
  {
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
      series: [
        {
          at: '2026-03-09T08:12:05.000Z',
          value: 18_250,
          expected_value: 18_236.5,
          z_score: 0.42,
          learning: false,
          bands: [{ sensitivity: 3, low: 18_140, high: 18_333 }],
        },
      ],
      message:
        'Of 30 daily values in the last 30 days, computed, 1 would have been anomalies at sensitivity 3, in 1 alert',
    },
  },
).label('MetricDryRun')

/** Replies about metrics, for the `response` of a route. */
export const replies = {
  summary: reply(inData(summary)),
  list: reply(inItems(metric)),
  created: reply(inData(made).description('The metric, as stored, with the past that was computed'), 201),
  createdMany: reply(inData(columnResultsReply(METRIC_ID)).description('What became of each column')),
  dryRun: reply(inData(dryRun).description('The value now, the past with its bands, and what would alert')),
  get: reply(inData(withSnapshots).description('The metric, with its newest snapshots')),
  patched: reply(inData(metric)),
  removed: reply(checkRemoval(`Metric ${METRIC_ID} was removed`)),
  run: reply(inData(captured).description('The snapshots that were captured')),
  results: reply(
    inItems(snapshot, {
      min: number.allow(null).description('The limits of now, for a chart.').example(null),
      max: number.allow(null).example(null),
      operating_hours: operatingHoursReply,
    }),
  ),
}
