import type { Knex } from 'knex'
import { createSearch, dropSearch } from './catalog-search.ts'
import { partition } from './months.ts'
import { drop, isolate } from './tenant.ts'

const COMPANY_TABLES = [
  'sources',
  'tables',
  'runs',
  'schema_changes',
  'schema_baselines',
  'tags',
  'source_sessions',
  'source_usage',
  'check_leases',
  'scan_costs',
]

/** Sources, the tables found in them, runs of asynchronous work, schema changes, tags, and what readings of a source cost. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table sources (
      id uuid primary key,
      internal_id bigint generated always as identity unique,
      company_id uuid not null references companies on delete cascade,
      name text not null,
      source_type text not null,
      description text,
      config jsonb not null,
      secrets text,
      is_active boolean not null default true,
      is_demo boolean not null default false,
      query_access_level text not null default 'full'
        check (query_access_level in ('schema_only', 'aggregates', 'full')),
      max_concurrency integer not null default 2 check (max_concurrency between 1 and 20),
      statement_timeout_seconds integer check (statement_timeout_seconds between 1 and 3600),
      include_patterns text[] not null default '{}',
      exclude_patterns text[] not null default '{}',
      -- The patterns of the last discovery: what came into scope since is no addition, what left it no removal.
      read_patterns jsonb,
      tags text[] not null default '{}',
      auto_tag_enabled boolean not null default false,
      -- What is tagged in the source, {tables, columns, by_tag}; null when nothing is.
      tag_counts jsonb,
      -- What schedules made later have where they name nothing else:
      -- {monitoring_mode, sla_threshold, check_interval, freshness_columns}.
      freshness_defaults jsonb,
      discovery_interval text not null default 'off',
      next_run_at timestamptz,
      running_slot timestamptz,
      connection_status text not null default 'untested',
      connection_error jsonb,
      -- Whether the last connection test spoke TLS; null before one.
      is_encrypted boolean,
      tested_at timestamptz,
      discovery_state text not null default 'never',
      last_discovery_at timestamptz,
      failed_discoveries integer not null default 0,
      retry_at timestamptz,
      -- Counted by the last discovery; counting 100,000 tables at each read would take seconds.
      table_count integer not null default 0,
      column_count integer not null default 0,
      schema_count integer not null default 0,
      catalog_count integer not null default 0,
      unread_count integer not null default 0,
      -- Connections in a row that failed, and since when.
      connection_failures integer not null default 0,
      failing_since timestamptz,
      -- Before this, nothing that is scheduled dials; null while there is no such pause.
      dial_after timestamptz,
      pause_seconds integer not null default 0,
      -- Until when the one try after a pause may take; the others wait for what it finds.
      trial_until timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (company_id, name)
    );
    create index sources_list on sources (company_id, created_at desc, id desc);
    create index sources_due on sources (next_run_at) where is_active and next_run_at is not null;
    create index sources_retry on sources (retry_at) where is_active and retry_at is not null;
    create index sources_left_alone on sources (source_type) where dial_after is not null;
    create unique index sources_one_demo on sources (company_id) where is_demo;

    -- Columns and constraints live in their table's row: discovery reads and writes a table as a whole.
    create table tables (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      catalog_name text not null,
      schema_name text not null,
      name text not null,
      lower_name text generated always as (lower(name)) stored,
      qualified_name text not null,
      kind text not null,
      identity text,
      comment text,
      description text,
      columns jsonb not null,
      column_count integer not null default 0,
      constraints jsonb not null,
      fingerprint text not null,
      -- What was accepted, while it differs from what is there: a definition, or {"absent": true}.
      baseline jsonb,
      tags text[] not null default '{}',
      column_tags jsonb not null default '{}',
      -- Columns of a view that show what is tagged as personal data in the tables below it, derived from tags and from the
      -- lineage of views. By column: 'column' where a column is tagged whose values it shows, 'table' where only a whole
      -- table is.
      personal_from_upstream jsonb not null default '{}',
      estimated_rows bigint,
      is_active boolean not null default true,
      -- Why an inactive table is one: it was not found, or the patterns no longer name it.
      absence text check (absence in ('removed', 'excluded')),
      -- Why the last discovery could not read it, {code, message}; what was known of it stays.
      read_error jsonb,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (source_id, catalog_name, schema_name, name)
      -- Only vacuumed pages spare index scans the look at their rows: after 2 % of changes, not 20.
    ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
      autovacuum_analyze_scale_factor = 0.02);
    -- All that a list asks of a table, so that the wide rows stay unread.
    create index tables_list on tables (company_id, created_at desc, id desc)
      include (source_id, kind, schema_name, lower_name) where is_active;
    -- What counts are read from: few different entries, which take little room.
    create index tables_count on tables (company_id, source_id, kind, schema_name) where is_active;
    create index tables_gone on tables (company_id, source_id, id) where not is_active;
    create index tables_qualified on tables (company_id, qualified_name);
    -- What a search in all names is counted from: a third of the pages of the index that gives the list its order.
    create index tables_names on tables (company_id, lower_name) where is_active;
    -- Pipelines spell names as they like.
    create index tables_folded on tables (source_id, lower(name));

    -- Asynchronous work that a client asked for, as the client sees it.
    create table runs (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      workflow_name text not null,
      source_id uuid not null references sources on delete cascade,
      asset_id uuid not null,
      status text not null default 'pending'
        check (status in ('pending', 'running', 'completed', 'failed', 'cancelled')),
      progress integer not null default 0,
      result jsonb,
      error jsonb,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      completed_at timestamptz
    );
    create index runs_source on runs (company_id, source_id, created_at desc);
    create index runs_age on runs (created_at);
    create unique index runs_one_discovery on runs (source_id)
      where workflow_name = 'discovery' and status in ('pending', 'running');

    create table schema_changes (
      id uuid not null,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      table_id uuid not null references tables on delete cascade,
      table_path text not null,
      change_type text not null,
      object_name text not null,
      object_type text not null,
      old_value jsonb,
      new_value jsonb,
      impact text not null,
      discovery_id uuid not null,
      is_acknowledged boolean not null default false,
      acknowledged_at timestamptz,
      -- A user or key, or 'reverted': the change was taken back.
      acknowledged_by text,
      detected_at timestamptz not null default now(),
      primary key (id, detected_at)
    ) partition by range (detected_at);
    create index schema_changes_source on schema_changes (company_id, source_id, detected_at desc, id desc)
      include (change_type);
    -- Without the company first, as foreign keys ask: a removed source asks once for each of its tables.
    create index schema_changes_table on schema_changes (table_id, company_id, detected_at desc, id desc);
    create index schema_changes_open on schema_changes (company_id, source_id, table_id) include (impact)
      where not is_acknowledged;

    -- Each acceptance of a source or of one of its tables as the new baseline.
    create table schema_baselines (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      table_id uuid references tables on delete cascade,
      description text,
      table_count integer not null,
      column_count integer not null,
      captured_by text not null,
      captured_at timestamptz not null default now()
    );
    create index schema_baselines_source on schema_baselines (company_id, source_id, captured_at desc);
    create index schema_baselines_table on schema_baselines (table_id) where table_id is not null;

    -- tables.tags, tables.column_tags and sources.tags hold the names that are in force, derived from these rows.
    create table tags (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      table_id uuid references tables on delete cascade,
      column_name text,
      name text not null,
      category text not null default 'business' check (category in ('business', 'technical', 'governance')),
      description text,
      origin text not null check (origin in ('manual', 'automatic')),
      -- An automatic tag that a user removed; discoveries must not add it again.
      is_refused boolean not null default false,
      created_at timestamptz not null default now()
    );
    create unique index tags_once on tags
      (source_id, coalesce(table_id, '00000000-0000-0000-0000-000000000000'), coalesce(column_name, ''), name);
    create index tags_name on tags (company_id, name, table_id) where not is_refused;
    create index tags_table on tags (table_id);
    create index tags_source on tags (company_id, source_id, table_id, column_name) include (name)
      where not is_refused;

    -- One row a session that is open at a source; a holder that died leaves its row until it expires.
    create table source_sessions (
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      place integer not null,
      holder uuid not null,
      expires_at timestamptz not null,
      primary key (source_id, place)
    );

    -- What was read from a source, by day and purpose.
    create table source_usage (
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- In UTC.
      day date not null,
      purpose text not null,
      sessions bigint not null,
      statements bigint not null,
      failures bigint not null,
      rows bigint not null,
      bytes bigint not null,
      milliseconds bigint not null,
      primary key (source_id, day, purpose)
    );
    create index source_usage_day on source_usage (day);

    -- A row per table that a manual check still has to scan; a process that died leaves its rows until they expire.
    create table check_leases (
      company_id uuid not null references companies on delete cascade,
      table_id uuid not null references tables on delete cascade,
      holder uuid not null,
      expires_at timestamptz not null,
      primary key (table_id, holder)
    );
    create index check_leases_holder on check_leases (company_id, holder);

    -- What the scans of each table used of its source: the last one, and those of each day added up.
    create table scan_costs (
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- A table is only removed with its source.
      table_id uuid not null,
      -- In UTC.
      day date not null,
      scans bigint not null,
      statements bigint not null,
      rows bigint not null,
      bytes bigint not null,
      milliseconds bigint not null,
      last_at timestamptz not null,
      last_checks integer not null,
      last_statements bigint not null,
      last_rows bigint not null,
      last_bytes bigint not null,
      last_milliseconds bigint not null,
      primary key (table_id, day)
      -- A day's row is updated by each scan: room on its page keeps the indexes as they are.
    ) with (fillfactor = 80);
    create index scan_costs_source on scan_costs (source_id, day);
    create index scan_costs_day on scan_costs (day);
  `)
  await isolate(knex, ...COMPANY_TABLES)
  await partition(knex, {
    table: 'schema_changes',
    by: 'detected_at',
    storage: `with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
      autovacuum_analyze_scale_factor = 0.02)`,
  })
  await createSearch(knex)
}

export async function down(knex: Knex): Promise<void> {
  await dropSearch(knex)
  await drop(knex, ...COMPANY_TABLES)
  await knex.raw('drop schema partitions')
}
