import type { Knex } from 'knex'

/** The display name of a linked identity, and whether it proves the email of its user. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table identities
      -- The name in the settings; null when written by a version before.
      add column provider text,
      -- The verified email when it was linked; null when written by a version before, which linked by the email alone.
      add column email text;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table identities drop column provider, drop column email')
}
