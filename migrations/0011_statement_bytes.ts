import type { Knex } from 'knex'

/** The most bytes that a statement may read of a source. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Null for no limit.
    alter table sources add column max_bytes_per_statement bigint check (max_bytes_per_statement > 0)`)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table sources drop column max_bytes_per_statement')
}
