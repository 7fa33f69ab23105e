import Joi from 'joi'
import {
  backfillReply,
  bucketReply,
  bandsReply,
  columnResultsReply,
  pastSeriesReply,
  operatingHoursReply,
  sampleReply,
  failingRunReply,
  samplesNoteReply,
  shared,
  partsReply,
  statementsReply,
} from '../../server/http/check-schemas.ts'
import { trialReply } from '../../server/http/trial-schemas.ts'
import { checkRemoval, managedFields } from '../../server/http/check-owner.ts'
import { replyKeys } from '../../server/http/fields.ts'
import { costReply } from '../checks/kit.ts'
import { detailFields, listedFields } from './fields.ts'
import { exampleRecord, held, inData, inItems, record, reply } from '../../server/http/envelopes.ts'

const { text, time, count, integer, number, flag } = held

const outcome = Joi.valid('pass', 'fail', 'error')

const listItem = {
  id: integer.example(17),
  uuid: Joi.string()
    .pattern(/^v_[0-9a-f-]{36}$/)
    .description('The `rule_id` of paths.')
    .example('v_5b2f9a0e-3c4d-4e5f-8a6b-7c8d9e0f1a2b'),
  table_path: Joi.string().description('`catalog.schema.table`.').example('shop.public.orders'),
  column_name: text.allow(null).example('status'),
  rule_type: Joi.string()
    .description('NOT_NULL, UNIQUE, REGEX, RANGE, ENUM, DATE_FORMAT, CUSTOM_SQL or one of an extension.')
    .example('ENUM'),
  ...replyKeys(listedFields),
  created_at: time.example('2026-03-09T08:10:00.000Z'),
  latest_status: outcome
    .allow(null)
    .description('How it did last; null before its first check.')
    .example(null),
}

const warnings = Joi.array()
  .items(Joi.string())
  .optional()
  .description(
    'Present when an equal rule exists, or it is measured otherwise than it reads, such as a pattern by another collation.',
  )

const rule = exampleRecord(listItem).label('ValidityRule')

const detailItem = {
  ...listItem,
  rule_config: Joi.object()
    .unknown()
    .allow(null)
    .meta({ openapi: { 'x-choices': 'rule_config' } })
    .description('What its type asks for.')
    .example({ allowed_values: ['new', 'paid', 'shipped', 'delivered', 'cancelled'] }),
  ...replyKeys(detailFields),
  failing_runs: shared.failingRuns.reply.example(0),
}

const detail = exampleRecord({ ...detailItem, ...managedFields }).label('ValidityRuleDetail')

const made = exampleRecord({
  ...detailItem,
  backfill: backfillReply('Results that were computed of the past.'),
  warnings,
}).label('CreatedValidityRule')

const judgedFields = {
  status: outcome.example('fail'),
  total_rows: count.description('0 when status is error.').example(18_250),
  invalid_count: count.description('0 when status is error.').example(5),
  invalid_percent: number.min(0).max(100).description('0 when status is error.').example(0.0274),
}

const expectedFields = {
  expected_value: number
    .allow(null)
    .description('The percentage that auto mode expected; null of other modes.')
    .example(null),
  expected_range_low: number.allow(null).example(null),
  expected_range_high: number.allow(null).example(null),
  learning: flag.description('Auto mode knows too little yet to judge.').example(false),
}

const resultFields = {
  id: integer.example(2041),
  validity_rule_id: integer.example(17),
  ...judgedFields,
  execution_duration_ms: count.example(12),
  checked_at: time.example('2026-03-09T08:10:05.000Z'),
  ...bucketReply,
  ...expectedFields,
  is_backfilled: flag.description('Computed of the past when the rule was made.').example(false),
  is_confirmed: flag.description('A user dismissed it as expected.').example(false),
  failing_run: failingRunReply,
  was_active: flag
    .allow(null)
    .description('Whether its operating schedule called the moment active.')
    .example(null),
  error_message: text.allow(null).description('Why it could not be checked.').example(null),
}

const result = exampleRecord(resultFields).label('ValidityResult')

const sample = sampleReply('As the engine has it; null of NULL, and of personal data.')

const wholeSample = sample.keys({
  row: Joi.object().unknown().optional().description('All columns, with `whole_rows`.'),
  hidden_columns: Joi.array()
    .items(Joi.string())
    .optional()
    .description('Those of personal data, which are null in `row`.'),
})

const checked = exampleRecord(
  {
    ...resultFields,
    invalid_samples: record({
      samples: Joi.array().items(wholeSample),
      note: samplesNoteReply,
      sql: record({ text: Joi.string(), values: Joi.array().items(Joi.any()) })
        .optional()
        .description('A statement that selects them, with `whole_rows`.'),
    }).description('Up to sample_limit rows; none unless query_access_level is full.'),
    warnings,
    parts: partsReply.optional(),
  },
  { invalid_samples: { samples: [{ row_id: 18_211, value: 'shiped' }] } },
).label('ValidityCheck')

const QUERY = 'select count(*), count(case when not ("status" in ($1, $2)) then 1 end) from "public"."orders"'

const dryRun = exampleRecord(
  {
    sql: statementsReply.example([{ text: QUERY, values: ['new', 'paid'] }]),
    ...judgedFields,
    ...expectedFields,
    bands: bandsReply.example([]),
    error_message: text.allow(null).example(null),
    warnings,
    history: record({
      lookback_days: count,
      source: Joi.valid('results', 'timestamps')
        .allow(null)
        .description('Results of such a rule, or the timestamps of the table; null without either.'),
      timestamp_column: text.allow(null),
      points: count,
      failing: count,
      alerts: count.description('Failures in a row are one.'),
      by_sensitivity: Joi.array()
        .items(record({ sensitivity: integer, failing: count, alerts: count }))
        .optional()
        .description('Of auto mode.'),
      series: pastSeriesReply,
      message: Joi.string(),
    }),
    cost: costReply,
    ...trialReply,
  },
  {
    history: {
      lookback_days: 30,
      source: 'timestamps',
      timestamp_column: 'created_at',
      points: 30,
      failing: 1,
      alerts: 1,
      series: [
        {
          at: '2026-03-09T08:12:05.000Z',
          value: 0.0274,
          expected_value: null,
          z_score: null,
          learning: false,
          bands: [],
        },
      ],
      message: 'Of 30 daily checks in the last 30 days, 1 would have failed and raised 1 alert',
    },
  },
).label('ValidityDryRun')

const summary = exampleRecord({
  total_rules: count.example(5),
  passing: count.description('Active rules that passed last.').example(4),
  failing: count.example(1),
  error: count.description('Rules that could not be checked.').example(0),
}).label('ValiditySummary')

/** Replies about validity rules, for the `response` of a route. */
export const replies = {
  summary: reply(inData(summary)),
  list: reply(inItems(rule)),
  created: reply(inData(made).description('The rule, as stored, with the past that was computed'), 201),
  createdMany: reply(
    inData(columnResultsReply('v_5b2f9a0e-3c4d-4e5f-8a6b-7c8d9e0f1a2b')).description(
      'What became of each column',
    ),
  ),
  dryRun: reply(inData(dryRun).description('The outcome now, samples, and what would alert')),
  get: reply(inData(detail).description('The rule, with its configuration')),
  patched: reply(inData(detail).description('The rule, as stored')),
  removed: reply(checkRemoval('Rule Known statuses was removed')),
  run: reply(inData(checked).description('The result, with samples of invalid rows')),
  results: reply(
    inItems(result, {
      threshold: number
        .allow(null)
        .description('Manual mode: the percentage above which the rule fails. Null in auto mode.'),
      operating_hours: operatingHoursReply,
    }),
  ),
}
