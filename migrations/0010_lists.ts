import type { Knex } from 'knex'

/**
 * Indexes of lists. Under row-level security PostgreSQL uses no index for LIKE, because the operator might leak hidden
 * rows: a plain query of the application role reads a covering index completely. The function `rare_tables` filters by
 * company itself and therefore can use the trigram index.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What of a source is tagged, {tables, columns, by_tag}; null when nothing is.
    alter table sources add column tag_counts jsonb;
    alter table tables add column lower_name text generated always as (lower(name)) stored;
    drop index tables_list;
    -- All that a list asks of a table, so that the wide rows stay unread.
    create index tables_list on tables (company_id, created_at desc, id desc)
      include (source_id, kind, schema_name, lower_name) where is_active;
    -- What counts are read from: few different entries, which take little room.
    create index tables_count on tables (company_id, source_id, kind, schema_name) where is_active;
    create index tables_gone on tables (company_id, source_id, id) where not is_active;
    -- Only vacuumed pages spare the look at their rows: after 2 % of changes, not 20.
    alter table tables set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
      autovacuum_analyze_scale_factor = 0.02);
    alter table schema_changes set (autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

    drop index schema_changes_open;
    create index schema_changes_open on schema_changes (company_id, source_id, table_id) include (impact)
      where not is_acknowledged;
    drop index schema_changes_source;
    create index schema_changes_source on schema_changes (company_id, source_id, detected_at desc, id desc)
      include (change_type);
    create index tags_source on tags (company_id, source_id, table_id, column_name) include (name)
      where not is_refused;

    -- Not every server has the extensions, or lets the owner create them; then a search reads the covering index.
    do $$ declare home text; begin
      create extension if not exists pg_trgm;
      create extension if not exists btree_gin;
      select quote_ident(nspname) into home from pg_extension e join pg_namespace n on n.oid = e.extnamespace
        where extname = 'pg_trgm';
      -- Names that wait to be filed are read one by one by each search, hence few.
      execute format('create index tables_search on tables using gin (company_id, lower_name %s.gin_trgm_ops)
        with (gin_pending_list_limit = 256) where is_active', home);
    -- Also of extensions that are old, or in a schema that the owner may not use.
    exception when others then
      raise notice 'no index for searches (%): they will read the names of all tables of a company', sqlerrm;
    end $$;

    -- The ids of the caller's tables whose names contain a term; null if there are too many, or too few trigrams.
    create function rare_tables(term text, most integer) returns uuid[]
      language plpgsql stable security definer
      set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
    declare
      caller uuid := nullif(current_setting('app.company', true), '')::uuid;
      pattern text := '%' || regexp_replace(lower(term), '([\\\\%_])', '\\\\\\1', 'g') || '%';
      found uuid[];
    begin
      if to_regclass('public.tables_search') is null or term !~ '[[:alnum:]]{3}' then
        return null;
      end if;
      -- Under a policy the planner may not look at statistics of names: some of them are.
      if (select count(*) from (select lower_name from tables where company_id = caller and is_active
            order by created_at desc, id desc limit 1000) newest where lower_name like pattern) > 20 then
        return null;
      end if;
      found := array(select id from tables where company_id = caller and is_active and lower_name like pattern
        limit most + 1);
      return case when cardinality(found) <= most then found end;
    end $$;
    revoke execute on function rare_tables from public;
  `)
}

/** Keeps the extensions, because other objects may use them. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function rare_tables;
    alter table sources drop column tag_counts;
    drop index if exists tables_search;
    drop index tags_source;
    drop index schema_changes_source;
    create index schema_changes_source on schema_changes (company_id, source_id, detected_at desc, id desc);
    drop index schema_changes_open;
    create index schema_changes_open on schema_changes (company_id, source_id, table_id) where not is_acknowledged;
    alter table schema_changes reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_insert_scale_factor,
      autovacuum_analyze_scale_factor);
    alter table tables reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_insert_scale_factor,
      autovacuum_analyze_scale_factor);
    drop index tables_gone;
    drop index tables_count;
    drop index tables_list;
    create index tables_list on tables (company_id, created_at desc, id desc);
    alter table tables drop column lower_name;
  `)
}
