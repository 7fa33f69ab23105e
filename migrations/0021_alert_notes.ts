import type { Knex } from 'knex'

/** What people write about an alert, and about how it ended; a preference of alert rules. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table alerts
      -- The newest reason that a person gave. Earlier ones are in the history.
      add column notes text,
      -- Texts by their names in the API: \`root_cause_category\` and the like.
      add column resolution jsonb;
    alter table alert_history add column resolution jsonb;
    alter table alert_rules
      -- From 0 to 1. Without effect while the authors of code are not notified.
      add column code_author_min_confidence double precision;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table alert_rules drop column code_author_min_confidence;
    alter table alert_history drop column resolution;
    alter table alerts drop column notes, drop column resolution;
  `)
}
