import Joi from 'joi'
import {
  bucketReply,
  operatingHoursReply,
  sampleReply,
  samplesNoteReply,
  statementsReply,
} from '../../server/http/check-schemas.ts'
import { trialReply, warningsReply } from '../../server/http/trial-schemas.ts'
import { checkRemoval, managedFields } from '../../server/http/check-owner.ts'
import { replyKeys } from '../../server/http/fields.ts'
import { totalsReply } from '../checks/kit.ts'
import { checkFields, generalFields } from './fields.ts'
import { exampleRecord, held, inData, inItems, reply } from '../../server/http/envelopes.ts'

const { id, text, time, count, integer, number } = held

const status = Joi.valid('pass', 'fail', 'error')
const checkId = id.example('0196f2ee-0102-7304-8506-0708090a0b0c')

const check = exampleRecord({
  id: checkId,
  internal_id: integer.example(2),
  asset_id: id.description('The source.').example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  ...replyKeys(generalFields),
  child_table_path: Joi.string().description('`catalog.schema.table`.').example('shop.public.orders'),
  child_column_name: text.example('customer_id'),
  parent_table_path: Joi.string().example('shop.public.customers'),
  parent_column_name: text.example('id'),
  ...replyKeys(checkFields),
  latest_status: status.allow(null).description('How it did last; null before it ran.').example(null),
  last_check_at: time.allow(null).example(null),
  last_checked_at: time.allow(null).description('Equal to last_check_at.').example(null),
  created_at: time.example('2026-03-09T08:15:00.000Z'),
  updated_at: time.example('2026-03-09T08:15:00.000Z'),
  ...managedFields,
}).label('ReferentialCheck')

const sample = sampleReply('The value that no parent has; null of personal data.')

const orphanFields = {
  orphan_count: count.description('0 when status is error.').example(2),
  orphan_percent: number.min(0).max(100).description('0 when status is error.').example(0.011),
  total_child_rows: count.description('0 when status is error.').example(18_250),
  parents_below_min: count.allow(null).description('Null unless min_child_count is set.').example(null),
  parents_above_max: count.allow(null).description('Null unless max_child_count is set.').example(null),
}

const resultFields = {
  id: integer.example(311),
  referential_check_id: integer.description('The `internal_id` of its check.').example(2),
  check_id: checkId.description('The `id` of its check.'),
  status: status.example('fail'),
  ...orphanFields,
  ...bucketReply,
  query_duration_ms: count.example(18),
  checked_at: time.example('2026-03-09T08:15:04.000Z'),
  error_message: text.allow(null).description('Why it could not run.').example(null),
}

const executed = exampleRecord({
  ...resultFields,
  orphan_sample: Joi.array()
    .items(sample)
    .allow(null)
    .description('Up to 10 orphans; null where it could not run.')
    .example([{ row_id: 18_001, value: 999 }]),
  orphan_sample_note: samplesNoteReply,
}).label('ReferentialExecution')

const result = exampleRecord({
  ...resultFields,
  orphan_sample: Joi.valid(null).description('Orphans are not kept.').example(null),
}).label('ReferentialResult')

const dryRun = exampleRecord({
  sql: statementsReply.example([{ text: 'select count(*) from "public"."orders"', values: [] }]),
  status: status.example('fail'),
  ...orphanFields,
  error_message: text.allow(null).description('Why it could not run.').example(null),
  ...trialReply,
  warnings: warningsReply,
}).label('ReferentialDryRun')

/** Replies about referential checks, for the `response` of a route. */
export const replies = {
  summary: reply(inData(totalsReply('checks', 'ReferentialSummary'))),
  list: reply(inItems(check)),
  created: reply(inData(check), 201),
  dryRun: reply(inData(dryRun).description('The outcome now')),
  get: reply(inData(check)),
  patched: reply(inData(check)),
  removed: reply(checkRemoval('Referential check Orders have customers was removed')),
  run: reply(inData(executed).description('The result, with samples of rows without a parent')),
  results: reply(inItems(result, { operating_hours: operatingHoursReply })),
}
