import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Patterns of sources, accepted baselines, and tags. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table sources
      add column include_patterns text[] not null default '{}',
      add column exclude_patterns text[] not null default '{}',
      -- The patterns of the last discovery: what came into scope since is no addition, what left it no removal.
      add column read_patterns jsonb,
      add column failed_discoveries integer not null default 0,
      add column retry_at timestamptz,
      -- Of the last discovery; counting 100,000 tables at each read would take seconds.
      add column table_count integer not null default 0,
      add column column_count integer not null default 0,
      add column schema_count integer not null default 0,
      add column catalog_count integer not null default 0,
      add column unread_count integer not null default 0,
      add column tags text[] not null default '{}',
      add column auto_tag_enabled boolean not null default false,
      -- Whether the last connection test spoke TLS; null before one.
      add column is_encrypted boolean;
    create index sources_retry on sources (retry_at) where is_active and retry_at is not null;

    alter table tables
      add column column_count integer not null default 0,
      -- What was accepted, while it differs from what is there: a definition, or {"absent": true}.
      add column baseline jsonb,
      -- Why an inactive table is one: it was not found, or the patterns no longer name it.
      add column absence text check (absence in ('removed', 'excluded')),
      -- Why the last discovery could not read it, {code, message}; what was known of it stays.
      add column read_error jsonb;
    update tables set column_count = jsonb_array_length(columns),
      absence = case when not is_active then 'removed' end;
    update sources s set table_count = c.tables, column_count = c.columns, schema_count = c.schemas,
        catalog_count = c.catalogs
      from (select source_id, count(*) as tables, sum(column_count) as columns,
              count(distinct (catalog_name, schema_name)) as schemas, count(distinct catalog_name) as catalogs
            from tables where is_active group by source_id) c
      where c.source_id = s.id;

    alter table schema_changes
      add column acknowledged_at timestamptz,
      -- A user or key, or 'reverted': the change was taken back.
      add column acknowledged_by text;
    create index schema_changes_open on schema_changes (company_id, source_id, table_id) where not is_acknowledged;
    create index schema_changes_age on schema_changes (detected_at);

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
  `)
  await isolate(knex, 'schema_baselines', 'tags')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'schema_baselines', 'tags')
  await knex.raw(`
    drop index schema_changes_age;
    drop index schema_changes_open;
    alter table schema_changes drop column acknowledged_at, drop column acknowledged_by;
    alter table tables drop column column_count, drop column baseline, drop column absence, drop column read_error;
    alter table sources drop column include_patterns, drop column exclude_patterns, drop column read_patterns,
      drop column failed_discoveries, drop column retry_at, drop column table_count, drop column column_count,
      drop column schema_count, drop column catalog_count, drop column unread_count, drop column tags,
      drop column auto_tag_enabled, drop column is_encrypted;
  `)
}
