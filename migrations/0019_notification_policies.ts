import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Who takes care of an alert, and what people write about it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table alerts add column assignee_id uuid references users on delete set null;
    create index alerts_assignee on alerts (assignee_id) where assignee_id is not null;

    -- What people did beside changes of the status, which alert_history has.
    create table alert_activities (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      alert_id uuid not null references alerts on delete cascade,
      activity_type text not null check (activity_type in ('comment', 'assigned')),
      -- 'user:<id>' or 'key:<id>'.
      actor text not null,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now()
    );
    create index alert_activities_alert on alert_activities (alert_id, created_at);
  `)
  await isolate(knex, 'alert_activities')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'alert_activities')
  await knex.raw('alter table alerts drop column assignee_id')
}
