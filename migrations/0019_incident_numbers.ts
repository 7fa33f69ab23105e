import type { Knex } from 'knex'

/** A number by which people call an incident, counted by company. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Null of those that a process of the version before opens meanwhile.
    alter table incidents add column number integer;
    update incidents i set number = counted.number
      from (select id, row_number() over (partition by company_id order by created_at, id) as number from incidents)
        as counted
     where counted.id = i.id;
    create unique index incidents_number on incidents (company_id, number)`)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index incidents_number; alter table incidents drop column number')
}
