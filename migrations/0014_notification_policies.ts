import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Who takes care of alerts, what people write about them, and when messages about them are held back. */
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

    -- While a window is open, no message about alerts that it selects is sent. Null for a filter that selects all.
    create table mute_windows (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      name text not null,
      asset_ids uuid[],
      -- Qualified names: 'shop.shop.public'.
      schemas text[],
      tags text[],
      -- Either once, or by the hours of a week in a time zone.
      starts_at timestamptz,
      ends_at timestamptz,
      timezone text,
      rules jsonb,
      is_active boolean not null default true,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check (num_nonnulls(starts_at, ends_at) in (0, 2)),
      check (num_nonnulls(ends_at, rules) = 1 and num_nonnulls(timezone, rules) in (0, 2))
    );
    create index mute_windows_list on mute_windows (company_id, created_at desc, id desc);

    -- Steps by their time: [{"after_minutes": 30, "destination_ids": […]}]; null for none.
    alter table alert_rules add column escalation jsonb;
    -- The next step of a rule for an alert that no person has taken yet. The row goes with the last one.
    create table alert_escalations (
      alert_id uuid not null references alerts on delete cascade,
      -- Without a reference: it would be checked, and locked, before other rules.
      rule_id uuid not null,
      company_id uuid not null references companies on delete cascade,
      step integer not null default 0,
      started_at timestamptz not null,
      due_at timestamptz not null,
      primary key (alert_id, rule_id)
    );
    create index alert_escalations_due on alert_escalations (due_at);
  `)
  await isolate(knex, 'alert_activities', 'mute_windows', 'alert_escalations')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'alert_activities', 'mute_windows', 'alert_escalations')
  await knex.raw('alter table alert_rules drop column escalation')
  await knex.raw('alter table alerts drop column assignee_id')
}
