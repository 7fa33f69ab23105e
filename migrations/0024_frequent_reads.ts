import type { Knex } from 'knex'

/**
 * What frequent reads need: indexes of the names of tables and columns, and functions that count requests against limits and admit callers by
 * API key. Processes of the version before count in the same rows with statements of their own.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Counts one against a limit, and says how it stands. The row's lock makes the count exact; both windows are in it,
    -- so that both count or neither. What is refused is not counted.
    create function take_limit(
      limit_name text, most integer, seconds float8, burst_most integer, burst_seconds float8,
      out used integer, out burst_used integer, out is_allowed boolean,
      out now float8, out resets_in float8, out burst_resets_in float8
    ) language plpgsql as $$
    #variable_conflict use_column
    declare
      until timestamptz;
      burst_until timestamptz;
    begin
      insert into rate_windows as w (name, used, ends_at, burst_used, burst_ends_at, is_allowed)
      values (limit_name, 1, now() + seconds * interval '1 second', 1, now() + burst_seconds * interval '1 second', true)
      on conflict (name) do update set (used, ends_at, burst_used, burst_ends_at, is_allowed) = (
        select
          case when fits then so_far + 1 else so_far end,
          case when w.ends_at > now() then w.ends_at else excluded.ends_at end,
          case when fits then burst_so_far + 1 else burst_so_far end,
          case when w.burst_ends_at > now() then w.burst_ends_at else excluded.burst_ends_at end,
          fits
        from (select
          case when w.ends_at > now() then w.used else 0 end as so_far,
          case when w.burst_ends_at > now() then w.burst_used else 0 end as burst_so_far
        ) as counted
        cross join lateral (
          select so_far < most and burst_so_far < burst_most as fits
        ) as judged
      )
      returning w.used, w.burst_used, w.is_allowed, w.ends_at, w.burst_ends_at
      into used, burst_used, is_allowed, until, burst_until;
      now := extract(epoch from now());
      resets_in := extract(epoch from until - now());
      burst_resets_in := extract(epoch from burst_until - now());
    end $$;

    -- The same without counting: whether one more would fit.
    create function peek_limit(
      limit_name text, most integer, seconds float8, burst_most integer, burst_seconds float8,
      out used integer, out burst_used integer, out is_allowed boolean,
      out now float8, out resets_in float8, out burst_resets_in float8
    ) language plpgsql stable as $$
    #variable_conflict use_column
    begin
      select
        case when w.ends_at > now() then w.used else 0 end,
        case when w.burst_ends_at > now() then w.burst_used else 0 end,
        case when w.ends_at > now() then extract(epoch from w.ends_at - now()) else seconds end,
        case when w.burst_ends_at > now() then extract(epoch from w.burst_ends_at - now()) else burst_seconds end
      into used, burst_used, resets_in, burst_resets_in
      from (values (limit_name)) wanted(name) left join rate_windows w on w.name = wanted.name;
      is_allowed := used < most and burst_used < burst_most;
      now := extract(epoch from now());
    end $$;

    -- Finds an API key by its hash and counts a request of it against the limits of its plan, or looks how they stand.
    -- The columns of the limit are null where the key admits nothing; without a key all are. The application role may
    -- see keys of its company only: a caller's company is not known before.
    create function admit_key(
      hash bytea, is_counted boolean, plans text[], minute_limits integer[], second_limits integer[],
      out id uuid, out company_id uuid, out plan text, out scope text, out is_revoked boolean, out is_expired boolean,
      out used integer, out burst_used integer, out is_allowed boolean,
      out now float8, out resets_in float8, out burst_resets_in float8
    ) language plpgsql security definer set search_path = public, pg_temp as $$
    #variable_conflict use_column
    declare
      is_unnoted boolean;
      place integer;
    begin
      select k.id, k.company_id, c.plan, k.scope, k.revoked_at is not null, coalesce(k.expires_at <= now(), false),
        coalesce(k.last_used_at < now() - interval '1 minute', true)
      into id, company_id, plan, scope, is_revoked, is_expired, is_unnoted
      from api_keys k join companies c on c.company_id = k.company_id where k.key_hash = hash;
      if id is null or is_revoked or is_expired then
        return;
      end if;
      -- The time of last use is written at most once per minute. A crash may lose it, so no caller waits for the disk.
      if is_unnoted then
        perform set_config('synchronous_commit', 'off', true);
        update api_keys k set last_used_at = now() where k.id = admit_key.id and k.revoked_at is null
          and (k.last_used_at is null or k.last_used_at < now() - interval '1 minute');
      end if;
      place := array_position(plans, plan);
      if is_counted then
        select t.* into used, burst_used, is_allowed, now, resets_in, burst_resets_in
        from take_limit('key:' || id, minute_limits[place], 60, second_limits[place], 1) t;
      else
        select t.* into used, burst_used, is_allowed, now, resets_in, burst_resets_in
        from peek_limit('key:' || id, minute_limits[place], 60, second_limits[place], 1) t;
      end if;
    end $$;
    revoke execute on function admit_key from public;

    -- What a search in all names is counted from: a third of the pages of the index that gives the list its order.
    create index tables_names on tables (company_id, lower_name) where is_active;

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

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function tables_with_columns;
    drop index tables_columns;
    drop function column_lexemes;
    drop index tables_names;
    drop function admit_key;
    drop function peek_limit;
    drop function take_limit;
  `)
}
