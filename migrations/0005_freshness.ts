import type { Knex } from 'knex'
import { partition } from './months.ts'
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
      -- A SQL expression that is read in place of a column.
      expression text,
      -- Asked to go by the engine's time of the last change, though the table may have a timestamp column.
      uses_last_modified boolean not null default false,
      monitoring_mode text not null check (monitoring_mode in ('explicit', 'auto_learn')),
      -- As it was given, such as 24h: an explicit schedule's.
      sla_threshold text,
      check_interval text not null,
      is_active boolean not null default true,
      status text not null default 'unknown',
      sla_status text,
      last_updated timestamptz,
      -- The engine's time of the last change when the column was read last: while it stays, so does the newest value.
      modified_at timestamptz,
      -- The zone that was taken for that reading.
      read_zone text,
      -- The last reading took longer than a statement may: it is read alone, so that no other has to wait for it.
      is_slow boolean not null default false,
      expected_next timestamptz,
      learned_sla_seconds integer,
      last_error text,
      -- The severity of the alert that is open by our account: a warning gives way to a violation.
      alert_severity text,
      last_check_at timestamptz,
      next_run_at timestamptz not null default now(),
      -- The slot that a check is queued or running for; one that was lost is claimed again.
      running_slot timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index freshness_schedules_list on freshness_schedules (company_id, source_id, created_at desc, id desc);
    create index freshness_schedules_due on freshness_schedules (next_run_at) where is_active;
    create index freshness_schedules_running on freshness_schedules (company_id, source_id)
      where running_slot is not null;

    create table freshness_checks (
      id bigint generated always as identity,
      company_id uuid not null references companies on delete cascade,
      schedule_id uuid not null references freshness_schedules on delete cascade,
      status text not null,
      sla_status text,
      last_updated timestamptz,
      data_age_seconds bigint,
      -- Whether it found a new maximum: what a cadence is learned from.
      is_update boolean not null default false,
      error_message text,
      checked_at timestamptz not null,
      primary key (id, checked_at)
    ) partition by range (checked_at);
    -- The schedule comes first: deleting one finds its checks by the schedule alone.
    create index freshness_checks_list on freshness_checks (schedule_id, company_id, checked_at desc, id desc);
    -- With what a cadence is learned from, so that the rows stay unread.
    create index freshness_checks_updates on freshness_checks (company_id, schedule_id, checked_at desc, id desc)
      include (last_updated) where is_update;
  `)
  await isolate(knex, 'freshness_schedules', 'freshness_checks')
  await partition(knex, { table: 'freshness_checks', by: 'checked_at' })
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'freshness_schedules', 'freshness_checks')
}
