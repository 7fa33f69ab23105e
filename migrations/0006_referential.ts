import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Operating schedules, and referential checks with their results. */
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

    -- Without an action: a schedule in use cannot be removed, and one of a company that goes has gone with it.
    alter table validity_rules add constraint validity_rules_operating_schedule
      foreign key (operating_schedule_id) references operating_schedules (id);
    create index validity_rules_operating_schedule on validity_rules (operating_schedule_id)
      where operating_schedule_id is not null;

    create table referential_checks (
      id uuid primary key,
      internal_id bigint generated always as identity unique,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- The child, whose values must occur in the parent.
      table_id uuid not null references tables on delete cascade,
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
      last_check_at timestamptz,
      next_run_at timestamptz not null default now(),
      running_slot timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index referential_checks_list on referential_checks (company_id, source_id, created_at desc, id desc);
    create index referential_checks_table on referential_checks (company_id, table_id);
    create index referential_checks_parent on referential_checks (parent_table_id);
    create index referential_checks_due on referential_checks (next_run_at) where is_active;

    create table referential_results (
      id bigint generated always as identity primary key,
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
      -- A slot is recorded once, however many processes ran it.
      unique (referential_check_id, scheduled_for)
    );
    create index referential_results_list on referential_results
      (company_id, referential_check_id, checked_at desc, id desc);
  `)
  await isolate(knex, 'operating_schedules', 'referential_checks', 'referential_results')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table validity_rules drop constraint validity_rules_operating_schedule')
  await knex.raw('drop index validity_rules_operating_schedule')
  await drop(knex, 'operating_schedules', 'referential_checks', 'referential_results')
}
