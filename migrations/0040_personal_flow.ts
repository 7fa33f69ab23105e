import type { Knex } from 'knex'

/** Columns of views that show what is tagged as personal data in the tables below them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- By column: 'column' where a column is tagged whose values it shows, 'table' where only a whole table is. Derived
    -- from tags and from the lineage of views.
    alter table tables add column personal_from_upstream jsonb not null default '{}';
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table tables drop column personal_from_upstream')
}
