import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Sources, the tables found in them, runs of asynchronous work, and schema changes. */
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
      discovery_interval text not null default 'off',
      next_run_at timestamptz,
      running_slot timestamptz,
      connection_status text not null default 'untested',
      connection_error jsonb,
      tested_at timestamptz,
      discovery_state text not null default 'never',
      last_discovery_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (company_id, name)
    );
    create index sources_list on sources (company_id, created_at desc, id desc);
    create index sources_due on sources (next_run_at) where is_active and next_run_at is not null;

    -- Columns and constraints live in their table's row: discovery reads and writes a table as a whole.
    create table tables (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      catalog_name text not null,
      schema_name text not null,
      name text not null,
      qualified_name text not null,
      kind text not null,
      identity text,
      comment text,
      description text,
      columns jsonb not null,
      constraints jsonb not null,
      fingerprint text not null,
      tags text[] not null default '{}',
      column_tags jsonb not null default '{}',
      estimated_rows bigint,
      is_active boolean not null default true,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (source_id, catalog_name, schema_name, name)
    );
    create index tables_list on tables (company_id, created_at desc, id desc);
    create index tables_qualified on tables (company_id, qualified_name);

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
    create unique index runs_one_discovery on runs (source_id)
      where workflow_name = 'discovery' and status in ('pending', 'running');

    create table schema_changes (
      id uuid primary key,
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
      is_acknowledged boolean not null default false,
      discovery_id uuid not null,
      detected_at timestamptz not null default now()
    );
    create index schema_changes_source on schema_changes (company_id, source_id, detected_at desc, id desc);
    create index schema_changes_table on schema_changes (company_id, table_id, detected_at desc, id desc);
  `)
  await isolate(knex, 'sources', 'tables', 'runs', 'schema_changes')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'sources', 'tables', 'runs', 'schema_changes')
}
