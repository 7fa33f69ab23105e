import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

const COMPANY_TABLES = [
  'profiles',
  'recommendations',
  'recommendation_counts',
  'recommendation_changes',
  'watch_policies',
  'watched_tables',
]

/** Profiles of tables, the checks that are recommended for them, and which sources are watched with all their tables. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What was found in the columns of a table, each time that it was profiled.
    create table profiles (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- A table is only removed with its source.
      table_id uuid not null,
      profiled_at timestamptz not null default now(),
      -- All rows of the table: counted, or estimated by the engine.
      row_count bigint not null,
      is_row_count_exact boolean not null,
      -- The rows that were read; fewer than all of them in a sample.
      profiled_rows bigint not null,
      is_sampled boolean not null,
      statements integer not null,
      milliseconds integer not null,
      columns jsonb not null
    );
    create index profiles_table on profiles (table_id, profiled_at desc, id desc);
    create index profiles_source on profiles (source_id, profiled_at);
    create index profiles_age on profiles (profiled_at);

    -- What people decided on recommended checks.
    create table recommendations (
      -- The table, and a hash of what the check is: it is the same for the same check, whatever the evidence.
      id text primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- A table is only removed with its source.
      table_id uuid not null,
      type text not null,
      column_name text,
      -- Null until it is decided.
      decision text check (decision in ('applied', 'dismissed')),
      reason text,
      -- user:<id>, key:<id>, or policy.
      decided_by text,
      decided_at timestamptz,
      -- What the check would have said in the past, as it was last computed.
      past jsonb,
      past_at timestamptz
    );
    create index recommendations_table on recommendations (table_id);
    create index recommendations_source on recommendations (source_id);

    -- The recommendations of each table, counted, so that a page of a source computes its own tables alone.
    create table recommendation_counts (
      table_id uuid primary key references tables on delete cascade,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- As the list is ordered.
      qualified_name text not null,
      offered integer not null,
      applied integer not null,
      dismissed integer not null,
      removed integer not null,
      noisy integer not null,
      -- The same by type and confidence, for filters: [{"type", "confidence", "status", "count"}].
      details jsonb not null,
      -- What its columns refer to, as the names of keys say it, and what such a key of this table would be called after.
      things text[] not null,
      thing text not null
    );
    create index recommendation_counts_list on recommendation_counts (source_id, qualified_name, table_id);
    create index recommendation_counts_thing on recommendation_counts (source_id, thing);

    -- Tables that are to be counted again. Changes are rows of their own: one that commits while its table is being counted
    -- stays, and no writer waits for another.
    create table recommendation_changes (
      id bigint generated always as identity primary key,
      -- It goes with its source: removing a company may note changes once more after its other rows.
      company_id uuid not null,
      source_id uuid not null references sources on delete cascade,
      -- A table is only removed with its source.
      table_id uuid not null,
      -- Whether the recommendations of tables that may refer to it follow from it.
      is_of_key boolean not null
    );
    create index recommendation_changes_table on recommendation_changes (source_id, table_id, id);

    create table watch_policies (
      source_id uuid primary key references sources on delete cascade,
      company_id uuid not null references companies on delete cascade,
      level text not null check (level in ('light', 'standard', 'deep')),
      include_patterns text[] not null,
      exclude_patterns text[] not null,
      -- The time up to which what was discovered and profiled is watched; null until it was applied.
      applied_at timestamptz,
      -- When a job was sent to apply it, until one begins.
      requested_at timestamptz,
      -- The job that a client follows while a new policy is applied for the first time, and what that created up to now.
      run_id uuid,
      outcome jsonb,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index watch_policies_company on watch_policies (company_id);

    -- What a policy has seen of each table.
    create table watched_tables (
      table_id uuid primary key references tables on delete cascade,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- The policy, the table and its profile as they were when the policy was last applied to the table.
      policy_at timestamptz not null,
      table_at timestamptz not null,
      profile_id uuid
    );
    create index watched_tables_source on watched_tables (source_id);
  `)
  await isolate(knex, ...COMPANY_TABLES)
  await knex.raw(CHANGES)
}

/** Triggers that note what recommendations follow from. */
const CHANGES = `
    create function note_changed_table() returns trigger language plpgsql as $$
    begin
      insert into recommendation_changes (company_id, source_id, table_id, is_of_key)
        values (new.company_id, new.source_id, new.id, true);
      return null;
    end $$;
    create trigger tables_added_recommend after insert on tables for each row execute function note_changed_table();
    create trigger tables_changed_recommend after update of columns, constraints, column_tags, tags, is_active, name,
        schema_name, qualified_name, kind on tables for each row
      when ((old.columns, old.constraints, old.column_tags, old.tags, old.is_active, old.qualified_name, old.kind)
        is distinct from (new.columns, new.constraints, new.column_tags, new.tags, new.is_active, new.qualified_name, new.kind))
      execute function note_changed_table();

    create function note_changed_source() returns trigger language plpgsql as $$
    begin
      insert into recommendation_changes (company_id, source_id, table_id, is_of_key)
        select company_id, source_id, id, false from tables
        where company_id = new.company_id and source_id = new.id and is_active;
      return null;
    end $$;
    create trigger sources_changed_recommend after update of query_access_level, tags, freshness_defaults on sources
      for each row
      when ((old.query_access_level, old.tags, old.freshness_defaults)
        is distinct from (new.query_access_level, new.tags, new.freshness_defaults))
      execute function note_changed_source();

    -- For rows that name their table, unless they are removed with their source.
    create function note_changed_evidence() returns trigger language plpgsql as $$
    begin
      insert into recommendation_changes (company_id, source_id, table_id, is_of_key)
        select distinct c.company_id, c.source_id, c.table_id, tg_argv[0] = 'key' from changed c
        join sources s on s.company_id = c.company_id and s.id = c.source_id;
      return null;
    end $$;
    create trigger profiles_recommend after insert on profiles referencing new table as changed
      for each statement execute function note_changed_evidence('key');
    -- A recommendation is applied where there is such a check.
    create trigger checks_added_recommend after insert on checks referencing new table as changed
      for each statement execute function note_changed_evidence('');
    create trigger checks_removed_recommend after delete on checks referencing old table as changed
      for each statement execute function note_changed_evidence('');
    create trigger recommendations_added after insert on recommendations referencing new table as changed
      for each statement execute function note_changed_evidence('');
    create trigger recommendations_changed after update on recommendations referencing new table as changed
      for each statement execute function note_changed_evidence('');
  `

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop function note_changed_evidence, note_changed_source, note_changed_table cascade')
  await drop(knex, ...COMPANY_TABLES)
}
