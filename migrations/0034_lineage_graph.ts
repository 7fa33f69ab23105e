import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** The lineage graph: things outside the catalog, who reports each edge, and the columns of edges. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
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

    alter table lineage_edges
      -- The source of the downstream table, else of the upstream one; null between two ends outside the catalog.
      alter column source_id drop not null,
      -- False while foreign keys alone report it: a foreign key moves no data.
      add column is_flow boolean not null default true,
      add column last_seen_at timestamptz not null default now();

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
      -- Of the definition, and of the columns of the tables that it names.
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
      -- Of the fingerprints of all tables.
      tables_hash text not null
    );

    insert into lineage_edge_origins (company_id, upstream_id, downstream_id, origin, detail, source_id, first_seen_at)
    select company_id, upstream_id, downstream_id, case when is_demo then 'demo' else 'manual' end, '', source_id,
           created_at
      from lineage_edges;
  `)
  await isolate(
    knex,
    'lineage_nodes',
    'lineage_edge_origins',
    'lineage_column_edges',
    'lineage_views',
    'lineage_sources',
  )
}

export async function down(knex: Knex): Promise<void> {
  await drop(
    knex,
    'lineage_nodes',
    'lineage_edge_origins',
    'lineage_column_edges',
    'lineage_views',
    'lineage_sources',
  )
  await knex.raw(`
    delete from lineage_edges where source_id is null or not is_flow;
    alter table lineage_edges
      alter column source_id set not null,
      drop column is_flow,
      drop column last_seen_at;
  `)
}
