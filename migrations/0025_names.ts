import type { Knex } from 'knex'

/** What a search in all names is counted from: a third of the pages of the index that gives the list its order. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create index tables_names on tables (company_id, lower_name) where is_active')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index tables_names')
}
