import Joi from 'joi'
import { PARTITION_METHODS } from '../../../connectors/catalog.ts'
import { partsReply } from '../../../server/http/check-schemas.ts'
import { exampleRecord, held, record } from '../../../server/http/envelopes.ts'

import { tableWindowReplies } from './table-window.ts'

const { id, text, time, count, integer, flag, texts } = held

/** Ids of the examples. */
export const SOURCE_ID = '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'
export const TABLE_ID = '0196f2e1-2cf0-7e21-a4b5-c6d7e8f90a1b'

const sentence = Joi.string()
const level = Joi.valid('schema_only', 'aggregates', 'full')
const impact = Joi.valid('none', 'low', 'medium', 'high').description(
  'The worst of the changes that are open.',
)

const owners = Joi.array()
  .items(
    record({
      type: Joi.valid('user', 'team', 'email', 'name'),
      id: id.allow(null),
      name: text,
      email: Joi.string().allow(null),
      origin: Joi.valid('manual', 'dbt', 'openlineage', 'comment').description('Who named the owner.'),
      inherited_from: record({ type: Joi.valid('tag', 'schema', 'source'), name: text })
        .allow(null)
        .description('What the owner is set for; null for the asset itself.'),
    }).label('AssetOwner'),
  )
  .optional()
  .description('Who owns it, by the most specific object that has owners.')
  .example([])

const WATCHED_STATES = ['passing', 'failing', 'error', 'pending', 'learning'] as const
const watchedState = Joi.valid(...WATCHED_STATES, 'not_watched')
const healthStatus = Joi.valid('fine', 'failing', 'unknown').description(
  'fine only where freshness, volume and keys are watched and all checks pass.',
)

const freshnessDefaults = record({
  monitoring_mode: Joi.valid('auto_learn', 'explicit').optional(),
  sla_threshold: Joi.string().optional(),
  check_interval: Joi.string().optional(),
  freshness_columns: texts.optional(),
})
  .label('FreshnessDefaults')
  .description('What freshness schedules made later have where they name nothing else.')

/** Representation A of an asset: a source. */
export const sourceRecord = exampleRecord({
  id: id.example(SOURCE_ID),
  qualified_name: Joi.string()
    .description('The name of the source, quoted where it holds a dot or a quote.')
    .example('shop'),
  name: text.example('shop'),
  asset_type: Joi.valid('source').example('source'),
  source_type: Joi.string().description('Its engine: postgresql, mysql, …').example('postgresql'),
  is_active: flag.description('Whether it is looked at by itself.').example(true),
  created_at: time.example('2026-03-09T08:04:40.000Z'),
  updated_at: time.example('2026-03-09T08:05:10.440Z'),
  last_refresh_at: time
    .allow(null)
    .description('When it was discovered last.')
    .example('2026-03-09T08:05:10.440Z'),
  description: text.allow(null).example('The web shop'),
  connection_status: Joi.valid('untested', 'connected', 'failed', 'unavailable')
    .description('unavailable: no extension provides its engine.')
    .example('connected'),
  connection_message: sentence.example('The last connection went through'),
  consecutive_failures: count.description('Connections in a row that failed.').example(0),
  failing_since: time.allow(null).description('When the first of them did.').example(null),
  retry_at: time
    .allow(null)
    .description('Before this, nothing that is scheduled dials it; null while it is not left alone.')
    .example(null),
  discovery_state: Joi.valid('never', 'queued', 'running', 'completed', 'failed').example('completed'),
  discovery_interval: Joi.valid('off', 'hourly', 'every_4_hours', 'daily', 'weekly').example('daily'),
  next_discovery_at: time
    .allow(null)
    .description('On schedule, or again after one that failed.')
    .example('2026-03-10T08:05:00.000Z'),
  failed_discoveries: count.description('Since the last one that did not fail.').example(0),
  include_patterns: texts
    .description('Tables that are read, as globs; all where it is empty.')
    .example(['public.*']),
  exclude_patterns: texts.description('Tables that are not, even if included.').example([]),
  table_count: count.example(24),
  column_count: count.example(180),
  schema_count: count.example(1),
  catalog_count: count.example(1),
  unread_count: count.description('Tables that the last discovery could not read.').example(0),
  host: text.allow(null).example('db.example.com'),
  port: integer.allow(null).example(5432),
  database_name: text.allow(null).example('shop'),
  username: text.allow(null).example('tidemark'),
  default_catalog: text.allow(null).example(null),
  http_path: text.allow(null).example(null),
  ssl_enabled: flag.description('Whether sessions are encrypted, as far as is known.').example(true),
  extra_params: Joi.object()
    .unknown()
    .description('What else its connection_config holds, by engine; never a secret.')
    .example({ sslmode: 'verify-full' }),
  freshness_status: Joi.valid('fresh', 'stale', 'unknown', 'not_configured').example('fresh'),
  freshness_message: sentence.example('3 of 3 monitored tables are fresh, none is stale'),
  freshness_summary: text.example('3 ready, 0 not ready, 0 unknown, 0 error'),
  lineage_status: Joi.valid('none', 'ready', 'error').example('none'),
  lineage_message: sentence.example('No lineage is recorded'),
  intelligence_status: Joi.valid('disabled').example('disabled'),
  intelligence_message: sentence.example('Not part of this version'),
  data_quality_status: Joi.valid('passing', 'failing', 'error', 'none').example('passing'),
  data_quality_message: sentence.example('1 fail, 5 checks pass, 2 learning'),
  health: record({
    status: healthStatus,
    headline: text,
    watched: record({
      tables: count,
      freshness: count.description('Tables whose freshness is watched.'),
      volume: count.description('Tables with a row count.'),
    }),
  })
    .label('SourceHealth')
    .description('Whether its tables are known to be fine, and what is not watched.')
    .example({
      status: 'unknown',
      headline: '5 checks pass; freshness is not watched in 2 of 24 tables',
      watched: { tables: 24, freshness: 22, volume: 24 },
    }),
  query_access_level: level
    .description('What may be asked of it: its catalog, numbers of its rows, or rows.')
    .example('full'),
  intelligence_mode: Joi.valid('off').example('off'),
  effective_access_level: level.example('full'),
  max_concurrency: integer.description('Sessions that may be open there at once.').example(4),
  statement_timeout_seconds: integer
    .allow(null)
    .description('Null means the setting STATEMENT_TIMEOUT.')
    .example(null),
  max_bytes_per_statement: integer
    .allow(null)
    .description('Bytes that a statement may read at most. Null means no limit.')
    .example(10_737_418_240),
  freshness_defaults: freshnessDefaults.allow(null).example(null),
  features: Joi.object()
    .pattern(Joi.string(), Joi.boolean())
    .description('What its connector can do.')
    .example({ constraints: true, comments: true, regex: true, cancel: true }),
  schema_status: Joi.valid('unknown', 'ok', 'changed', 'error').example('changed'),
  schema_message: text.example('24 tables and 180 columns are known'),
  schema_change_status: impact.example('medium'),
  schema_change_message: sentence.example(
    `1 schema change is not acknowledged; the worst has medium impact: GET /api/v1/assets/${SOURCE_ID}/schema-changes`,
  ),
  schema_change_summary: text.example('1 open'),
  tags: texts.example(['shop']),
  tags_status: Joi.valid('none', 'ready', 'error').example('ready'),
  tags_message: sentence.example('1 table and 1 column carry tags'),
  tags_counts: record({
    tables: count.description('Tables that carry a tag, or a column of which does.'),
    columns: count,
    by_tag: Joi.object()
      .pattern(Joi.string(), count)
      .description('What carries each of the 50 commonest tags.'),
  }).example({ tables: 1, columns: 1, by_tag: { 'pii.email': 1, shop: 1 } }),
  tags_mode: Joi.valid('auto', 'manual').example('auto'),
  auto_tag_enabled: flag
    .description('Whether discoveries tag columns by their names and types.')
    .example(true),
  owners,
}).label('Source')

const column = record({
  name: text,
  data_type: text,
  kind: text.description('What it can be used for: integer, text, timestamp …'),
  nullable: flag,
  description: text.allow(null),
  tags: texts,
}).label('Column')

/** Representation B of an asset: a table or view of a source. */
export const tableRecord = exampleRecord({
  id: id.example(TABLE_ID),
  qualified_name: Joi.string()
    .description('`<source>.<database>.<schema>.<table>`.')
    .example('shop.shop.public.orders'),
  asset_type: Joi.valid('table', 'view', 'materialized_view', 'external_table').example('table'),
  source: text.example('shop'),
  database: text.example('shop'),
  schema: text.example('public'),
  name: text.example('orders'),
  table_path: Joi.string().description('`catalog.schema.table`.').example('shop.public.orders'),
  description: text.allow(null).example(null),
  is_active: flag.description('Whether the last discovery found it.').example(true),
  absence: Joi.valid('removed', 'excluded').allow(null).description('Why it was not.').example(null),
  read_error: record({ code: Joi.string(), message: text })
    .allow(null)
    .description('Why the last discovery could not read it; its columns are those known before.')
    .example(null),
  column_count: count.example(2),
  estimated_rows: integer.allow(null).description('As the engine estimates, where it does.').example(18_250),
  known_rows: record({
    count,
    from: Joi.valid('engine', 'row_count', 'profile'),
    at: time.allow(null).description('When it was counted; null of an estimate of the engine.'),
  })
    .label('KnownRows')
    .allow(null)
    .description('The newest number of rows that is known, and where it is from.')
    .example({ count: 18_250, from: 'engine', at: null }),
  primary_key: texts.example(['id']),
  partitioning: record({
    columns: Joi.array()
      .items(
        record({
          name: text,
          method: Joi.valid(...PARTITION_METHODS)
            .allow(null)
            .description('Null where the catalog does not say it.'),
        }),
      )
      .description('By which rows lie in partitions, without expressions.'),
    clustering: texts.description('The columns of its cluster or sort key.'),
    requires_filter: flag.description('Statements must have a condition on them.'),
  })
    .label('Partitioning')
    .allow(null)
    .optional()
    .description('How its rows are kept apart. Left out of lists.')
    .example({ columns: [{ name: 'ordered_on', method: 'range' }], clustering: [], requires_filter: false }),
  ...tableWindowReplies,
  freshness: record({
    status: Joi.valid('fresh', 'stale', 'unknown'),
    last_updated: time.allow(null),
    sla_threshold: Joi.string().allow(null).description('A duration, such as 24h.'),
    checked_at: time.allow(null),
    learning: record({ seen: count, needed: count })
      .allow(null)
      .description('Updates seen, of those needed to learn a threshold; null once there is one.'),
    schedule_id: id.allow(null).description('Null where no schedule watches it, active or not.'),
  }).example({
    status: 'fresh',
    last_updated: '2026-03-09T07:58:00.000Z',
    sla_threshold: '24h',
    checked_at: '2026-03-09T08:05:00.000Z',
    learning: null,
    schedule_id: '0196f2e7-10ff-7a3b-8c4d-5e6f70819203',
  }),
  quality: record({
    status: Joi.valid('passing', 'failing', 'error', 'none'),
    passing: count.description('Active checks that passed last.'),
    learning: count.description('Active checks that learn what is usual.'),
    failing: count,
    error: count.description('Checks that could not run.'),
    pending: count.description('Active checks that have no result yet.'),
  }).example({ status: 'passing', passing: 5, learning: 0, failing: 0, error: 0, pending: 0 }),
  health: record({
    status: healthStatus,
    headline: text,
    watched: record({
      freshness: watchedState,
      volume: watchedState.description('By a row count.'),
      keys: Joi.valid(...WATCHED_STATES, 'not_watched', 'enforced')
        .allow(null)
        .description('`enforced` by the engine; null without a primary key of one column.'),
    }),
  })
    .label('TableHealth')
    .description('Whether it is known to be fine, and what is not watched.')
    .example({
      status: 'unknown',
      headline: '5 checks pass; freshness is not watched',
      watched: { freshness: 'not_watched', volume: 'passing', keys: 'enforced' },
    }),
  schema_change_status: impact.example('medium'),
  owners,
  last_scan: record({
    at: time,
    checks: count.description('Checks that it ran.'),
    statements: count.description('Statements sent to the source, those of settings included.'),
    rows: count.description('Rows received.'),
    bytes: count.description('Bytes received; 0 where the engine does not report them.'),
    duration_ms: count.description('From when each statement was sent until it had ended, added up.'),
    parts: partsReply,
  })
    .label('LastScan')
    .allow(null)
    .optional()
    .description(
      'The last scan for checks in the last 90 days, and what it cost the source. Left out of lists.',
    )
    .example({
      at: '2026-03-09T08:05:00.000Z',
      checks: 5,
      statements: 3,
      rows: 1,
      bytes: 96,
      duration_ms: 41,
      parts: null,
    }),
  columns: Joi.array()
    .items(column)
    .optional()
    .description('Left out of lists and with include_columns=false.')
    .example([
      { name: 'id', data_type: 'bigint', kind: 'integer', nullable: false, description: null, tags: [] },
      {
        name: 'total',
        data_type: 'double precision',
        kind: 'float',
        nullable: false,
        description: 'In EUR',
        tags: ['money'],
      },
    ]),
  tags: texts.example([]),
  created_at: time.example('2026-03-09T08:05:10.000Z'),
  updated_at: time.example('2026-03-09T08:05:10.000Z'),
}).label('Table')
