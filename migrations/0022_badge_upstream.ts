import type { Knex } from 'knex'

/** Badges that count upstream tables, and badges that are switched off. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table badges
      -- Whether the tables that the badge's table is made from count too.
      add column include_upstream boolean not null default false,
      -- An inactive badge has no picture.
      add column is_active boolean not null default true;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table badges drop column include_upstream, drop column is_active')
}
