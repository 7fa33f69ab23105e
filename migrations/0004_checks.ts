import type { Knex } from 'knex'
import { partition } from './months.ts'
import { drop, isolate } from './tenant.ts'

/**
 * Validity rules, metrics and referential checks with their results, and operating schedules. Rows that a sweep claims
 * have `next_run_at`, the next due time, and `running_slot`, the due time that was claimed and has no result yet.
 *
 * The list of all checks is counted, ordered and searched in its own indexes alone: a check has its status as a number,
 * the lower the more it needs attention, and its table's names in small letters. Under row-level security no function such
 * as lower() may be evaluated on an index that does not hold its argument.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
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
  `)
  await isolate(knex, 'operating_schedules')
  await knex.raw(VALIDITY)
  await isolate(knex, 'validity_rules', 'validity_states', 'validity_results')
  await partition(knex, {
    ...{ table: 'validity_results', by: 'checked_at' },
    unique: 'validity_rule_id, scheduled_for',
  })
  await knex.raw(METRICS)
  await isolate(knex, 'metrics', 'metric_states', 'metric_snapshots')
  await partition(knex, {
    ...{ table: 'metric_snapshots', by: 'captured_at' },
    unique: 'metric_id, group_values, scheduled_for',
  })
  await knex.raw(REFERENTIAL)
  await isolate(knex, 'referential_checks', 'referential_results')
  await partition(knex, {
    ...{ table: 'referential_results', by: 'checked_at' },
    unique: 'referential_check_id, scheduled_for',
  })
  await knex.raw(NAMES)
}

const VALIDITY = `
    create table validity_rules (
      id bigint generated always as identity primary key,
      uuid uuid not null unique,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      table_id uuid not null references tables on delete cascade,
      -- The table's names in small letters, which triggers keep.
      table_name text,
      table_path text,
      column_name text,
      rule_type text not null,
      rule_config jsonb,
      name text not null,
      description text,
      severity text not null,
      is_active boolean not null default true,
      alert_threshold_percent double precision,
      treat_null_as_valid boolean not null default false,
      check_interval text not null,
      detection_mode text not null,
      sensitivity integer not null,
      operating_period_mode text not null,
      -- Without an action: a schedule in use cannot be removed, and one of a company that goes has gone with it.
      operating_schedule_id uuid constraint validity_rules_operating_schedule references operating_schedules (id),
      error_message text,
      -- The last result that is no part of the baseline: up to it, something else was measured.
      baseline_after bigint not null default 0,
      latest_status text,
      is_learning boolean not null default false,
      status_rank smallint generated always as (case
          when latest_status in ('fail', 'FAIL') then 1 when latest_status in ('error', 'ERROR') then 2
          when latest_status in ('warning', 'WARNING') then 3
          when latest_status in ('pass', 'PASS') then case when is_learning then 4 else 6 end else 5 end) stored,
      search_text text generated always as (lower(name || ' ' || rule_type || coalesce(' ' || column_name, ''))
        || coalesce(chr(10) || table_name, '')) stored,
      next_run_at timestamptz not null default now(),
      running_slot timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
      -- Each check rewrites its row; only vacuumed pages spare the look at rows.
    ) with (autovacuum_vacuum_scale_factor = 0.05);
    create index validity_rules_list on validity_rules (company_id, source_id, created_at desc, id desc);
    create index validity_rules_company on validity_rules (company_id, created_at desc, id desc)
      include (table_id, source_id, is_active, latest_status, status_rank, search_text, table_path);
    create index validity_rules_status on validity_rules (company_id, status_rank, created_at desc, id desc)
      include (table_id, source_id, is_active);
    -- Without the company first, as foreign keys ask: a removed source asks once for each of its tables.
    create index validity_rules_table on validity_rules (table_id);
    create index validity_rules_operating_schedule on validity_rules (operating_schedule_id)
      where operating_schedule_id is not null;
    create index validity_rules_due on validity_rules (next_run_at) where is_active;

    -- Beside the rules, which are read far more often. What is not here is learned again from the results.
    create table validity_states (
      company_id uuid not null references companies on delete cascade,
      rule_id bigint primary key references validity_rules on delete cascade,
      state jsonb not null
    );

    create table validity_results (
      id bigint generated always as identity,
      company_id uuid not null references companies on delete cascade,
      validity_rule_id bigint not null references validity_rules on delete cascade,
      status text not null,
      total_rows bigint,
      invalid_count bigint,
      invalid_percent double precision,
      expected_value double precision,
      expected_range_low double precision,
      expected_range_high double precision,
      z_score double precision,
      is_learning boolean not null default false,
      -- Whether the operating schedule of that time called the moment active; null of other modes.
      was_active boolean,
      alert_id uuid references alerts on delete set null,
      -- The alert was dismissed as expected: the value is part of the baseline.
      is_confirmed boolean not null default false,
      is_backfilled boolean not null default false,
      error_message text,
      execution_duration_ms integer not null,
      -- A slot is recorded once, however many processes ran it.
      scheduled_for timestamptz,
      checked_at timestamptz not null,
      primary key (id, checked_at)
    ) partition by range (checked_at);
    create index validity_results_list on validity_results (company_id, validity_rule_id, checked_at desc, id desc);
    create index validity_results_alert on validity_results (alert_id) where alert_id is not null;
  `

const METRICS = `
    create table metrics (
      internal_id bigint generated always as identity primary key,
      id uuid not null unique,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      table_id uuid not null references tables on delete cascade,
      -- The table's names in small letters, which triggers keep.
      table_name text,
      table_path text,
      column_name text,
      metric_type text not null,
      config jsonb not null,
      group_by_columns text[] not null default '{}',
      check_interval text not null,
      sensitivity double precision not null,
      is_active boolean not null default true,
      last_status text,
      -- One by groups is learning while all groups of its last capture are.
      is_learning boolean not null default false,
      status_rank smallint generated always as (case
          when last_status in ('fail', 'FAIL') then 1 when last_status in ('error', 'ERROR') then 2
          when last_status in ('warning', 'WARNING') then 3
          when last_status in ('pass', 'PASS') then case when is_learning then 4 else 6 end else 5 end) stored,
      search_text text generated always as (lower(metric_type || coalesce(' ' || column_name, ''))
        || coalesce(chr(10) || table_name, '')) stored,
      next_run_at timestamptz not null default now(),
      running_slot timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    ) with (autovacuum_vacuum_scale_factor = 0.05);
    create index metrics_list on metrics (company_id, source_id, created_at desc, internal_id desc);
    create index metrics_company on metrics (company_id, created_at desc, internal_id desc)
      include (table_id, source_id, is_active, last_status, status_rank, search_text, table_path);
    create index metrics_status on metrics (company_id, status_rank, created_at desc, internal_id desc)
      include (table_id, source_id, is_active);
    create index metrics_table on metrics (table_id);
    create index metrics_due on metrics (next_run_at) where is_active;

    -- One row a group of the metric; metrics without groups have the group {}.
    create table metric_states (
      company_id uuid not null references companies on delete cascade,
      metric_id bigint not null references metrics on delete cascade,
      group_values jsonb not null,
      state jsonb not null,
      -- Consecutive captures with the group; 0 once it is missing, below 0 while an alert about that is open. And the
      -- last capture with it.
      run integer not null default 0,
      last_seen_at timestamptz,
      primary key (metric_id, group_values)
    );

    create table metric_snapshots (
      id bigint generated always as identity,
      company_id uuid not null references companies on delete cascade,
      metric_id bigint not null references metrics on delete cascade,
      group_values jsonb not null default '{}',
      value double precision,
      total_rows bigint,
      status text not null,
      is_anomaly boolean not null default false,
      is_learning boolean not null default false,
      z_score double precision not null default 0,
      expected_value double precision,
      expected_range_low double precision,
      expected_range_high double precision,
      -- What it was compared with, so that each past value can be explained as its alert explains it. Null without a band.
      basis jsonb,
      alert_id uuid references alerts on delete set null,
      is_confirmed boolean not null default false,
      is_backfilled boolean not null default false,
      error_message text,
      scheduled_for timestamptz,
      captured_at timestamptz not null,
      primary key (id, captured_at)
    ) partition by range (captured_at);
    create index metric_snapshots_list on metric_snapshots (company_id, metric_id, captured_at desc, id desc);
    create index metric_snapshots_alert on metric_snapshots (alert_id) where alert_id is not null;
  `

const REFERENTIAL = `
    create table referential_checks (
      id uuid primary key,
      internal_id bigint generated always as identity unique,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- The child, whose values must occur in the parent.
      table_id uuid not null references tables on delete cascade,
      -- The child's names in small letters, which triggers keep.
      table_name text,
      table_path text,
      child_column_name text not null,
      -- A parent takes no check away with it: without it, the check is an error. A source takes both.
      parent_table_id uuid not null references tables,
      parent_column_name text not null,
      name text not null,
      description text,
      severity text not null,
      is_active boolean not null default true,
      check_interval text not null,
      max_orphan_count bigint,
      max_orphan_percent double precision,
      min_child_count bigint,
      max_child_count bigint,
      latest_status text,
      status_rank smallint generated always as (case
          when latest_status in ('fail', 'FAIL') then 1 when latest_status in ('error', 'ERROR') then 2
          when latest_status in ('warning', 'WARNING') then 3
          when latest_status in ('pass', 'PASS') then case when false then 4 else 6 end else 5 end) stored,
      search_text text generated always as (lower(name || ' referential ' || child_column_name)
        || coalesce(chr(10) || table_name, '')) stored,
      last_check_at timestamptz,
      next_run_at timestamptz not null default now(),
      running_slot timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    ) with (autovacuum_vacuum_scale_factor = 0.05);
    create index referential_checks_list on referential_checks (company_id, source_id, created_at desc, id desc);
    create index referential_checks_company on referential_checks (company_id, created_at desc, internal_id desc)
      include (table_id, source_id, is_active, latest_status, status_rank, search_text, table_path);
    create index referential_checks_status on referential_checks
      (company_id, status_rank, created_at desc, internal_id desc) include (table_id, source_id, is_active);
    create index referential_checks_table on referential_checks (table_id);
    create index referential_checks_parent on referential_checks (parent_table_id);
    create index referential_checks_due on referential_checks (next_run_at) where is_active;

    create table referential_results (
      id bigint generated always as identity,
      company_id uuid not null references companies on delete cascade,
      referential_check_id uuid not null references referential_checks on delete cascade,
      status text not null,
      orphan_count bigint,
      orphan_percent double precision,
      total_child_rows bigint,
      parents_below_min bigint,
      parents_above_max bigint,
      query_duration_ms integer not null,
      error_message text,
      scheduled_for timestamptz,
      checked_at timestamptz not null,
      primary key (id, checked_at)
    ) partition by range (checked_at);
    create index referential_results_list on referential_results
      (company_id, referential_check_id, checked_at desc, id desc);
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
    create trigger validity_rules_table before insert or update of table_id on validity_rules
      for each row execute function name_table_of_check();
    create trigger metrics_table before insert or update of table_id on metrics
      for each row execute function name_table_of_check();
    create trigger referential_checks_table before insert or update of table_id on referential_checks
      for each row execute function name_table_of_check();

    create function rename_table_of_checks() returns trigger language plpgsql as $$
    begin
      update validity_rules set table_name = lower(new.name), table_path = lower(new.schema_name || '.' || new.name)
      where company_id = new.company_id and table_id = new.id;
      update metrics set table_name = lower(new.name), table_path = lower(new.schema_name || '.' || new.name)
      where company_id = new.company_id and table_id = new.id;
      update referential_checks set table_name = lower(new.name), table_path = lower(new.schema_name || '.' || new.name)
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
  await drop(
    knex,
    'operating_schedules',
    'validity_rules',
    'validity_states',
    'validity_results',
    'metrics',
    'metric_states',
    'metric_snapshots',
    'referential_checks',
    'referential_results',
  )
}
