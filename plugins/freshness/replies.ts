import Joi from 'joi'
import { checkRemoval, managedBy } from '../../server/http/check-owner.ts'
import {
  exampleIn,
  exampleRecord,
  held,
  inData,
  inEnvelope,
  inNestedPage,
  inPage,
  pageFields,
  record,
  reply,
  unusable,
  withoutExamples,
} from '../../server/http/envelopes.ts'
import { operatingHoursReply } from '../../server/http/check-schemas.ts'
import { startedReplies, startedRun } from '../../server/http/run-accepted.ts'
import { replyKeys } from '../../server/http/fields.ts'
import { ageMinutes, checkFields, freshnessStatus as status, slaStatus } from './fields.ts'
import { SIGNALS } from './models.ts'
import { READINESS } from './readiness.ts'

const { id, text, time, count, number, flag } = held

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

const freshnessFields = {
  asset: Joi.string().description('The qualified name.').example('shop.shop.public.orders'),
  status: status.example('fresh'),
  last_updated: time.allow(null).description('Time of the newest data.').example('2026-03-09T07:58:00.000Z'),
  sla_threshold: threshold.example('24h'),
  sla_status: slaStatus.example('within_sla'),
  checked_at: time.allow(null).example('2026-03-09T08:05:00.000Z'),
  timestamp_column: text.allow(null).example('created_at'),
  data_age_minutes: ageMinutes.example(7),
}

const learningReply = record({
  seen: count.description('Updates that were seen.'),
  needed: count.description('Updates that it takes.'),
})

const metaFields = {
  signal: signal.example('column'),
  expected_next_update: time.allow(null).example('2026-03-10T07:58:00.000Z'),
  error_message: text.allow(null).description('Why the last check failed.').example(null),
  note: Joi.string().allow(null).description('Additional notes.').example(null),
  learning: learningReply.allow(null).description('Null once there is a threshold.').example(null),
}

/** Fields of tables and, rolled up, of sources. */
const commonFields = {
  qualified_name: Joi.string().example('shop.shop.public.orders'),
  is_stale: flag.description('Whether the status is stale.').example(false),
  last_update_time: time
    .allow(null)
    .description('Time of the newest data; of a source, of the table with the oldest.')
    .example('2026-03-09T07:58:00.000Z'),
  hours_since_update: number
    .min(0)
    .allow(null)
    .description('Its age at the time of the request.')
    .example(0.1181),
  staleness_threshold_hours: count
    .allow(null)
    .description('The threshold in hours, rounded up; of a source, the largest. Null while unknown.')
    .example(24),
}

/** Fields of a source. @param more rolled-up fields */
function ofSource(table: Joi.Schema, more: Record<string, Joi.Schema> = {}): Joi.ObjectSchema {
  return record({
    ...more,
    asset: Joi.string().example('shop').description('The qualified name of the source.'),
    summary: record(
      { ready: count, not_ready: count, unknown: count, error: count },
      { ready: 3, not_ready: 0, unknown: 0, error: 0 },
    ).description('Counts of all matching tables, regardless of the filter on status.'),
    tables: Joi.array().items(table),
    ...pageFields,
  })
}

const freshness = exampleRecord(freshnessFields).label('Freshness')
const listed = exampleRecord({ ...freshnessFields, readiness: readiness.example('ready') }).label(
  'ListedFreshness',
)

const meta = exampleRecord(metaFields).label('FreshnessMeta')
const bare = Joi.alternatives()
  .try(inEnvelope(freshness, meta), inEnvelope(ofSource(listed).label('SourceReadiness')))
  .example({ success: true, data: exampleIn(freshness), message: '', error: '', meta: exampleIn(meta) })
  .description('The freshness of a table; of a source, counts and its tables.')

const scheduleId = id.example('0196f2e7-10ff-7a3b-8c4d-5e6f70819203')
const sourceId = id.example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d')

const monitored = exampleRecord({
  ...freshnessFields,
  ...commonFields,
  checked_at: time
    .description('Time of the last check; before the first, when the schedule was created or last changed.')
    .example('2026-03-09T08:05:00.000Z'),
  last_check_at: time
    .allow(null)
    .description('Null before the first check.')
    .example('2026-03-09T08:05:00.000Z'),
  readiness: readiness.example('ready'),
  schedule_id: scheduleId,
  asset_id: id.example('0196f2e1-2cf0-7e21-a4b5-c6d7e8f90a1b'),
  source_id: sourceId,
  table_path: Joi.string().example('shop.public.orders'),
  monitoring_mode: mode.example('explicit'),
  is_active: flag.description('Whether its schedule is active.').example(true),
  ...metaFields,
}).label('MonitoredTable')

const updateClock = record({
  timezone: Joi.string().description('The time zone of the hours.'),
  updates: count.description(
    'The newest updates that were seen, 500 at most: those that schedules learn from.',
  ),
  from: time.allow(null).description('The first of them; null without any.'),
  until: time.allow(null).description('The last of them.'),
  hours: Joi.array()
    .items(Joi.array().items(count).length(24))
    .length(7)
    .description('Updates by weekday, Monday first, and by hour of the day.'),
})
  .label('UpdateClock')
  .optional()
  .description('With clock_timezone.')

const monitoredDetail = monitored.keys({ update_clock: updateClock }).label('MonitoredTableDetail')

const detail = Joi.alternatives()
  .try(
    monitoredDetail,
    ofSource(monitored, {
      ...withoutExamples(commonFields),
      asset_id: id.description('The source.'),
      status: status.description(
        'stale if any table is, fresh if a table is and all could be read, else unknown.',
      ),
      checked_at: time
        .allow(null)
        .description(
          'Time of the last check of any table; before the first, when a schedule was last changed. Null if no table matches the filters.',
        ),
    }),
  )
  .example(exampleIn(monitored))
  .description('The record of a table; of a source, counts and its tables.')

const summary = exampleRecord({
  total_tables: count.example(3),
  fresh: count.example(3),
  stale: count.example(0),
  unknown: count.example(0),
  error: count.description('Tables whose last check failed.').example(0),
  warning: count.description('Fresh tables older than 80 % of the threshold.').example(0),
  violated: count.example(0),
  paused: count.description('Tables with a paused schedule or source.').example(0),
  last_check_at: time.allow(null).example('2026-03-09T08:05:00.000Z'),
  total_assets: count.description('The same as total_tables: the sum of the four counts below.').example(3),
  fresh_count: count.example(3),
  stale_count: count.example(0),
  unknown_count: count.description('Watched tables without a verdict, failed checks included.').example(0),
  disabled_count: count.description('Paused tables without a valid verdict.').example(0),
  freshness_rate: number
    .min(0)
    .max(100)
    .description('Per cent of the tables that are fresh, disabled ones aside; 0 if there is none.')
    .example(100),
}).label('FreshnessSummary')

const check = exampleRecord(replyKeys(checkFields)).label('FreshnessCheck')

const JOB_ID = '0196f2e9-7000-7b1c-9d2e-3f4051627384'

const started = startedRun('Refresh', { id: JOB_ID, jobPath: '/api/v1/sdk/jobs' })

const scheduleFields = {
  id: scheduleId,
  asset_id: sourceId.description('The source.'),
  table_path: Joi.string().example('shop.public.orders'),
  check_interval: Joi.string().description('A duration, such as 1h.').example('1h'),
  freshness_column: text.allow(null).example('created_at'),
  freshness_expression: text.allow(null).example(null),
  freshness_signal: signal.example('column'),
  expected_interval_hours: number.allow(null).description('The threshold in hours.').example(24),
  sla_threshold: threshold.example('24h'),
  monitoring_mode: mode.example('explicit'),
  is_active: flag.example(true),
  last_check: time.allow(null).example('2026-03-09T08:05:00.000Z'),
  next_check: time.allow(null).example('2026-03-09T09:05:00.000Z'),
  created_at: time.example('2026-03-09T08:04:59.000Z'),
  updated_at: time.example('2026-03-09T08:04:59.000Z'),
}

const schedule = exampleRecord({ ...scheduleFields, managed_by: managedBy }).label('FreshnessSchedule')

/** A created or changed schedule. */
const changedSchedule = exampleRecord({
  ...scheduleFields,
  managed_by: managedBy,
  warnings: held.texts.description('Warnings, such as a table without a signal.').example([]),
}).label('ChangedFreshnessSchedule')

const bulk = exampleRecord({
  created: count.description('Created schedules; in a dry run, the ones to create.').example(22),
  existing: count.description('Tables that already had a schedule.').example(1),
  without_signal: count.description('Tables without a signal.').example(1),
  matched: count.description('Active tables that match the patterns.').example(24),
  tables_without_signal: held.texts
    .description('The first 100 tables without a signal, by path.')
    .example(['shop.public.countries']),
  reasons_without_signal: held.texts
    .description('Why, for each of these.')
    .example(['shop.public.countries: it has no date or timestamp column']),
  signals: record({ column: count, last_modified: count })
    .description('Signals of the created schedules.')
    .example({ column: 22, last_modified: 0 }),
  statements_per_day: count
    .description(
      'Statements a day that the created schedules add at the source: the most, for tables that are read together.',
    )
    .example(24),
  dry_run: flag.example(false),
}).label('CreatedFreshnessSchedules')

const listedBulk = exampleRecord({
  results: Joi.array()
    .items(
      record({
        table_path: Joi.string(),
        status: Joi.valid('created', 'failed'),
        schedule_id: id.allow(null),
        error: text.allow(null).description('Why it failed.'),
      }),
    )
    .description('What became of each listed table, in their order.')
    .example([
      {
        table_path: 'public.orders',
        status: 'created',
        schedule_id: '0196f2e7-10ff-7a3b-8c4d-5e6f70819203',
        error: null,
      },
    ]),
  created: count.example(1),
  failed: count.example(0),
  total: count.example(1),
})

const bulkResult = Joi.alternatives()
  .try(bulk, listedBulk)
  .example(exampleIn(bulk))
  .description('Counts of tables that match the patterns; of listed tables, what became of each.')

const dryRun = exampleRecord({
  table_path: Joi.string().example('shop.public.orders'),
  threshold_hours: number.example(6),
  lookback_days: count.example(30),
  total_checks: count.description('Stored checks that found an age.').example(720),
  would_alert_count: count.description('Those that found at least the threshold.').example(9),
  would_open_alerts: count
    .description('Alerts: one for each time that the age grew past the threshold.')
    .example(2),
  alert_rate_percent: number.min(0).max(100).example(1.3),
  current_age_hours: number.min(0).allow(null).description('Null without data.').example(0.5),
  would_alert_now: flag.example(false),
  sample_alerts: Joi.array()
    .items(record({ timestamp: time, hours_since_update: number }))
    .description('The newest 10 of the checks that would alert.')
    .example([{ timestamp: '2026-03-09T08:05:00.000Z', hours_since_update: 7.2 }]),
  recommendation: Joi.string().example('9 of 720 checks would have alerted: the threshold suits the table'),
})

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
  detail: ofConfigured(
    inData(detail).description('The freshness of a table; of a source, its status, counts and its tables'),
  ),
  history: ofConfigured(inData(inPage(check, 'data', { operating_hours: operatingHoursReply }))),
  refresh: startedReplies(started, { 422: unconfigured }),
  schedules: reply(inNestedPage(schedule)),
  newSchedule: reply(
    inData(changedSchedule).description('The freshness schedule, as stored, with its first check'),
    201,
  ),
  schedule: reply(inData(changedSchedule).description('The freshness schedule, as stored')),
  bulk: reply(inData(bulkResult).description('What was created for each table, and errors for the rest')),
  dryRun: reply(inData(dryRun).description('When the table would have been late')),
  scheduleRemoved: reply(checkRemoval('The freshness schedule of shop.shop.public.orders was removed')),
}
