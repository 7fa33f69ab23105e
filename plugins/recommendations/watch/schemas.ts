import Joi from 'joi'
import { exampleRecord, held, inData, record, removal, reply } from '../../../server/http/envelopes.ts'
import { startedRun } from '../../../server/http/run-accepted.ts'
import { WATCH_LEVELS } from '../applied.ts'
import { backfillBody, backfillCost } from '../backfill-schemas.ts'
import { SKIP_REASONS } from './result.ts'
import type { WatchRequest } from './watch.ts'

const { id, count, flag, texts, time } = held
const level = Joi.valid(...WATCH_LEVELS)

export const watchParams = Joi.object({
  asset_id: Joi.string().max(1_000).required().description('The id or name of a source.'),
})

/** Patterns; the catalog validates their form. */
const patterns = (description: string) =>
  Joi.array()
    .items(Joi.string().max(400))
    .max(200)
    .default([])
    .description(`${description}: table, schema.table or catalog.schema.table, with * for any characters.`)

const kind = (description: string) => Joi.boolean().strict().default(false).description(description)

const KINDS = ['row_count', 'freshness', 'keys'] as const
const isTrue = (name: string) => ({ properties: { [name]: { const: true } }, required: [name] })

export const watchBody = Joi.object<WatchRequest>({
  include_patterns: patterns('Tables to watch, default all'),
  exclude_patterns: patterns('Tables to leave out, even if included'),
  row_count: kind('A row_count metric for each table.'),
  freshness: kind('A freshness schedule for each table that shows when it was updated.'),
  keys: kind(
    'A NOT_NULL rule for each column of a primary key, and a UNIQUE rule for a primary key of one column.',
  ),
  level: level.description(
    'In place of the three kinds, and kept for tables that come later. light: row counts, freshness and keys; standard: also recommendations of constraints and profiles from a confidence of 0.8; deep: all that is recommended.',
  ),
  backfill: backfillBody,
  dry_run: kind('Creates nothing, and returns what would be created.'),
})
  .custom((body: Record<string, unknown>, helpers) =>
    body.level !== undefined || KINDS.some(name => body[name] === true)
      ? body
      : helpers.error('watch.nothing'),
  )
  .meta({ openapi: { anyOf: [{ required: ['level'] }, ...KINDS.map(isTrue)] } })
  .messages({ 'watch.nothing': 'level is missing, or row_count, freshness or keys must be true' })
  .required()
  .example({ include_patterns: ['public.*'], row_count: true, freshness: true, keys: true })

const skipped = record({
  reason: Joi.valid(...SKIP_REASONS).description(
    'no_primary_key, composite_key (UNIQUE covers one column), no_signal (nothing shows when the table was updated), unsupported (the engine or the type of the column does not allow the check), not_readable (the source has query_access_level schema_only).',
  ),
  count: count.description('Tables; of unsupported, columns.'),
  tables: texts.description('The first 20, by path.'),
})

const created = record({
  created: count.description('In a dry run, the ones to create.'),
  existing: count.description('Those that there were before, active or not.'),
  skipped: Joi.array().items(skipped),
}).label('WatchedKind')

const none = { created: 0, existing: 0, skipped: [] }

const watched = exampleRecord({
  asset_id: id.example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  matched: count.description('Active tables that match the patterns.').example(24),
  row_count: created.example({ ...none, created: 24 }),
  freshness: created.example({
    created: 22,
    existing: 1,
    skipped: [{ reason: 'no_signal', count: 1, tables: ['shop.public.countries'] }],
  }),
  not_null: created.example({ ...none, created: 24 }),
  unique: created.example({ ...none, created: 24 }),
  recommended: Joi.object()
    .pattern(Joi.string(), count)
    .optional()
    .description('With a level: further checks that were created, by type.'),
  level: level.allow(null).example(null),
  statements_per_day: record({ checks: count, freshness: count })
    .description(
      'Statements a day that this adds at the source: one daily scan of each table with new checks, and the freshness checks of tables that are read together. Rules that fail send more, to find invalid rows.',
    )
    .example({ checks: 24, freshness: 24 }),
  backfill: backfillCost,
  dry_run: flag.example(false),
}).label('WatchedTables')

const policy = exampleRecord({
  asset_id: id.example('0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'),
  level: level.allow(null).description('Null without a policy.').example('standard'),
  include_patterns: texts.example([]),
  exclude_patterns: texts.example(['tmp_*']),
  backfill: flag.description('Whether its new metrics learn the past at once.').example(true),
  applied_at: time.allow(null).description('When it was last applied.').example('2026-03-01T06:00:00.000Z'),
  created_at: time.allow(null).example('2026-02-01T09:30:00.000Z'),
  updated_at: time.allow(null).example('2026-02-01T09:30:00.000Z'),
}).label('WatchPolicy')

const started = startedRun(
  'Watching',
  { id: '0196f2f4-1111-7222-8333-444455556666', jobPath: '/api/v1/sdk/jobs' },
  {
    asset_id: id,
    matched: count.description('Active tables that match the patterns.'),
    level,
  },
  { asset_id: '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d', matched: 20_000, level: 'light' },
)

export const replies = {
  policy: reply(inData(policy)),
  removed: reply(removal('The policy was removed')),
  watched: {
    status: {
      200: inData(watched).description('What was created, what there was, and what was skipped'),
      202: started.description(
        'A level for many tables: the job creates its checks, and its result is what 200 returns',
      ),
    },
    sample: 0,
  },
}
