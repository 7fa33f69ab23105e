import type { Knex } from 'knex'
import { partition } from './months.ts'
import { drop, isolate } from './tenant.ts'

/**
 * Checks of every kind with their results and what was learned of them, and operating schedules. Rows that a sweep claims
 * have `next_run_at`, the next due time, and `running_slot`, the due time that was claimed and has no result yet.
 *
 * The list of all checks is counted, ordered and searched in its own indexes alone: a check has its status as a number,
 * the lower the more it needs attention, and its table's names in small letters. Under row-level security no function such
 * as lower() may be evaluated on an index that does not hold its argument.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(SCHEDULES)
  await isolate(knex, 'operating_schedules')
  await knex.raw(CHECKS)
  await isolate(knex, 'checks', 'check_states', 'check_results')
  await partition(knex, { table: 'check_results', by: 'at', unique: 'check_id, series, scheduled_for' })
  await knex.raw(NAMES)
}

const SCHEDULES = `
    create table operating_schedules (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      name text not null,
      timezone text not null,
      rules jsonb not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index operating_schedules_list on operating_schedules (company_id, created_at desc, id desc);
  `

const CHECKS = `
    create table checks (
      id bigint generated always as identity primary key,
      uuid uuid not null unique,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      table_id uuid not null references tables on delete cascade,
      -- The table's names in small letters, which triggers keep.
      table_name text,
      table_path text,
      -- Such as validity; what one kind has that others have not is in its settings.
      kind text not null,
      -- The type of the rule or metric; the kind itself where it has no types.
      type text not null,
      column_name text,
      -- A boolean expression of the source's SQL: which rows it is about.
      filter text,
      -- With a window it is about one bucket of time at a time: the column, the size of a bucket, for how long its data may
      -- arrive, how many of the last buckets are measured again, and up to where it was measured.
      time_column text,
      window_size text,
      window_delay text,
      revisit smallint,
      last_bucket_end timestamptz,
      -- What the type asks for.
      config jsonb not null default '{}',
      settings jsonb not null default '{}',
      -- Each group of their values is measured and judged as a series of its own.
      group_by_columns text[] not null default '{}',
      -- What manages it: null by hand; file or contract, which owner_ref names with its key in there.
      owner_kind text,
      owner_ref jsonb,
      -- The second table of a check of two. It takes no check away with it: without it, the check is an error. A source
      -- takes both.
      other_table_id uuid references tables,
      name text,
      description text,
      severity text,
      is_active boolean not null default true,
      check_interval text not null,
      sensitivity double precision,
      -- Without an action: a schedule in use cannot be removed, and one of a company that goes has gone with it.
      operating_schedule_id uuid constraint checks_operating_schedule references operating_schedules (id),
      -- The last result that is no part of the baseline: up to it, something else was measured.
      baseline_after bigint not null default 0,
      -- pass, warning, fail or error; null before the first result, and where there was nothing to judge by.
      status text,
      -- One by groups is learning while all groups of its last result are.
      is_learning boolean not null default false,
      -- Runs in a row that failed; one that could not run neither counts nor ends them.
      failing_runs integer not null default 0,
      status_rank smallint generated always as (case status
          when 'fail' then 1 when 'error' then 2 when 'warning' then 3
          when 'pass' then case when is_learning then 4 else 6 end else 5 end) stored,
      search_text text generated always as (
        lower(coalesce(name || ' ', '') || type || coalesce(' ' || column_name, ''))
        || coalesce(chr(10) || table_name, '')) stored,
      last_checked_at timestamptz,
      next_run_at timestamptz not null default now(),
      running_slot timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
      -- Each result rewrites its row; only vacuumed pages spare the look at rows.
    ) with (autovacuum_vacuum_scale_factor = 0.05);
    create index checks_list on checks (company_id, source_id, kind, created_at desc, id desc);
    create index checks_company on checks (company_id, created_at desc, id desc)
      include (kind, table_id, source_id, is_active, status, status_rank, search_text, table_path);
    create index checks_status on checks (company_id, status_rank, created_at desc, id desc)
      include (kind, table_id, source_id, is_active);
    -- Without the company first, as foreign keys ask: a removed source asks once for each of its tables.
    create index checks_table on checks (table_id);
    create index checks_other_table on checks (other_table_id) where other_table_id is not null;
    create index checks_operating_schedule on checks (operating_schedule_id) where operating_schedule_id is not null;
    create index checks_due on checks (next_run_at) where is_active;
    -- A table has one freshness check; and those of a company are listed and counted.
    create unique index checks_freshness on checks (company_id, table_id) where kind = 'freshness';

    -- Beside the checks, which are read far more often: one row a series. What is not here is learned again from results.
    create table check_states (
      company_id uuid not null references companies on delete cascade,
      check_id bigint not null references checks on delete cascade,
      series jsonb not null default '{}',
      state jsonb not null,
      -- Consecutive results with the series; 0 once it is missing, below 0 while an alert about that is open. And the
      -- last result with it.
      run integer not null default 0,
      last_seen_at timestamptz,
      primary key (check_id, series)
    );

    create table check_results (
      id bigint generated always as identity,
      company_id uuid not null references companies on delete cascade,
      check_id bigint not null references checks on delete cascade,
      -- The values of the columns that a check groups by; {} of one without.
      series jsonb not null default '{}',
      at timestamptz not null,
      -- A slot is recorded once, however many processes ran it.
      scheduled_for timestamptz,
      -- pass, warning, fail or error; null where there was nothing to judge by.
      status text,
      value double precision,
      total_rows bigint,
      expected double precision,
      low double precision,
      high double precision,
      z_score double precision,
      is_learning boolean not null default false,
      alert_id uuid references alerts on delete set null,
      -- The alert was dismissed as expected: the value is part of the baseline.
      is_confirmed boolean not null default false,
      is_backfilled boolean not null default false,
      error_message text,
      duration_ms integer not null default 0,
      -- The bucket that it is about, whose start is the time of the result; when it was last found to have other numbers, how
      -- often, and what its value was at first.
      bucket_start timestamptz,
      bucket_end timestamptz,
      revised_at timestamptz,
      revisions integer not null default 0,
      first_value double precision,
      -- What one kind of check has that others have not.
      details jsonb not null default '{}',
      primary key (id, at)
    ) partition by range (at);
    create index check_results_list on check_results (company_id, check_id, at desc, id desc);
    create index check_results_alert on check_results (alert_id) where alert_id is not null;
    -- With the age of the data at an update: what a cadence is learned from, so that the rows stay unread.
    create index check_results_updates on check_results (company_id, check_id, at desc, id desc)
      include (value) where details ->> 'isUpdate' is not null;
  `

/**
 * Triggers keep the names of tables. A check that is made while its table is being renamed keeps the old name until the
 * next renaming: with a lock, scans and discoveries would wait for each other.
 */
const NAMES = `
    create function name_table_of_check() returns trigger language plpgsql as $$
    begin
      select lower(t.name), lower(t.schema_name || '.' || t.name) into new.table_name, new.table_path
        from tables t where t.company_id = new.company_id and t.id = new.table_id;
      return new;
    end $$;
    create trigger checks_table before insert or update of table_id on checks
      for each row execute function name_table_of_check();

    create function rename_table_of_checks() returns trigger language plpgsql as $$
    begin
      update checks set table_name = lower(new.name), table_path = lower(new.schema_name || '.' || new.name)
      where company_id = new.company_id and table_id = new.id;
      return null;
    end $$;
    create trigger tables_renamed after update of schema_name, name on tables for each row
      when ((old.schema_name, old.name) is distinct from (new.schema_name, new.name))
      execute function rename_table_of_checks();
  `

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop trigger tables_renamed on tables;
    drop function rename_table_of_checks;
    drop function name_table_of_check cascade;
  `)
  await drop(knex, 'operating_schedules', 'checks', 'check_states', 'check_results')
}
