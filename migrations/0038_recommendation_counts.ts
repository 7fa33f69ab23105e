import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Tables whose rows are checks: a recommendation is applied where there is one. */
const CHECKS = ['validity_rules', 'metrics', 'referential_checks', 'freshness_schedules']

/**
 * Counts the recommendations of each table, so that a page of a source computes its own tables alone, and keeps what a
 * policy has seen of each table. A table is counted again after a change. Changes are rows of their own: one that commits
 * while its table is being counted stays, and no writer waits for another.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
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

    -- The job that a client follows while a new policy is applied for the first time, and what that created up to now.
    alter table watch_policies add column run_id uuid, add column outcome jsonb;

    drop index profiles_source;
    create index profiles_source on profiles (source_id, profiled_at);

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

    -- Of rows that name their table, unless they are removed with their source.
    create function note_changed_evidence() returns trigger language plpgsql as $$
    begin
      insert into recommendation_changes (company_id, source_id, table_id, is_of_key)
        select distinct c.company_id, c.source_id, c.table_id, tg_argv[0] = 'key' from changed c
        join sources s on s.company_id = c.company_id and s.id = c.source_id;
      return null;
    end $$;
    create trigger profiles_recommend after insert on profiles referencing new table as changed
      for each statement execute function note_changed_evidence('key');
    create trigger recommendations_added after insert on recommendations referencing new table as changed
      for each statement execute function note_changed_evidence('');
    create trigger recommendations_changed after update on recommendations referencing new table as changed
      for each statement execute function note_changed_evidence('');

    insert into recommendation_changes (company_id, source_id, table_id, is_of_key)
      select company_id, source_id, id, false from tables where is_active;
  `)
  for (const table of CHECKS)
    await knex.raw(`
      create trigger ${table}_added_recommend after insert on ${table} referencing new table as changed
        for each statement execute function note_changed_evidence('');
      create trigger ${table}_removed_recommend after delete on ${table} referencing old table as changed
        for each statement execute function note_changed_evidence('');
    `)
  await isolate(knex, 'recommendation_counts', 'recommendation_changes', 'watched_tables')
  // The version before fires the triggers already, and roles get their rights after all migrations.
  await knex.raw(`
    do $$ declare role text; begin
      for role in select distinct grantee from information_schema.role_table_grants
        where table_schema = 'public' and table_name = 'tables' and privilege_type = 'INSERT' and grantee <> current_user
      loop execute format('grant insert on recommendation_changes to %I', role); end loop;
    end $$`)
}

export async function down(knex: Knex): Promise<void> {
  for (const table of CHECKS)
    await knex.raw(
      `drop trigger ${table}_added_recommend on ${table}; drop trigger ${table}_removed_recommend on ${table}`,
    )
  await knex.raw(`
    drop trigger recommendations_changed on recommendations;
    drop trigger recommendations_added on recommendations;
    drop trigger profiles_recommend on profiles;
    drop trigger sources_changed_recommend on sources;
    drop trigger tables_changed_recommend on tables;
    drop trigger tables_added_recommend on tables;
    drop function note_changed_evidence, note_changed_source, note_changed_table;
    drop index profiles_source;
    create index profiles_source on profiles (source_id);
    alter table watch_policies drop column run_id, drop column outcome;
  `)
  await drop(knex, 'recommendation_counts', 'recommendation_changes', 'watched_tables')
}
