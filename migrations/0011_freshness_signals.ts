import type { Knex } from 'knex'

/** Signals of freshness, and the state that avoids reading unchanged tables. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What schedules made later have where they name nothing else:
    -- {monitoring_mode, sla_threshold, check_interval, freshness_columns}.
    alter table sources add column freshness_defaults jsonb;

    alter table freshness_schedules
      -- A SQL expression that is read in place of a column.
      add column expression text,
      -- Asked to go by the engine's time of the last change, though the table may have a timestamp column.
      add column uses_last_modified boolean not null default false,
      -- The engine's time of the last change when the column was read last: while it stays, so does the newest value.
      add column modified_at timestamptz,
      -- The zone that was taken for that reading.
      add column read_zone text,
      -- The last reading took longer than a statement may: it is read alone, so that no other has to wait for it.
      add column is_slow boolean not null default false,
      -- The slot that a check is queued or running for.
      add column running_slot timestamptz;
    drop index freshness_schedules_claimed;
    alter table freshness_schedules drop column claimed_at;
    create index freshness_schedules_running on freshness_schedules (company_id, source_id)
      where running_slot is not null;

    -- With what a cadence is learned from, so that the rows stay unread.
    drop index freshness_checks_updates;
    create index freshness_checks_updates on freshness_checks (company_id, schedule_id, checked_at desc, id desc)
      include (last_updated) where is_update;
    -- The schedule comes first: deleting one finds its checks by the schedule alone.
    drop index freshness_checks_list;
    create index freshness_checks_list on freshness_checks (schedule_id, company_id, checked_at desc, id desc);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index freshness_checks_list;
    create index freshness_checks_list on freshness_checks (company_id, schedule_id, checked_at desc, id desc);
    drop index freshness_checks_updates;
    create index freshness_checks_updates on freshness_checks (company_id, schedule_id, checked_at desc, id desc)
      where is_update;
    drop index freshness_schedules_running;
    alter table freshness_schedules add column claimed_at timestamptz, drop column running_slot, drop column is_slow,
      drop column read_zone, drop column modified_at, drop column uses_last_modified, drop column expression;
    create index freshness_schedules_claimed on freshness_schedules (company_id, source_id) where claimed_at is not null;
    alter table sources drop column freshness_defaults;
  `)
}
