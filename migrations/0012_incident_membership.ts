import type { Knex } from 'knex'

/** Why alerts belong to their incidents, what people arranged, and incidents that go on after their end. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table incidents
      -- Who moved alerts into it or out of it, or merged it: grouping leaves it as it is.
      add column arranged_by text,
      -- How often it was over and went on.
      add column reopened_count integer not null default 0,
      -- The message about its end waits until then, as it may fail again.
      add column end_held_until timestamptz;
    create index incidents_held on incidents (end_held_until) where end_held_until is not null;
    alter table incident_alerts
      -- Why the alert belongs to its incident; null of alerts that older versions put there.
      add column reason jsonb,
      -- Who put it there; null for the program.
      add column placed_by text`)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table incident_alerts drop column reason, drop column placed_by;
    drop index incidents_held;
    alter table incidents drop column arranged_by, drop column reopened_count, drop column end_held_until`)
}
