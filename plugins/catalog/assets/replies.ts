import Joi from 'joi'
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
  removal,
  reply,
} from '../../../server/http/envelopes.ts'
import { runRecord, startedReplies, startedRun } from '../../../server/http/run-accepted.ts'
import { change } from '../drift/change-replies.ts'
import { SOURCE_ID, sourceRecord, TABLE_ID, tableRecord } from './asset-replies.ts'

const { id, text, time, count, flag } = held

/** A source or a table, by `asset_type`. */
const asset = Joi.alternatives()
  .label('Asset')
  .try(sourceRecord, tableRecord)
  .meta({
    openapi: {
      discriminator: {
        propertyName: 'asset_type',
        mapping: {
          source: '#/components/schemas/Source',
          ...Object.fromEntries(
            ['table', 'view', 'materialized_view', 'external_table'].map(kind => [
              kind,
              '#/components/schemas/Table',
            ]),
          ),
        },
      },
    },
  })
  .example(exampleIn(sourceRecord))
  .example(exampleIn(tableRecord))

const changes = record(
  {
    asset: Joi.string().description('The qualified name of the source or table.'),
    changes: Joi.array().items(change),
    ...pageFields,
  },
  {
    asset: 'shop.shop.public.orders',
    changes: [exampleIn(change)],
    total: 1,
    limit: 100,
    offset: 0,
    has_more: false,
  },
).label('AssetSchemaChanges')

const stage = record({
  name: Joi.valid('reach', 'tls', 'sign_in', 'read_catalog'),
  status: Joi.valid('passed', 'failed', 'skipped').description(
    'After a failed stage the later ones are skipped; tls is skipped when the connection is not encrypted.',
  ),
  latency_ms: count.description('0 when skipped.'),
  message: text,
}).label('ConnectionStage')

const errorCode = Joi.string().description(
  'credentials, network, timeout, tls, permission, missing_object, driver_missing, egress_refused, busy or other.',
)

const tested = exampleRecord({
  success: flag.example(true),
  latency_ms: count.description('Of all stages together.').example(31),
  error_code: errorCode.allow(null).example(null),
  error_message: text.allow(null).example(null),
  tested_at: time.example('2026-03-09T08:05:00.000Z'),
  stages: Joi.array()
    .items(stage)
    .description('In their order.')
    .example([
      { name: 'reach', status: 'passed', latency_ms: 2, message: 'db.example.com:5432 can be reached' },
      { name: 'tls', status: 'passed', latency_ms: 9, message: 'The session is encrypted' },
      { name: 'sign_in', status: 'passed', latency_ms: 12, message: 'Signed in as tidemark' },
      { name: 'read_catalog', status: 'passed', latency_ms: 8, message: 'The catalog can be read' },
    ]),
}).label('ConnectionTest')

const JOB_ID = '0196f2e1-2b3c-7d4e-8f50-a1b2c3d4e5f6'

const started = startedRun(
  'Discovery',
  { id: JOB_ID, jobPath: '/api/v1/sdk/jobs' },
  { asset_id: id, started_at: time },
  { asset_id: SOURCE_ID, started_at: '2026-03-09T08:05:10.000Z' },
)

const DISCOVERED = {
  table_count: 24,
  column_count: 180,
  changes_detected: 1,
  unread_count: 0,
  unread: [],
  duration_ms: 240,
}

const tablePreview = exampleRecord({
  total: count.allow(null).description('Tables of the database; null when it could not be read.').example(48),
  matched: count.allow(null).description('Those that the patterns leave in.').example(24),
  schemas: Joi.array()
    .items(record({ schema: text, total: count, matched: count }))
    .description('The first 200.')
    .example([{ schema: 'public', total: 30, matched: 24 }]),
  tables: Joi.array()
    .items(text)
    .description('The first 50 that match, as `schema.table`.')
    .example(['public.orders']),
  error_code: errorCode.allow(null).example(null),
  error_message: text.allow(null).example(null),
}).label('TablePreview')

const discovered = record({
  table_count: count,
  column_count: count,
  changes_detected: count,
  unread_count: count.description(
    'Tables that are or may be there and could not be read, or not all of their columns and keys; what was known stays.',
  ),
  unread: Joi.array()
    .items(record({ table_path: text, error_code: errorCode, error_message: text }))
    .description('The first 100 of them.'),
  duration_ms: count,
})
  .label('DiscoveryOutcome')
  .description('Of a discovery.')

const refreshed = record({
  measured: count.description('Tables that were read.'),
  fresh: count,
  stale: count,
  unknown: count,
  failed: count.description('Tables that could not be read.'),
  statements: count.description('Statements that the source was sent.'),
  tables: Joi.array()
    .items(record({ asset: text, status: Joi.valid('error'), error_message: text }))
    .description('Those that could not be read.'),
})
  .label('RefreshOutcome')
  .description('Of a refresh of freshness.')

const checked = record({
  asset: text.description('The qualified name.'),
  tables: count,
  checks: count,
  passed: count.description('Those that warn are among them.'),
  failed: count,
  errors: count.description('Checks that could not run.'),
  statements: count.description('Statements that the source was sent.'),
  findings: Joi.array()
    .items(
      record({
        id: Joi.string().description('The rule, metric, referential check or comparison.'),
        feature: Joi.string()
          .meta({ openapi: { 'x-words': 'check_feature' } })
          .description('What stands before it in paths.'),
        asset: text.description('The qualified name of its table.'),
        name: text,
        status: Joi.valid('pass', 'warning', 'fail', 'error'),
        severity: Joi.valid('info', 'warning', 'critical'),
        message: text,
      }),
    )
    .description('The worst first, at most 1,000.'),
})
  .label('CheckOutcome')
  .description('Of a check of an asset.')

const profiled = record({
  asset: text.description('The qualified name.'),
  tables: count,
  profiled: count,
  failed: count.description('Tables that could not be profiled.'),
  statements: count.description('Statements that the source was sent.'),
  findings: Joi.array()
    .items(
      record({
        asset_id: id.description('The table.'),
        asset: text.description('The qualified name of the table.'),
        status: Joi.valid('profiled', 'error'),
        profile_id: id.allow(null),
        row_count: count.allow(null),
        message: text,
      }),
    )
    .description('Those that failed first, at most 1,000.'),
})
  .label('ProfileOutcome')
  .description('Of a profile of an asset.')

const watchedKind = record({
  created: count,
  existing: count.description('Those that there were before.'),
  skipped: Joi.array().items(Joi.object().unknown()),
})

const watched = record({
  asset_id: id.description('The source.'),
  matched: count.description('Active tables that match the patterns.'),
  row_count: watchedKind,
  freshness: watchedKind,
  not_null: watchedKind,
  unique: watchedKind,
  recommended: Joi.object()
    .pattern(Joi.string(), count)
    .description('Further checks that were created, by type.'),
  level: text,
  statements_per_day: record({ checks: count, freshness: count }),
  dry_run: Joi.boolean(),
})
  .label('WatchOutcome')
  .description('Of a policy that watches many tables.')

const contractTested = record({
  source: text,
  status: Joi.valid('pass', 'fail', 'error').description(
    '`error` if no clause fails, and one could not be judged.',
  ),
  counts: record({ passing: count, failing: count, pending: count, not_enforced: count }),
  clauses: Joi.array().items(
    record({
      key: text,
      kind: text,
      path: text,
      title: text,
      severity: text,
      reason: text.allow(null),
      status: Joi.valid('passing', 'failing', 'pending', 'not_enforced'),
    }),
  ),
})
  .label('ContractTestOutcome')
  .description('What a test of a contract found.')

const job = runRecord(
  Joi.alternatives().try(discovered, refreshed, checked, profiled, watched, contractTested),
  record({ code: errorCode, message: text }),
)
  .example({
    job_id: JOB_ID,
    status: 'completed',
    workflow_name: 'discovery',
    asset_id: SOURCE_ID,
    progress: 100,
    result: DISCOVERED,
    error: null,
    created_at: '2026-03-09T08:05:10.000Z',
    completed_at: '2026-03-09T08:05:10.460Z',
  })
  .label('Job')

const tag = exampleRecord({
  id: id.example('0196f2e4-88aa-7c01-9b2d-3e4f5a6b7c8d'),
  name: Joi.string().example('pii.email'),
  category: Joi.valid('business', 'technical', 'governance').example('governance'),
  description: text.allow(null).example(null),
  origin: Joi.valid('manual', 'automatic')
    .description('Applied by a person, a key or a discovery.')
    .example('automatic'),
  asset_id: id
    .description('The table that carries it, itself or on a column; else the source.')
    .example(TABLE_ID),
  source_id: id.example(SOURCE_ID),
  object_path: Joi.string()
    .allow(null)
    .description('The table, or the column; null of a source.')
    .example('shop.public.customers.email'),
  object_type: Joi.valid('source', 'table', 'column').example('column'),
  created_at: time.example('2026-03-09T08:05:10.000Z'),
}).label('Tag')

const applied = exampleRecord({
  applied: count.description('Tags that are on now, those that were before included.').example(2),
  failed: count.example(0),
  total: count.example(2),
  errors: Joi.array()
    .items(record({ object_path: text, name: text, error: text }))
    .description('The first 100.')
    .example([]),
}).label('AppliedTags')

/** Replies about sources, tables, jobs and tags, for the `response` of a route. */
export const replies = {
  asset: reply(inData(asset)),
  bareAsset: reply(asset),
  assets: reply(inPage(asset)),
  nestedAssets: reply(inData(inPage(asset))),
  source: reply(inData(sourceRecord), 201),
  sourceRemoved: reply(removal('Source shop was removed')),
  changes: reply(inEnvelope(changes).description('The changes, with counts by impact')),
  tested: reply(
    inData(tested).description('The outcome of each stage; a failed connection is 200 with `success` false'),
  ),
  tablePreview: reply(inData(tablePreview)),
  discovery: startedReplies(started),
  job: reply(inData(job)),
  tag: { status: { 200: inData(tag), 201: inData(tag) }, sample: 0 },
  tags: reply(inNestedPage(tag, 'tags')),
  tagsApplied: reply(inData(applied).description('What was tagged, and errors for the rest')),
  tagRemoved: reply(removal('Tag pii.email was taken off, and will not be put on again by itself')),
}
