import Joi from 'joi'
import { held, inData, inNestedPage, record, reply } from '../../../server/http/envelopes.ts'
import { SOURCE_ID, TABLE_ID } from '../assets/asset-replies.ts'
import { CHANGE, changeFields, DIFFERENCE, differenceFields } from './change-replies.ts'

const { id, text, time, count, flag } = held

const summary = record(
  {
    total_changes: count.description('In the last `days_back` days.'),
    unacknowledged: count.description('Whenever they were found; so the three below.'),
    critical_count: count,
    warning_count: count,
    info_count: count,
    last_check: time.allow(null).description('When a catalog was read last.'),
  },
  {
    total_changes: 4,
    unacknowledged: 1,
    critical_count: 0,
    warning_count: 1,
    info_count: 0,
    last_check: '2026-03-09T08:05:10.440Z',
  },
)

const placeFields = {
  severity: Joi.valid('critical', 'warning', 'info').description('By its impact: high, medium, low.'),
  column_name: text.allow(null).description('Null of a change of the table.'),
}

const PLACED = {
  ...CHANGE,
  asset_id: TABLE_ID,
  qualified_name: 'shop.shop.public.orders',
  severity: 'warning',
  column_name: 'total',
  acknowledged_at: null,
  acknowledged_by: null,
}

const placed = record(
  {
    ...changeFields,
    asset_id: id.description('The table.'),
    qualified_name: Joi.string(),
    ...placeFields,
    acknowledged_at: time.allow(null),
    acknowledged_by: Joi.string()
      .allow(null)
      .description(
        '`user:<id>` or `key:<id>`; `reverted` when it was taken back, `excluded` when its table left the patterns.',
      ),
  },
  PLACED,
).label('PlacedSchemaChange')

const differing = {
  asset_id: id.allow(null).description('Null of a table that no discovery has found yet.'),
  ...differenceFields,
  ...placeFields,
}
const DIFFERING = { asset_id: TABLE_ID, ...DIFFERENCE, severity: 'warning', column_name: 'total' }

const BASELINE = {
  id: '0196f2e2-0a0b-7c0d-8e0f-102132435465',
  asset_id: SOURCE_ID,
  captured_at: '2026-03-08T16:00:00.000Z',
  captured_by: 'user:0196f1c2-7b1e-7c7e-9d3a-5f0c8e1b2a34',
  description: 'Release 12',
  table_count: 24,
  column_count: 180,
}

const baselineFields = {
  id: id.allow(null).description('Null for the first discovery, which is a baseline by itself.'),
  asset_id: id.description("The source's, or the table's that was accepted on its own."),
  captured_at: time.allow(null),
  captured_by: Joi.string().allow(null).description('`user:<id>` or `key:<id>`.'),
  description: text.allow(null),
  table_count: count.allow(null),
  column_count: count.allow(null),
}
const baseline = record(baselineFields, BASELINE).label('Baseline')

const MONITORING = {
  asset_id: SOURCE_ID,
  monitoring_enabled: true,
  schedule_type: 'daily',
  schedule_label: 'Every day',
  next_check_at: '2026-03-10T08:05:00.000Z',
  last_check_at: '2026-03-09T08:05:10.440Z',
  baseline_id: BASELINE.id,
  baseline_captured_at: BASELINE.captured_at,
}

const monitoring = record(
  {
    asset_id: id.description('The source.'),
    monitoring_enabled: flag,
    schedule_type: Joi.valid('hourly', 'every_4_hours', 'daily', 'weekly').allow(null),
    schedule_label: Joi.string(),
    next_check_at: time.allow(null),
    last_check_at: time.allow(null),
    baseline_id: id.allow(null),
    baseline_captured_at: time.allow(null),
  },
  MONITORING,
)

const status = record(
  {
    asset_id: id,
    qualified_name: Joi.string(),
    schema_change_status: Joi.valid('none', 'low', 'medium', 'high'),
    total_unacknowledged: count,
    recent_changes: Joi.array().items(placed).description('The last 20, newest first.'),
    baseline: record(baselineFields).allow(null).description('Null before the first discovery.'),
    monitoring,
    drifted_tables: count.description('Tables that differ from what was accepted.'),
    drift: Joi.array().items(record(differing)).description('How the first 100 of them differ.'),
  },
  {
    asset_id: TABLE_ID,
    qualified_name: 'shop.shop.public.orders',
    schema_change_status: 'medium',
    total_unacknowledged: 1,
    recent_changes: [PLACED],
    baseline: BASELINE,
    monitoring: MONITORING,
    drifted_tables: 1,
    drift: [DIFFERING],
  },
)

const unmonitored = record(
  {
    success: Joi.valid(true),
    message: Joi.string(),
    asset_id: id,
    monitoring_enabled: Joi.valid(false),
  },
  {
    success: true,
    message: `shop is discovered only when asked: POST /api/v1/sdk/assets/${SOURCE_ID}/discover`,
    asset_id: SOURCE_ID,
    monitoring_enabled: false,
  },
)

const acknowledged = record(
  { acknowledged: count, remaining: count.description('Changes that are still open.') },
  { acknowledged: 1, remaining: 0 },
)

const orNull = count.allow(null)

const dryRun = record(
  {
    asset_id: id,
    qualified_name: Joi.string(),
    table_count: orNull.description('Null, as all counts, where the catalog could not be read.'),
    column_count: orNull,
    unread_count: orNull.description('Tables that could not be read.'),
    change_count: orNull,
    critical_count: orNull,
    warning_count: orNull,
    info_count: orNull,
    alert_count: orNull.description('Tables that an alert would be raised or counted for.'),
    changes: Joi.array()
      .items(
        record({ ...differing, is_reverting: flag.description('Whether it takes an earlier change back.') }),
      )
      .description('The first 100.'),
    error_code: Joi.string().allow(null).description('Why the catalog could not be read.'),
    error_message: text.allow(null),
    history: record({ lookback_days: count, changes: count, unacknowledged: count }).description(
      'What was recorded of it in the last days.',
    ),
  },
  {
    asset_id: SOURCE_ID,
    qualified_name: 'shop',
    table_count: 24,
    column_count: 180,
    unread_count: 0,
    change_count: 1,
    critical_count: 0,
    warning_count: 1,
    info_count: 0,
    alert_count: 1,
    changes: [{ ...DIFFERING, is_reverting: false }],
    error_code: null,
    error_message: null,
    history: { lookback_days: 30, changes: 4, unacknowledged: 1 },
  },
)

/** Replies about drift, for the `response` of a route. */
export const replies = {
  summary: reply(inData(summary)),
  changes: reply(inNestedPage(placed)),
  change: reply(inData(placed)),
  dryRun: reply(inData(dryRun)),
  status: reply(inData(status)),
  acknowledged: reply(inData(acknowledged)),
  baseline: reply(inData(baseline), 201),
  monitoring: reply(inData(monitoring)),
  unmonitored: reply(inData(unmonitored)),
}
