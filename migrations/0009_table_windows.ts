import type { Knex } from 'knex'

/** How the rows of a table are kept apart, and the window that its new checks have. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table tables
      add column partitioning jsonb,
      -- {"timeColumn", "window", "windowDelay"}; null where nothing is set.
      add column window_setting jsonb;

    -- The buckets that were read: {"time_column", "window", "start", "end"}; null of all rows.
    alter table profiles add column profiled_window jsonb;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table profiles drop column profiled_window;
    alter table tables drop column partitioning, drop column window_setting;
  `)
}
