import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/**
 * Validity rules with their results, metrics with their snapshots. Rows that a sweep claims have `next_run_at`, the next
 * due time, and `running_slot`, the due time that was claimed and has no result yet.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table validity_rules (
      id bigint generated always as identity primary key,
      uuid uuid not null unique,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      table_id uuid not null references tables on delete cascade,
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
      operating_schedule_id uuid,
      error_message text,
      latest_status text,
      detector_state jsonb,
      next_run_at timestamptz not null default now(),
      running_slot timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index validity_rules_list on validity_rules (company_id, source_id, created_at desc, id desc);
    create index validity_rules_table on validity_rules (company_id, table_id);
    create index validity_rules_due on validity_rules (next_run_at) where is_active;

    create table validity_results (
      id bigint generated always as identity primary key,
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
      error_message text,
      execution_duration_ms integer not null,
      scheduled_for timestamptz,
      checked_at timestamptz not null,
      -- A slot is recorded once, however many processes ran it.
      unique (validity_rule_id, scheduled_for)
    );
    create index validity_results_list on validity_results (company_id, validity_rule_id, checked_at desc, id desc);

    create table metrics (
      internal_id bigint generated always as identity primary key,
      id uuid not null unique,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      table_id uuid not null references tables on delete cascade,
      column_name text,
      metric_type text not null,
      config jsonb not null,
      group_by_columns text[] not null default '{}',
      check_interval text not null,
      sensitivity double precision not null,
      is_active boolean not null default true,
      last_status text,
      next_run_at timestamptz not null default now(),
      running_slot timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index metrics_list on metrics (company_id, source_id, created_at desc, internal_id desc);
    create index metrics_table on metrics (company_id, table_id);
    create index metrics_due on metrics (next_run_at) where is_active;

    -- One row a group of the metric; metrics without groups have the group {}.
    create table metric_states (
      company_id uuid not null references companies on delete cascade,
      metric_id bigint not null references metrics on delete cascade,
      group_values jsonb not null,
      state jsonb not null,
      primary key (metric_id, group_values)
    );

    create table metric_snapshots (
      id bigint generated always as identity primary key,
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
      error_message text,
      scheduled_for timestamptz,
      captured_at timestamptz not null,
      unique (metric_id, group_values, scheduled_for)
    );
    create index metric_snapshots_list on metric_snapshots (company_id, metric_id, captured_at desc, id desc);
  `)
  await isolate(knex, 'validity_rules', 'validity_results', 'metrics', 'metric_states', 'metric_snapshots')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'validity_rules', 'validity_results', 'metrics', 'metric_states', 'metric_snapshots')
}
