import Joi from 'joi'
import { exampleOf, replyKeys } from '../../server/http/fields.ts'
import { detailFields, listedFields } from './fields.ts'
import { held, inData, inItems, record, removal, reply } from '../../server/http/envelopes.ts'

const { text, time, count, integer, number, flag } = held

const outcome = Joi.valid('pass', 'fail', 'error')

const RULE = {
  id: 17,
  uuid: 'v_5b2f9a0e-3c4d-4e5f-8a6b-7c8d9e0f1a2b',
  table_path: 'shop.public.orders',
  column_name: 'status',
  rule_type: 'ENUM',
  ...exampleOf(listedFields),
  created_at: '2026-03-09T08:10:00.000Z',
  latest_status: null,
}

const listItem = {
  id: integer,
  uuid: Joi.string()
    .pattern(/^v_[0-9a-f-]{36}$/)
    .description('The `rule_id` of paths.'),
  table_path: Joi.string().description('`catalog.schema.table`.'),
  column_name: text.allow(null),
  rule_type: Joi.string().description(
    'NOT_NULL, UNIQUE, REGEX, RANGE, ENUM, DATE_FORMAT, CUSTOM_SQL or one of an extension.',
  ),
  ...replyKeys(listedFields),
  created_at: time,
  latest_status: outcome.allow(null).description('How it did last; null before its first check.'),
}

const warnings = Joi.array()
  .items(Joi.string())
  .optional()
  .description(
    'Present when the rule is measured otherwise than it reads, such as a pattern by another collation.',
  )

const rule = record(listItem, RULE).label('ValidityRule')

const made = record(
  {
    ...listItem,
    backfill: record({
      points: count.description('Results that were computed of the past.'),
      timestamp_column: text.allow(null).description('The column with the time at which rows were added.'),
      message: Joi.string(),
    })
      .optional()
      .description('With backfill_days.'),
    warnings,
  },
  RULE,
)

const detail = record(
  {
    ...listItem,
    rule_config: Joi.object().unknown().allow(null).description('What its type asks for.'),
    ...replyKeys(detailFields),
  },
  {
    ...RULE,
    rule_config: { allowed_values: ['new', 'paid', 'shipped', 'delivered', 'cancelled'] },
    ...exampleOf(detailFields),
  },
).label('ValidityRuleDetail')

const RESULT = {
  id: 2041,
  validity_rule_id: 17,
  status: 'fail',
  total_rows: 18_250,
  invalid_count: 5,
  invalid_percent: 0.0274,
  execution_duration_ms: 12,
  checked_at: '2026-03-09T08:10:05.000Z',
  expected_value: null,
  expected_range_low: null,
  expected_range_high: null,
  learning: false,
  is_backfilled: false,
  is_confirmed: false,
  was_active: null,
  error_message: null,
}

const judgedFields = {
  status: outcome,
  total_rows: count.description('0 when status is error.'),
  invalid_count: count.description('0 when status is error.'),
  invalid_percent: number.min(0).max(100).description('0 when status is error.'),
}

const expectedFields = {
  expected_value: number
    .allow(null)
    .description('The percentage that auto mode expected; null of other modes.'),
  expected_range_low: number.allow(null),
  expected_range_high: number.allow(null),
  learning: flag.description('Auto mode knows too little yet to judge.'),
}

const resultFields = {
  id: integer,
  validity_rule_id: integer,
  ...judgedFields,
  execution_duration_ms: count,
  checked_at: time,
  ...expectedFields,
  is_backfilled: flag.description('Computed of the past when the rule was made.'),
  is_confirmed: flag.description('A user dismissed it as expected.'),
  was_active: flag.allow(null).description('Whether its operating schedule called the moment active.'),
  error_message: text.allow(null).description('Why it could not be checked.'),
}

const result = record(resultFields, RESULT).label('ValidityResult')

const sample = record({
  row_id: Joi.any().description(
    'The primary key, an object when it has several columns; else a number from 1.',
  ),
  value: Joi.any().description('As the engine has it; null of NULL, and of personal data.'),
  is_hidden: Joi.valid(true)
    .optional()
    .description('Present when the row has a value that is personal data and not shown.'),
})

const checked = record(
  {
    ...resultFields,
    invalid_samples: record({ samples: Joi.array().items(sample) }).description(
      'Up to sample_limit rows; none unless query_access_level is full.',
    ),
    warnings,
  },
  { ...RESULT, invalid_samples: { samples: [{ row_id: 18_211, value: 'shiped' }] } },
)

const statement = record({ text: Joi.string(), values: Joi.array().items(Joi.any()) })

const dryRun = record(
  {
    sql: Joi.array().items(statement).description('What the source is sent.'),
    ...judgedFields,
    ...expectedFields,
    error_message: text.allow(null),
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
      message: Joi.string(),
    }),
  },
  {
    sql: [
      {
        text: 'select count(*), count(case when not ("status" in ($1, $2)) then 1 end) from "public"."orders"',
        values: ['new', 'paid'],
      },
    ],
    status: 'fail',
    total_rows: 18_250,
    invalid_count: 5,
    invalid_percent: 0.0274,
    expected_value: null,
    expected_range_low: null,
    expected_range_high: null,
    learning: false,
    error_message: null,
    history: {
      lookback_days: 30,
      source: 'timestamps',
      timestamp_column: 'created_at',
      points: 30,
      failing: 1,
      alerts: 1,
      message: 'Of 30 daily checks in the last 30 days, 1 would have failed and raised 1 alert',
    },
  },
)

const summary = record(
  {
    total_rules: count,
    passing: count.description('Active rules that passed last.'),
    failing: count,
    error: count.description('Rules that could not be checked.'),
  },
  { total_rules: 5, passing: 4, failing: 1, error: 0 },
)

/** Replies about validity rules, for the `response` of a route. */
export const replies = {
  summary: reply(inData(summary)),
  list: reply(inItems(rule)),
  created: reply(inData(made), 201),
  dryRun: reply(inData(dryRun)),
  get: reply(inData(detail)),
  patched: reply(inData(detail)),
  removed: reply(removal('Rule Known statuses was removed')),
  run: reply(inData(checked)),
  results: reply(inItems(result)),
}
