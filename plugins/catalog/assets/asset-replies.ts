import Joi from 'joi'
import { held, record } from '../../../server/http/envelopes.ts'

const { id, text, time, count, integer, flag, texts } = held

/** Ids of the examples. */
export const SOURCE_ID = '0196f2df-4c00-7b8a-9c3d-1e2f3a4b5c6d'
export const TABLE_ID = '0196f2e1-2cf0-7e21-a4b5-c6d7e8f90a1b'

const sentence = Joi.string()
const level = Joi.valid('schema_only', 'aggregates', 'full')
const impact = Joi.valid('none', 'low', 'medium', 'high').description(
  'The worst of the changes that are open.',
)

/** An example of a source. */
export const SOURCE = {
  id: SOURCE_ID,
  name: 'shop',
  asset_type: 'source',
  source_type: 'postgresql',
  is_active: true,
  created_at: '2026-03-09T08:04:40.000Z',
  updated_at: '2026-03-09T08:05:10.440Z',
  last_refresh_at: '2026-03-09T08:05:10.440Z',
  description: 'The web shop',
  connection_status: 'connected',
  connection_message: 'The last connection went through',
  consecutive_failures: 0,
  failing_since: null,
  retry_at: null,
  discovery_state: 'completed',
  discovery_interval: 'daily',
  next_discovery_at: '2026-03-10T08:05:00.000Z',
  failed_discoveries: 0,
  include_patterns: ['public.*'],
  exclude_patterns: [],
  table_count: 24,
  column_count: 180,
  schema_count: 1,
  catalog_count: 1,
  unread_count: 0,
  host: 'db.example.com',
  port: 5432,
  database_name: 'shop',
  username: 'tidemark',
  default_catalog: null,
  http_path: null,
  ssl_enabled: true,
  extra_params: { sslmode: 'verify-full' },
  freshness_status: 'fresh',
  freshness_message: '3 of 3 monitored tables are fresh, none is stale',
  freshness_summary: '3 ready, 0 not ready, 0 unknown, 0 error',
  lineage_status: 'none',
  lineage_message: 'No lineage is recorded',
  intelligence_status: 'disabled',
  intelligence_message: 'Not part of this version',
  data_quality_status: 'passing',
  data_quality_message: '5 checks pass, 0 fail, 0 could not run',
  query_access_level: 'full',
  intelligence_mode: 'off',
  effective_access_level: 'full',
  max_concurrency: 4,
  statement_timeout_seconds: null,
  freshness_defaults: null,
  features: { constraints: true, comments: true, regex: true, cancel: true },
  schema_status: 'changed',
  schema_message: '24 tables and 180 columns are known',
  schema_change_status: 'medium',
  schema_change_message: `1 schema change is not acknowledged; the worst has medium impact: GET /api/v1/assets/${SOURCE_ID}/schema-changes`,
  schema_change_summary: '1 open',
  tags: ['shop'],
  tags_status: 'ready',
  tags_message: '1 table and 1 column carry tags',
  tags_counts: { tables: 1, columns: 1, by_tag: { 'pii.email': 1, shop: 1 } },
  tags_mode: 'auto',
  auto_tag_enabled: true,
}

const freshnessDefaults = record({
  monitoring_mode: Joi.valid('auto_learn', 'explicit').optional(),
  sla_threshold: Joi.string().optional(),
  check_interval: Joi.string().optional(),
  freshness_columns: texts.optional(),
}).description('What freshness schedules made later have where they name nothing else.')

/** Representation A of an asset: a source. */
export const sourceRecord = record(
  {
    id,
    name: text,
    asset_type: Joi.valid('source'),
    source_type: Joi.string().description('Its engine: postgresql, mysql, …'),
    is_active: flag.description('Whether it is looked at by itself.'),
    created_at: time,
    updated_at: time,
    last_refresh_at: time.allow(null).description('When it was discovered last.'),
    description: text.allow(null),
    connection_status: Joi.valid('untested', 'connected', 'failed'),
    connection_message: sentence,
    consecutive_failures: count.description('Connections in a row that failed.'),
    failing_since: time.allow(null).description('When the first of them did.'),
    retry_at: time
      .allow(null)
      .description('Before this, nothing that is scheduled dials it; null while it is not left alone.'),
    discovery_state: Joi.valid('never', 'queued', 'running', 'completed', 'failed'),
    discovery_interval: Joi.valid('off', 'hourly', 'every_4_hours', 'daily', 'weekly'),
    next_discovery_at: time.allow(null).description('On schedule, or again after one that failed.'),
    failed_discoveries: count.description('Since the last one that did not fail.'),
    include_patterns: texts.description('Tables that are read, as globs; all where it is empty.'),
    exclude_patterns: texts.description('Tables that are not, even if included.'),
    table_count: count,
    column_count: count,
    schema_count: count,
    catalog_count: count,
    unread_count: count.description('Tables that the last discovery could not read.'),
    host: text.allow(null),
    port: integer.allow(null),
    database_name: text.allow(null),
    username: text.allow(null),
    default_catalog: text.allow(null),
    http_path: text.allow(null),
    ssl_enabled: flag.description('Whether sessions are encrypted, as far as is known.'),
    extra_params: Joi.object()
      .unknown()
      .description('What else its connection_config holds, by engine; never a secret.'),
    freshness_status: Joi.valid('fresh', 'stale', 'unknown', 'not_configured'),
    freshness_message: sentence,
    freshness_summary: text,
    lineage_status: Joi.valid('none', 'ready', 'error'),
    lineage_message: sentence,
    intelligence_status: Joi.valid('disabled'),
    intelligence_message: sentence,
    data_quality_status: Joi.valid('passing', 'failing', 'error', 'none'),
    data_quality_message: sentence,
    query_access_level: level.description(
      'What may be asked of it: its catalog, numbers of its rows, or rows.',
    ),
    intelligence_mode: Joi.valid('off'),
    effective_access_level: level,
    max_concurrency: integer.description('Sessions that may be open there at once.'),
    statement_timeout_seconds: integer.allow(null).description('Null means the setting STATEMENT_TIMEOUT.'),
    freshness_defaults: freshnessDefaults.allow(null),
    features: Joi.object().pattern(Joi.string(), Joi.boolean()).description('What its connector can do.'),
    schema_status: Joi.valid('unknown', 'ok', 'changed', 'error'),
    schema_message: text,
    schema_change_status: impact,
    schema_change_message: sentence,
    schema_change_summary: text,
    tags: texts,
    tags_status: Joi.valid('none', 'ready', 'error'),
    tags_message: sentence,
    tags_counts: record({
      tables: count.description('Tables that carry a tag, or a column of which does.'),
      columns: count,
      by_tag: Joi.object()
        .pattern(Joi.string(), count)
        .description('What carries each of the 50 commonest tags.'),
    }),
    tags_mode: Joi.valid('auto', 'manual'),
    auto_tag_enabled: flag.description('Whether discoveries tag columns by their names and types.'),
  },
  SOURCE,
).label('Source')

const column = record({
  name: text,
  data_type: text,
  nullable: flag,
  description: text.allow(null),
  tags: texts,
})

/** An example of a table. */
export const TABLE = {
  id: TABLE_ID,
  qualified_name: 'shop.shop.public.orders',
  asset_type: 'table',
  source: 'shop',
  database: 'shop',
  schema: 'public',
  name: 'orders',
  table_path: 'shop.public.orders',
  description: null,
  is_active: true,
  absence: null,
  read_error: null,
  column_count: 2,
  estimated_rows: 18_250,
  primary_key: ['id'],
  freshness: {
    status: 'fresh',
    last_updated: '2026-03-09T07:58:00.000Z',
    sla_threshold: '24h',
    checked_at: '2026-03-09T08:05:00.000Z',
  },
  quality: { status: 'passing', passing: 5, failing: 0, error: 0 },
  schema_change_status: 'medium',
  columns: [
    { name: 'id', data_type: 'bigint', nullable: false, description: null, tags: [] },
    { name: 'total', data_type: 'double precision', nullable: false, description: 'In EUR', tags: ['money'] },
  ],
  tags: [],
  created_at: '2026-03-09T08:05:10.000Z',
  updated_at: '2026-03-09T08:05:10.000Z',
}

/** Representation B of an asset: a table or view of a source. */
export const tableRecord = record(
  {
    id,
    qualified_name: Joi.string().description('`<source>.<database>.<schema>.<table>`.'),
    asset_type: Joi.valid('table', 'view', 'materialized_view', 'external_table'),
    source: text,
    database: text,
    schema: text,
    name: text,
    table_path: Joi.string().description('`catalog.schema.table`.'),
    description: text.allow(null),
    is_active: flag.description('Whether the last discovery found it.'),
    absence: Joi.valid('removed', 'excluded').allow(null).description('Why it was not.'),
    read_error: record({ code: Joi.string(), message: text })
      .allow(null)
      .description('Why the last discovery could not read it; its columns are those known before.'),
    column_count: count,
    estimated_rows: integer.allow(null).description('As the engine estimates, where it does.'),
    primary_key: texts,
    freshness: record({
      status: Joi.valid('fresh', 'stale', 'unknown'),
      last_updated: time.allow(null),
      sla_threshold: Joi.string().allow(null).description('A duration, such as 24h.'),
      checked_at: time.allow(null),
    }),
    quality: record({
      status: Joi.valid('passing', 'failing', 'error', 'none'),
      passing: count.description('Active checks that passed last.'),
      failing: count,
      error: count.description('Checks that could not run.'),
    }),
    schema_change_status: impact,
    columns: Joi.array()
      .items(column)
      .optional()
      .description('Left out of lists and with include_columns=false.'),
    tags: texts,
    created_at: time,
    updated_at: time,
  },
  TABLE,
).label('Table')
