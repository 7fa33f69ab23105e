import type { Knex } from 'knex'

/** Badges are removed with their source. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A table is only removed with its source. Null: written by a process of the version before.
    alter table badges add column source_id uuid references sources on delete cascade;
    delete from badges b
      where not exists (select from sources s where s.company_id = b.company_id and s.id = b.asset_id)
        and not exists (select from tables t where t.company_id = b.company_id and t.id = b.asset_id);
    update badges b set source_id = coalesce(
      (select s.id from sources s where s.company_id = b.company_id and s.id = b.asset_id),
      (select t.source_id from tables t where t.company_id = b.company_id and t.id = b.asset_id));
    create index badges_source on badges (source_id);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table badges drop column source_id')
}
