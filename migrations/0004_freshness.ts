import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Freshness schedules of tables, and their checks. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table freshness_schedules (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      table_id uuid not null unique references tables on delete cascade,
      timestamp_column text,
      monitoring_mode text not null check (monitoring_mode in ('explicit', 'auto_learn')),
      -- As it was given, such as 24h: an explicit schedule's.
      sla_threshold text,
      check_interval text not null,
      is_active boolean not null default true,
      status text not null default 'unknown',
      sla_status text,
      last_updated timestamptz,
      expected_next timestamptz,
      learned_sla_seconds integer,
      last_error text,
      -- Of the alert that is open by our account: a warning gives way to a violation.
      alert_severity text,
      last_check_at timestamptz,
      next_run_at timestamptz not null default now(),
      -- While a check of it is queued or running; one that was lost is claimed again.
      claimed_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index freshness_schedules_list on freshness_schedules (company_id, source_id, created_at desc, id desc);
    create index freshness_schedules_due on freshness_schedules (next_run_at) where is_active;
    create index freshness_schedules_claimed on freshness_schedules (company_id, source_id) where claimed_at is not null;

    create table freshness_checks (
      id bigint generated always as identity primary key,
      company_id uuid not null references companies on delete cascade,
      schedule_id uuid not null references freshness_schedules on delete cascade,
      status text not null,
      sla_status text,
      last_updated timestamptz,
      data_age_seconds bigint,
      -- Whether it found a new maximum: what a cadence is learned from.
      is_update boolean not null default false,
      error_message text,
      checked_at timestamptz not null
    );
    create index freshness_checks_list on freshness_checks (company_id, schedule_id, checked_at desc, id desc);
    create index freshness_checks_updates on freshness_checks (company_id, schedule_id, checked_at desc, id desc) where is_update;
  `)
  await isolate(knex, 'freshness_schedules', 'freshness_checks')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'freshness_schedules', 'freshness_checks')
}
