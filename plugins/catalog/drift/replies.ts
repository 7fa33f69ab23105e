import Joi from 'joi'
import {
  exampleIn,
  exampleRecord,
  held,
  inData,
  inNestedPage,
  record,
  reply,
  withoutExamples,
} from '../../../server/http/envelopes.ts'
import { IMPACTS } from './diff.ts'
import { SOURCE_ID, TABLE_ID } from '../assets/asset-replies.ts'
import { changeFields, differenceFields, valueFields } from './change-replies.ts'

const { id, text, time, count, flag } = held

const summary = exampleRecord({
  total_changes: count.description('In the last `days_back` days.').example(4),
  unacknowledged: count.description('Whenever they were found; so the three below.').example(1),
  critical_count: count.example(0),
  warning_count: count.example(1),
  info_count: count.example(0),
  last_check: time
    .allow(null)
    .description('When a catalog was read last.')
    .example('2026-03-09T08:05:10.440Z'),
}).label('SchemaChangeSummary')

const placeFields = {
  severity: Joi.valid('critical', 'warning', 'info')
    .description('By its impact: high, medium, low.')
    .example('warning'),
  column_name: text.allow(null).description('Null of a change of the table.').example('total'),
}

const placed = exampleRecord({
  ...changeFields,
  ...valueFields,
  asset_id: id.description('The table.').example(TABLE_ID),
  qualified_name: Joi.string().example('shop.shop.public.orders'),
  ...placeFields,
  acknowledged_at: time.allow(null).example(null),
  acknowledged_by: Joi.string()
    .allow(null)
    .description(
      '`user:<id>` or `key:<id>`; `reverted` when it was taken back, `excluded` when its table left the patterns.',
    )
    .example(null),
}).label('PlacedSchemaChange')

const differing = {
  asset_id: id.allow(null).description('Null of a table that no discovery has found yet.').example(TABLE_ID),
  ...differenceFields,
  ...valueFields,
  ...placeFields,
}
const DIFFERING = exampleIn(exampleRecord(differing)) as object

const BASELINE_ID = '0196f2e2-0a0b-7c0d-8e0f-102132435465'
const CAPTURED_AT = '2026-03-08T16:00:00.000Z'

const baselineFields = {
  id: id
    .allow(null)
    .description('Null for the first discovery, which is a baseline by itself.')
    .example(BASELINE_ID),
  asset_id: id.description("The source's, or the table's that was accepted on its own.").example(SOURCE_ID),
  captured_at: time.allow(null).example(CAPTURED_AT),
  captured_by: Joi.string()
    .allow(null)
    .description('`user:<id>` or `key:<id>`.')
    .example('user:0196f1c2-7b1e-7c7e-9d3a-5f0c8e1b2a34'),
  description: text.allow(null).example('Release 12'),
  table_count: count.allow(null).example(24),
  column_count: count.allow(null).example(180),
}
const baseline = exampleRecord(baselineFields).label('Baseline')

const monitoring = exampleRecord({
  asset_id: id.description('The source.').example(SOURCE_ID),
  monitoring_enabled: flag.example(true),
  schedule_type: Joi.valid('hourly', 'every_4_hours', 'daily', 'weekly').allow(null).example('daily'),
  schedule_label: Joi.string().example('Every day'),
  next_check_at: time.allow(null).example('2026-03-10T08:05:00.000Z'),
  last_check_at: time.allow(null).example('2026-03-09T08:05:10.440Z'),
  baseline_id: id.allow(null).example(BASELINE_ID),
  baseline_captured_at: time.allow(null).example(CAPTURED_AT),
}).label('SchemaMonitoring')

const status = exampleRecord({
  asset_id: id.example(TABLE_ID),
  qualified_name: Joi.string().example('shop.shop.public.orders'),
  schema_change_status: Joi.valid('none', 'low', 'medium', 'high').example('medium'),
  total_unacknowledged: count.example(1),
  recent_changes: Joi.array()
    .items(placed)
    .description('The last 20, newest first.')
    .example([exampleIn(placed)]),
  baseline: record(withoutExamples(baselineFields))
    .label('Baseline')
    .allow(null)
    .description('Null before the first discovery.')
    // A copy, since what a record made of its fields would stay with the field.
    .example({ ...(exampleIn(baseline) as object) }),
  monitoring,
  drifted_tables: count.description('Tables that differ from what was accepted.').example(1),
  drift: Joi.array()
    .items(record(withoutExamples(differing)).label('SchemaDifference'))
    .description('How the first 100 of them differ.')
    .example([DIFFERING]),
}).label('SchemaStatus')

const unmonitored = exampleRecord({
  success: Joi.valid(true).example(true),
  message: Joi.string().example(
    `shop is discovered only when asked: POST /api/v1/sdk/assets/${SOURCE_ID}/discover`,
  ),
  asset_id: id.example(SOURCE_ID),
  monitoring_enabled: Joi.valid(false).example(false),
}).label('SchemaMonitoringEnd')

const acknowledged = record(
  { acknowledged: count, remaining: count.description('Changes that are still open.') },
  { acknowledged: 1, remaining: 0 },
).label('AcknowledgedChanges')

const orNull = count.allow(null)

const dryRun = exampleRecord({
  asset_id: id.example(SOURCE_ID),
  qualified_name: Joi.string().example('shop'),
  table_count: orNull.description('Null, as all counts, where the catalog could not be read.').example(24),
  column_count: orNull.example(180),
  unread_count: orNull.description('Tables that could not be read.').example(0),
  change_count: orNull.example(1),
  critical_count: orNull.example(0),
  warning_count: orNull.example(1),
  info_count: orNull.example(0),
  alert_count: orNull.description('Tables that an alert would be raised or counted for.').example(1),
  changes: Joi.array()
    .items(
      record({
        ...withoutExamples(differing),
        is_reverting: flag.description('Whether it takes an earlier change back.'),
      }).label('PlannedSchemaChange'),
    )
    .description('The first 100.')
    .example([{ ...DIFFERING, is_reverting: false }]),
  error_code: Joi.string().allow(null).description('Why the catalog could not be read.').example(null),
  error_message: text.allow(null).example(null),
  history: record({ lookback_days: count, changes: count, unacknowledged: count })
    .description('What was recorded of it in the last days.')
    .example({ lookback_days: 30, changes: 4, unacknowledged: 1 }),
  schedule_type: Joi.valid('off', 'hourly', 'every_4_hours', 'daily', 'weekly')
    .description('How often the source is discovered.')
    .example('daily'),
  baseline_exists: flag.description('Whether there is a state to compare with.').example(true),
  tables_in_baseline: count.description('Tables of that state.').example(24),
  tables_in_current: count
    .description('Equal to table_count; 0 where the catalog could not be read.')
    .example(24),
  changes_detected: flag.example(true),
  total_changes: count
    .description('Equal to change_count; 0 where the catalog could not be read.')
    .example(1),
  changes_summary: Joi.object()
    .pattern(Joi.valid(...Object.keys(IMPACTS)), count)
    .description('Changes by change_type.')
    .example({ column_type_changed: 1 }),
  sample_changes: Joi.array()
    .items(
      record({
        change_type: Joi.valid(...Object.keys(IMPACTS)),
        table_name: text,
        column_name: text.allow(null),
        old_value: text.allow(null),
        new_value: text.allow(null),
        severity: Joi.valid('critical', 'warning', 'info'),
      }),
    )
    .description('The first 10 changes, in short.')
    .example([
      {
        change_type: 'column_type_changed',
        table_name: 'shop.public.orders',
        column_name: 'total',
        old_value: 'numeric(10,2) not null',
        new_value: 'double precision not null',
        severity: 'warning',
      },
    ]),
  estimated_alerts_per_week: count
    .description(
      'At the pace of the last lookback_days: discoveries that recorded a change of a table, per table and week, rounded up.',
    )
    .example(1),
  recommendation: Joi.string().example(
    '1 change would be recorded and 1 alert raised: look at it before you schedule',
  ),
}).label('SchemaDryRun')

/** Replies about drift, for the `response` of a route. */
export const replies = {
  summary: reply(inData(summary)),
  changes: reply(inNestedPage(placed).description('A page of schema changes')),
  change: reply(inData(placed).description('The schema change, as acknowledged')),
  dryRun: reply(inData(dryRun).description('What a discovery would record')),
  status: reply(inData(status).description('The open changes, the baseline and the difference from it')),
  acknowledged: reply(inData(acknowledged).description('How many changes were acknowledged')),
  baseline: reply(inData(baseline), 201),
  monitoring: reply(inData(monitoring).description('The schedule and the baseline')),
  unmonitored: reply(inData(unmonitored).description('That the schedule has ended')),
}
