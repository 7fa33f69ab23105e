import Joi from 'joi'
import {
  held,
  inData,
  inEnvelope,
  inNestedPage,
  inPage,
  pageFields,
  record,
  removal,
  reply,
  unusable,
} from '../../server/http/envelopes.ts'
import { startedReplies, startedRun } from '../../server/http/run-accepted.ts'
import { SIGNALS } from './models.ts'
import { READINESS } from './readiness.ts'

const { id, text, time, count, integer, number, flag } = held

const status = Joi.valid('fresh', 'stale', 'unknown')
const slaStatus = Joi.valid('within_sla', 'warning', 'violated')
  .allow(null)
  .description('Null while unknown.')
const readiness = Joi.valid(...READINESS).description(
  'Whether the table is usable: fresh is ready, stale is not_ready, a failed check is error.',
)
const threshold = Joi.string()
  .allow(null)
  .description('Maximum age of the newest data, given or learned, such as 24h; null while unknown.')
const mode = Joi.valid('explicit', 'auto_learn')
const signal = Joi.valid(...SIGNALS)
  .allow(null)
  .description('Where the age is read from; null without a signal.')
const ageMinutes = integer.min(0).allow(null).description('Age at the time of the check.')

const FRESHNESS = {
  asset: 'shop.shop.public.orders',
  status: 'fresh',
  last_updated: '2026-03-09T07:58:00.000Z',
  sla_threshold: '24h',
  sla_status: 'within_sla',
  checked_at: '2026-03-09T08:05:00.000Z',
  timestamp_column: 'created_at',
  data_age_minutes: 7,
}

const freshnessFields = {
  asset: Joi.string().description('The qualified name.'),
  status,
  last_updated: time.allow(null).description('Time of the newest data.'),
  sla_threshold: threshold,
  sla_status: slaStatus,
  checked_at: time.allow(null),
  timestamp_column: text.allow(null),
  data_age_minutes: ageMinutes,
}

const META = {
  signal: 'column',
  expected_next_update: '2026-03-10T07:58:00.000Z',
  error_message: null,
  note: null,
}

const metaFields = {
  signal,
  expected_next_update: time.allow(null),
  error_message: text.allow(null).description('Why the last check failed.'),
  note: Joi.string().allow(null).description('Additional notes.'),
}

const summaryOf = {
  ready: count,
  not_ready: count,
  unknown: count,
  error: count,
}

function ofSource(table: Joi.Schema): Joi.ObjectSchema {
  return record({
    asset: Joi.string().example('shop').description('The qualified name of the source.'),
    summary: record(summaryOf, { ready: 3, not_ready: 0, unknown: 0, error: 0 }).description(
      'Counts of all matching tables, regardless of the filter on status.',
    ),
    tables: Joi.array().items(table),
    ...pageFields,
  })
}

const freshness = record(freshnessFields, FRESHNESS).label('Freshness')
const listed = record({ ...freshnessFields, readiness }, { ...FRESHNESS, readiness: 'ready' })

const ofTable = { data: FRESHNESS, meta: META }
const bare = Joi.alternatives()
  .try(inEnvelope(freshness, record(metaFields, META)), inEnvelope(ofSource(listed)))
  .example({ success: true, data: ofTable.data, message: '', error: '', meta: ofTable.meta })
  .description('The record of a table; of a source, counts and its tables.')

const SCHEDULE_ID = '0196f2e7-10ff-7a3b-8c4d-5e6f70819203'

const MONITORED = {
  ...FRESHNESS,
  readiness: 'ready',
  schedule_id: SCHEDULE_ID,
  asset_id: '0196f2e1-2cf0-7e21-a4b5-c6d7e8f90a1b',
  source_id: '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d',
  table_path: 'shop.public.orders',
  monitoring_mode: 'explicit',
  is_active: true,
  ...META,
}

const monitored = record(
  {
    ...freshnessFields,
    readiness,
    schedule_id: id,
    asset_id: id,
    source_id: id,
    table_path: Joi.string(),
    monitoring_mode: mode,
    is_active: flag.description('Whether its schedule is active.'),
    ...metaFields,
  },
  MONITORED,
).label('MonitoredTable')

const detail = Joi.alternatives()
  .try(monitored, ofSource(monitored))
  .example(MONITORED)
  .description('The record of a table; of a source, counts and its tables.')

const summary = record(
  {
    total_tables: count,
    fresh: count,
    stale: count,
    unknown: count,
    error: count.description('Tables whose last check failed.'),
    warning: count.description('Fresh tables older than 80 % of the threshold.'),
    violated: count,
    paused: count.description('Tables with a paused schedule or source.'),
    last_check_at: time.allow(null),
  },
  {
    total_tables: 3,
    fresh: 3,
    stale: 0,
    unknown: 0,
    error: 0,
    warning: 0,
    violated: 0,
    paused: 0,
    last_check_at: '2026-03-09T08:05:00.000Z',
  },
)

const check = record(
  {
    checked_at: time,
    status,
    sla_status: slaStatus,
    last_updated: time.allow(null),
    data_age_minutes: ageMinutes,
    is_update: flag.description('Whether the data is newer than at the previous check.'),
    error_message: text.allow(null),
  },
  {
    checked_at: '2026-03-09T08:05:00.000Z',
    status: 'fresh',
    sla_status: 'within_sla',
    last_updated: '2026-03-09T07:58:00.000Z',
    data_age_minutes: 7,
    is_update: true,
    error_message: null,
  },
)

const JOB_ID = '0196f2e9-7000-7b1c-9d2e-3f4051627384'

const started = startedRun('Refresh', { id: JOB_ID, jobPath: '/api/v1/sdk/jobs' })

const scheduleFields = {
  id,
  asset_id: id.description('The source.'),
  table_path: Joi.string(),
  check_interval: Joi.string().description('A duration, such as 1h.'),
  freshness_column: text.allow(null),
  freshness_expression: text.allow(null),
  freshness_signal: signal,
  expected_interval_hours: number.allow(null).description('The threshold in hours.'),
  sla_threshold: threshold,
  monitoring_mode: mode,
  is_active: flag,
  last_check: time.allow(null),
  next_check: time.allow(null),
  created_at: time,
  updated_at: time,
}

const SCHEDULE = {
  id: SCHEDULE_ID,
  asset_id: MONITORED.source_id,
  table_path: 'shop.public.orders',
  check_interval: '1h',
  freshness_column: 'created_at',
  freshness_expression: null,
  freshness_signal: 'column',
  expected_interval_hours: 24,
  sla_threshold: '24h',
  monitoring_mode: 'explicit',
  is_active: true,
  last_check: '2026-03-09T08:05:00.000Z',
  next_check: '2026-03-09T09:05:00.000Z',
  created_at: '2026-03-09T08:04:59.000Z',
  updated_at: '2026-03-09T08:04:59.000Z',
}

const schedule = record(scheduleFields, SCHEDULE).label('FreshnessSchedule')

/** A created or changed schedule. */
const changedSchedule = record(
  {
    ...scheduleFields,
    warnings: held.texts.description('Warnings, such as a table without a signal.'),
  },
  { ...SCHEDULE, warnings: [] },
).label('ChangedFreshnessSchedule')

const bulk = record(
  {
    created: count.description('Created schedules; in a dry run, the ones to create.'),
    existing: count.description('Tables that already had a schedule.'),
    without_signal: count.description('Tables without a signal.'),
    matched: count.description('Active tables that match the patterns.'),
    tables_without_signal: held.texts.description('The first 100 tables without a signal, by path.'),
    signals: record({ column: count, last_modified: count }).description('Signals of the created schedules.'),
    dry_run: flag,
  },
  {
    created: 22,
    existing: 1,
    without_signal: 1,
    matched: 24,
    tables_without_signal: ['shop.public.countries'],
    signals: { column: 22, last_modified: 0 },
    dry_run: false,
  },
)

const unconfigured = unusable
  .description('The asset has no freshness schedule, or all of them are paused')
  .example({
    detail: [
      {
        loc: ['path', 'asset_id'],
        msg: 'Freshness is not configured for shop: POST /api/v1/sdk/freshness/schedules',
        type: 'freshness.not_configured',
      },
    ],
  })

/** Adds the reply for an asset without a schedule. */
function ofConfigured(schema: Joi.Schema) {
  return { status: { 200: schema, 422: unconfigured }, sample: 0 }
}

/** Replies of the freshness routes. */
export const replies = {
  bare: reply(bare),
  monitored: reply(inNestedPage(monitored)),
  summary: reply(inData(summary)),
  detail: ofConfigured(inData(detail)),
  history: ofConfigured(inData(inPage(check))),
  refresh: startedReplies(started, { 422: unconfigured }),
  schedules: reply(inNestedPage(schedule)),
  newSchedule: reply(inData(changedSchedule), 201),
  schedule: reply(inData(changedSchedule)),
  bulk: reply(inData(bulk)),
  scheduleRemoved: reply(removal('The freshness schedule of shop.shop.public.orders was removed')),
}
