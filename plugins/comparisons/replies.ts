import Joi from 'joi'
import { bucketReply, operatingHoursReply, statementsReply } from '../../server/http/check-schemas.ts'
import { trialReply } from '../../server/http/trial-schemas.ts'
import { checkRemoval, managedFields } from '../../server/http/check-owner.ts'
import { exampleRecord, held, inData, inItems, record, reply } from '../../server/http/envelopes.ts'
import { replyKeys } from '../../server/http/fields.ts'
import { totalsReply } from '../checks/kit.ts'
import { comparisonFields } from './fields.ts'

const { id, text, time, count, integer, number } = held

const status = Joi.valid('pass', 'fail', 'error')
const comparisonId = Joi.string().example('c_0196f2ee-0102-7304-8506-0708090a0b0c')

const comparison = exampleRecord({
  id: comparisonId,
  internal_id: integer.example(2),
  asset_id: id.description('The source of the left table.').example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  table_path: text.description('The left table.').example('warehouse.public.orders'),
  right_source: text.description('The name of the source of the right table.').example('production'),
  right_table_path: text.example('shop.public.orders'),
  ...replyKeys(comparisonFields),
  latest_status: status.allow(null).description('How it did last; null before it ran.').example(null),
  last_checked_at: time.allow(null).example(null),
  created_at: time.example('2026-03-09T08:15:00.000Z'),
  updated_at: time.example('2026-03-09T08:15:00.000Z'),
  ...managedFields,
}).label('Comparison')

const value = text.allow(null)

const aggregate = record({
  group: Joi.object().pattern(Joi.string(), value),
  column: text.allow(null).description('Its name on the left; null of the number of rows.'),
  measure: text.description('`rows`, `nulls`, `distinct`, `sum`, `minimum` or `maximum`.'),
  left: value,
  right: value,
}).label('DifferingAggregate')

const numbers = {
  differing_rows: number
    .allow(null)
    .description(
      'Rows that are on one side only or have other values; by `aggregates`, how many of these differ; null when status is error.',
    )
    .example(12),
  rows_left: count.allow(null).example(1_204_331),
  rows_right: count.allow(null).example(1_204_323),
  only_left: count
    .allow(null)
    .description('Rows whose key only the left table has; null unless rows are compared.')
    .example(8),
  only_right: count.allow(null).example(0),
  differing: count.allow(null).description('Rows with a key of both tables and other values.').example(4),
  differing_percent: number.allow(null).example(0.001),
  differing_columns: Joi.object()
    .pattern(Joi.string(), count)
    .description('How many rows differ in a column, by its name on the left.')
    .example({ total: 4 }),
  differing_aggregates: Joi.array().items(aggregate).description('At most 100.').example([]),
  segments: count
    .allow(null)
    .description('Parts of the rows that were compared by checksums; 0 on one source.')
    .example(602),
  rows_fetched: count.allow(null).description('Rows that were sent to be compared.').example(8_013),
}

const resultFields = {
  id: integer.example(311),
  comparison_id: comparisonId,
  status: status.example('fail'),
  ...numbers,
  ...bucketReply,
  query_duration_ms: count.example(1_840),
  checked_at: time.example('2026-03-09T08:15:04.000Z'),
  error_message: text.allow(null).description('Why it could not run.').example(null),
}

const sample = record({
  key: Joi.object().pattern(Joi.string(), text),
  kind: Joi.valid('only_left', 'only_right', 'differs'),
  values: Joi.array().items(record({ column: text, left: value, right: value })),
}).label('DifferingRow')

const samples = {
  samples: Joi.array()
    .items(sample)
    .description(
      'Up to 100 rows that are not the same. They are not kept, and absent where a source shows no rows.',
    )
    .example([
      { key: { id: '18211' }, kind: 'differs', values: [{ column: 'total', left: '12.5', right: '12' }] },
    ]),
}

const executed = exampleRecord({ ...resultFields, ...samples }).label('ComparisonExecution')
const result = exampleRecord(resultFields).label('ComparisonResult')

const dryRun = exampleRecord({
  sql: statementsReply
    .description('Empty: which statements are sent depends on what the first ones find.')
    .example([]),
  status: status.example('fail'),
  message: text
    .allow(null)
    .description('What was found, as an alert would say it; null when status is error.')
    .example('orders: 12 of 1,204,331 rows differ: 8 only in warehouse, 4 in column total'),
  ...numbers,
  ...samples,
  warnings: Joi.array()
    .items(text)
    .description('An equal comparison that exists, and columns that cannot be compared and are left out.')
    .example([]),
  error_message: text.allow(null).description('Why it could not run.').example(null),
  ...trialReply,
}).label('ComparisonDryRun')

/** Replies about comparisons, for the `response` of a route. */
export const replies = {
  summary: reply(inData(totalsReply('comparisons', 'ComparisonSummary'))),
  list: reply(inItems(comparison)),
  created: reply(inData(comparison), 201),
  dryRun: reply(inData(dryRun).description('The outcome now')),
  get: reply(inData(comparison)),
  patched: reply(inData(comparison)),
  removed: reply(checkRemoval('Comparison The copy of orders is whole was removed')),
  run: reply(inData(executed).description('The result, with rows that differ')),
  results: reply(inItems(result, { operating_hours: operatingHoursReply })),
}
