import type { Knex } from 'knex'

/** What a snapshot was compared with, so that each past value can be explained as its alert explains it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Null without a band, and of snapshots of versions before.
    alter table metric_snapshots add column basis jsonb;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table metric_snapshots drop column basis')
}
