import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** What pipelines report: runs, owners and tests, and the rules that map their namespaces to sources. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table lineage_namespaces (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      -- A namespace, in which * stands for any text.
      namespace text not null,
      source_id uuid not null references sources on delete cascade,
      -- Written in front of the names of datasets: shop.public.
      name_prefix text,
      created_at timestamptz not null default now(),
      unique (company_id, namespace)
    );
    create index lineage_namespaces_source on lineage_namespaces (source_id);

    create table lineage_runs (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      job_namespace text not null,
      job_name text not null,
      -- As the producer knows it.
      run_id uuid not null,
      state text not null check (state in ('running', 'completed', 'failed', 'aborted')),
      started_at timestamptz,
      ended_at timestamptz,
      nominal_start_at timestamptz,
      nominal_end_at timestamptz,
      error_message text,
      -- The namespace, name and run id of the job that started it.
      parent jsonb,
      producer text,
      last_event_at timestamptz not null,
      created_at timestamptz not null default now(),
      unique (company_id, job_namespace, job_name, run_id)
    );
    create index lineage_runs_age on lineage_runs (last_event_at);

    -- What a run read and wrote: tables, and nodes outside the catalog.
    create table lineage_run_ends (
      company_id uuid not null references companies on delete cascade,
      lineage_run_id uuid not null references lineage_runs on delete cascade,
      direction text not null check (direction in ('input', 'output')),
      end_id uuid not null,
      primary key (lineage_run_id, direction, end_id)
    );
    create index lineage_run_ends_end on lineage_run_ends (company_id, end_id, direction);

    -- The last result of each test that another tool runs.
    create table external_checks (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      project text not null,
      unique_id text not null,
      name text not null,
      test_type text,
      -- Null where the catalog has no such table.
      table_id uuid references tables on delete cascade,
      -- The table as the tool names it; null for a test that reads none.
      table_path text,
      column_name text,
      severity text not null check (severity in ('error', 'warn')),
      -- Null before the first result.
      status text check (status in ('pass', 'warn', 'fail', 'error')),
      failures bigint,
      message text,
      run_at timestamptz,
      -- Since when it has this status.
      since timestamptz,
      created_at timestamptz not null default now(),
      unique (company_id, source_id, project, unique_id)
    );
    create index external_checks_source on external_checks (source_id);
    create index external_checks_table on external_checks (table_id);

    -- Pipelines spell names as they like.
    create index tables_folded on tables (source_id, lower(name));
  `)
  await isolate(knex, 'lineage_namespaces', 'lineage_runs', 'lineage_run_ends', 'external_checks')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index if exists tables_folded')
  await drop(knex, 'lineage_namespaces', 'lineage_runs', 'lineage_run_ends', 'external_checks')
}
