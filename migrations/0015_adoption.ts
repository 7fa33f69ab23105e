import type { Knex } from 'knex'

/** Clauses of contracts that are judged by checks which were there before them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Whether the check stays when the contract no longer needs it: a person or another owner made it.
    alter table contract_clauses add column is_adopted boolean not null default false`)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table contract_clauses drop column is_adopted')
}
