import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** The alert of each result, dismissals as expected, and what was learned from them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table validity_results
      add column alert_id uuid references alerts on delete set null,
      add column is_confirmed boolean not null default false,
      -- Whether the operating schedule of that time called the moment active; null of other modes.
      add column was_active boolean;
    alter table metric_snapshots
      add column alert_id uuid references alerts on delete set null,
      add column is_confirmed boolean not null default false;
    create index validity_results_alert on validity_results (alert_id) where alert_id is not null;
    create index metric_snapshots_alert on metric_snapshots (alert_id) where alert_id is not null;

    alter table metric_states
      -- Consecutive captures with the group; 0 once it is missing, below 0 while an alert about that is open. And the
      -- last capture with it.
      add column run integer not null default 0,
      add column last_seen_at timestamptz;

    -- Beside the rules, which are read far more often. What is not here is learned again from the results.
    create table validity_states (
      company_id uuid not null references companies on delete cascade,
      rule_id bigint primary key references validity_rules on delete cascade,
      state jsonb not null
    );
    alter table validity_rules
      drop column detector_state,
      -- The last result that is no part of the baseline: up to it, something else was measured.
      add column baseline_after bigint not null default 0;
  `)
  await isolate(knex, 'validity_states')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'validity_states')
  await knex.raw(`
    alter table validity_rules drop column baseline_after, add column detector_state jsonb;
    alter table metric_states drop column run, drop column last_seen_at;
    alter table metric_snapshots drop column alert_id, drop column is_confirmed;
    alter table validity_results drop column alert_id, drop column is_confirmed, drop column was_active;
  `)
}
