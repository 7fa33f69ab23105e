import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** The lineage graph with its columns, who reports it, and what pipelines report: runs and tests. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Things outside the catalog.
    create table lineage_nodes (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      kind text not null
        check (kind in ('dataset', 'dashboard', 'notebook', 'ml', 'analysis', 'application')),
      namespace text not null,
      name text not null,
      qualified_name text not null,
      url text,
      description text,
      -- Objects of name and email.
      owners jsonb not null default '[]',
      details jsonb not null default '{}',
      first_seen_at timestamptz not null default now(),
      last_seen_at timestamptz not null default now(),
      unique (company_id, namespace, name)
    );

    create table lineage_edges (
      company_id uuid not null references companies on delete cascade,
      -- The source of the downstream table, else of the upstream one; null between two ends outside the catalog.
      source_id uuid references sources on delete cascade,
      -- The second is made from the first.
      upstream_id uuid not null,
      downstream_id uuid not null,
      -- False while foreign keys alone report it: a foreign key moves no data.
      is_flow boolean not null default true,
      is_demo boolean not null default false,
      created_at timestamptz not null default now(),
      last_seen_at timestamptz not null default now(),
      primary key (company_id, upstream_id, downstream_id)
    );
    create index lineage_edges_source on lineage_edges (source_id);
    -- With both ends: each row that refers to an edge looks it up by them. While PostgreSQL has no statistics of the table,
    -- it may choose this index for that, and with one end would look at all edges that lead to it.
    create index lineage_edges_downstream on lineage_edges (company_id, downstream_id, upstream_id);

    create table lineage_edge_origins (
      company_id uuid not null references companies on delete cascade,
      upstream_id uuid not null,
      downstream_id uuid not null,
      origin text not null
        check (origin in ('view', 'foreign_key', 'dbt', 'openlineage', 'manual', 'demo')),
      -- The view, the constraint, the dbt model, the job as namespace.name.
      detail text not null,
      -- The source whose reading reported it, for origins that read a source.
      source_id uuid references sources on delete cascade,
      -- Whether lineage_column_edges has all columns of the edge, of which there may be none.
      has_columns boolean not null default false,
      -- How sure the origin is: 1 where the engine or a parser says so, less where names were guessed.
      confidence real not null default 1 check (confidence between 0 and 1),
      first_seen_at timestamptz not null default now(),
      last_seen_at timestamptz not null default now(),
      primary key (company_id, upstream_id, downstream_id, origin, detail),
      foreign key (company_id, upstream_id, downstream_id) references lineage_edges on delete cascade
    );
    create index lineage_edge_origins_source on lineage_edge_origins (source_id);
    -- Partial: by an index on company and origin, foreign keys would be checked against all rows of an origin as long as
    -- the table has no statistics.
    create index lineage_edge_origins_manual on lineage_edge_origins (company_id) where origin = 'manual';
    create index lineage_edge_origins_fading on lineage_edge_origins (last_seen_at) where origin = 'openlineage';

    create table lineage_column_edges (
      company_id uuid not null references companies on delete cascade,
      upstream_id uuid not null,
      downstream_id uuid not null,
      origin text not null,
      detail text not null,
      upstream_column text not null,
      -- '*' where the column decides which rows there are: a filter, a join, a grouping.
      downstream_column text not null,
      kind text not null check (kind in ('direct', 'indirect')),
      last_seen_at timestamptz not null default now(),
      primary key (company_id, upstream_id, downstream_id, origin, detail, upstream_column, downstream_column, kind),
      foreign key (company_id, upstream_id, downstream_id, origin, detail)
        references lineage_edge_origins on delete cascade
    );

    -- What the definitions of views were parsed to, so that one that did not change is not parsed again.
    create table lineage_views (
      table_id uuid primary key references tables on delete cascade,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- Hash of the definition, and of the columns of the tables that it names.
      hash text not null,
      -- The names of tables in the definition, as objects of catalog, schema and name.
      names jsonb not null,
      parsed_at timestamptz not null default now()
    );
    create index lineage_views_source on lineage_views (source_id);

    -- What the foreign keys of a source were read from.
    create table lineage_sources (
      source_id uuid primary key references sources on delete cascade,
      company_id uuid not null references companies on delete cascade,
      -- Hash of the fingerprints of all tables.
      tables_hash text not null
    );
  `)
  await isolate(
    knex,
    'lineage_nodes',
    'lineage_edges',
    'lineage_edge_origins',
    'lineage_column_edges',
    'lineage_views',
    'lineage_sources',
  )
  await knex.raw(PIPELINES)
  await isolate(
    knex,
    'lineage_namespaces',
    'lineage_runs',
    'lineage_run_ends',
    'external_checks',
    'lineage_aliases',
  )
}

const PIPELINES = `
    -- Rules that map the namespaces of pipelines to sources.
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

    -- Other names of datasets, which pipelines declare in one event and use in another.
    create table lineage_aliases (
      company_id uuid not null references companies on delete cascade,
      -- A hash of the namespace and the name: they are too long for an index.
      alias_key uuid not null,
      namespace text not null,
      name text not null,
      -- The dataset that has this name too; it is no alias itself.
      dataset_key uuid not null,
      dataset_namespace text not null,
      dataset_name text not null,
      declared_at timestamptz not null default now(),
      -- When an event last used one of the names, to the day.
      last_seen_at timestamptz not null default now(),
      primary key (company_id, alias_key)
    );
    create index lineage_aliases_dataset on lineage_aliases (company_id, dataset_key, alias_key);
    create index lineage_aliases_age on lineage_aliases (last_seen_at);
  `

export async function down(knex: Knex): Promise<void> {
  await drop(
    knex,
    'lineage_nodes',
    'lineage_edges',
    'lineage_edge_origins',
    'lineage_column_edges',
    'lineage_views',
    'lineage_sources',
    'lineage_namespaces',
    'lineage_runs',
    'lineage_run_ends',
    'external_checks',
    'lineage_aliases',
  )
}
