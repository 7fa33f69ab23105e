import type { Knex } from 'knex'

/** Which results raised which alert, which of them somebody called expected, and how long a group has been there. */
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
      -- Captures in a row that had the group, 0 once it is missing, and the last one that had it.
      add column run integer not null default 0,
      add column last_seen_at timestamptz;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table metric_states drop column run, drop column last_seen_at;
    alter table metric_snapshots drop column alert_id, drop column is_confirmed;
    alter table validity_results drop column alert_id, drop column is_confirmed, drop column was_active;
  `)
}
