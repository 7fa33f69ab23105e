import type { Knex } from 'knex'

/**
 * Creates what finds tables by a part of their names, and by the names of their columns. Under row-level security
 * PostgreSQL uses no index for LIKE and @@, because the operator might leak hidden rows: a plain query of the application
 * role reads a covering index completely. The functions filter by company themselves and therefore can use the indexes.
 */
export async function createSearch(knex: Knex): Promise<void> {
  await knex.raw(`
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

    -- What finds the columns of a table: their names behind =, and behind ~ what follows each of the first underscores,
    -- so that email finds customer_email by its beginning. The company in front keeps companies apart in the index. A
    -- tsvector holds 1 MB, hence 3,000 entries of 63 characters at most, whole names first.
    create function column_lexemes(company uuid, columns jsonb) returns tsvector
      language sql immutable parallel safe cost 10000 as $$
      select array_to_tsvector(array(
        select distinct entry from (
          select concat(cast(company as text), case n when 1 then '=' else '~' end,
            left(array_to_string(words[n:], '_'), 63)) as entry
          from (select string_to_array(left(lower(c ->> 'name'), 200), '_') as words
            from jsonb_array_elements(columns) c limit 3000) named
          cross join lateral generate_series(1, least(cardinality(words), 8)) n
          order by n limit 3000) entries))
    $$;
    create index tables_columns on tables using gin (column_lexemes(company_id, columns))
      with (gin_pending_list_limit = 256) where is_active;

    -- The ids of the caller's tables with columns that a term names: equal to it first, then those that begin with it,
    -- then those with a word that does. Under row-level security PostgreSQL would use no index for @@. A name that many
    -- tables have is found in the newest ones: the index would list all tables that have it.
    create function tables_with_columns(term text, most integer) returns uuid[]
      language plpgsql stable security definer
      set search_path = public, pg_temp set enable_seqscan = off set enable_indexscan = on
      set plan_cache_mode = force_custom_plan as $$
    declare
      caller uuid := nullif(current_setting('app.company', true), '')::uuid;
      given text := lower(term);
      word text := replace(replace(left(lower(term), 63), '\\', '\\\\'), '''', '''''');
      forms text[] := array['''%s=%s''', '''%s=%s'':*', '''%s~%s'':*'];
      newest uuid[];
      ranks integer[];
      found uuid[] := '{}';
    begin
      select array_agg(id), array_agg((
          select min(case when name = given then 1 when starts_with(name, given) then 2
            when strpos(name, '_' || given) > 0 then 3 end)
          from (select lower(c ->> 'name') as name from jsonb_array_elements(columns) c) named))
        into newest, ranks
        from (select id, columns from tables where company_id = caller and is_active
          order by created_at desc, id desc limit 200) t;
      -- Until the function ends. Else the tables of the company might be gone through one by one.
      perform set_config('enable_indexscan', 'off', true);
      for rank in 1..3 loop
        found := found || array(select id from unnest(newest, ranks) n(id, place) where place = rank limit most);
        exit when cardinality(found) >= most;
        found := found || array(select id from tables where company_id = caller and is_active
          and column_lexemes(company_id, columns) @@ cast(format(forms[rank], caller, word) as tsquery)
          and id <> all(found) limit most);
        exit when cardinality(found) >= most;
      end loop;
      return found;
    end $$;
    revoke execute on function tables_with_columns from public;
  `)
}

/** Drops the functions and indexes. Keeps the extensions, because other objects may use them. */
export async function dropSearch(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function tables_with_columns;
    drop function rare_tables;
    drop index if exists tables_search;
    drop index tables_columns;
    drop function column_lexemes;
  `)
}
