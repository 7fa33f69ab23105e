import Joi from 'joi'
import { exampleOf, replyKeys } from '../../server/http/fields.ts'
import { checkFields, generalFields } from './fields.ts'
import { held, inData, inItems, record, removal, reply } from '../../server/http/envelopes.ts'

const { id, text, time, count, integer, number } = held

const status = Joi.valid('pass', 'fail', 'error')
const CHECK_ID = '0196f2ee-0102-7304-8506-0708090a0b0c'

const check = record(
  {
    id,
    internal_id: integer,
    ...replyKeys(generalFields),
    child_table_path: Joi.string().description('`catalog.schema.table`.'),
    child_column_name: text,
    parent_table_path: Joi.string(),
    parent_column_name: text,
    ...replyKeys(checkFields),
    latest_status: status.allow(null).description('How it did last; null before it ran.'),
    last_check_at: time.allow(null),
    created_at: time,
    updated_at: time,
  },
  {
    id: CHECK_ID,
    internal_id: 2,
    ...exampleOf(checkFields),
    child_table_path: 'shop.public.orders',
    child_column_name: 'customer_id',
    parent_table_path: 'shop.public.customers',
    parent_column_name: 'id',
    latest_status: null,
    last_check_at: null,
    created_at: '2026-03-09T08:15:00.000Z',
    updated_at: '2026-03-09T08:15:00.000Z',
  },
).label('ReferentialCheck')

const RESULT = {
  id: 311,
  referential_check_id: CHECK_ID,
  status: 'fail',
  orphan_count: 2,
  orphan_percent: 0.011,
  total_child_rows: 18_250,
  orphan_sample: null,
  parents_below_min: null,
  parents_above_max: null,
  query_duration_ms: 18,
  checked_at: '2026-03-09T08:15:04.000Z',
  error_message: null,
}

const sample = record({
  row_id: Joi.any().description(
    'The primary key, an object when it has several columns; else a number from 1.',
  ),
  value: Joi.any().description('The value that no parent has; null of personal data.'),
  is_hidden: Joi.valid(true)
    .optional()
    .description('Present when the row has a value that is personal data and not shown.'),
})

const resultFields = {
  id: integer,
  referential_check_id: id,
  status,
  orphan_count: count.description('0 when status is error.'),
  orphan_percent: number.min(0).max(100).description('0 when status is error.'),
  total_child_rows: count.description('0 when status is error.'),
  parents_below_min: count.allow(null).description('Null unless min_child_count is set.'),
  parents_above_max: count.allow(null).description('Null unless max_child_count is set.'),
  query_duration_ms: count,
  checked_at: time,
  error_message: text.allow(null).description('Why it could not run.'),
}

const executed = record(
  {
    ...resultFields,
    orphan_sample: Joi.array()
      .items(sample)
      .allow(null)
      .description('Up to 10 orphans; null where it could not run.'),
  },
  { ...RESULT, orphan_sample: [{ row_id: 18_001, value: 999 }] },
)

const result = record(
  { ...resultFields, orphan_sample: Joi.valid(null).description('Orphans are not kept.') },
  RESULT,
).label('ReferentialResult')

const summary = record(
  {
    total_checks: count,
    active_checks: count,
    passing_checks: count.description('Active checks that passed last.'),
    failing_checks: count,
    error: count.description('Checks that could not run.'),
    last_check_at: time.allow(null),
  },
  {
    total_checks: 2,
    active_checks: 2,
    passing_checks: 1,
    failing_checks: 1,
    error: 0,
    last_check_at: '2026-03-09T08:15:04.000Z',
  },
)

/** Replies about referential checks, for the `response` of a route. */
export const replies = {
  summary: reply(inData(summary)),
  list: reply(inItems(check)),
  created: reply(inData(check), 201),
  get: reply(inData(check)),
  patched: reply(inData(check)),
  removed: reply(removal('Referential check Orders have customers was removed')),
  run: reply(inData(executed)),
  results: reply(inItems(result)),
}
