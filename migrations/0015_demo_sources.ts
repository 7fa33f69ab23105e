import type { Knex } from 'knex'

/** The demo has two sources that are compared; `plugins/catalog/demo.ts` keeps concurrent requests from making more. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('drop index sources_one_demo')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    update sources s set is_demo = false
     where is_demo and exists (select from sources o where o.company_id = s.company_id and o.is_demo and o.id < s.id);
    create unique index sources_one_demo on sources (company_id) where is_demo`)
}
