import type { Knex } from 'knex'

/** Clauses of contracts that are judged by checks which were there before them, and checks that wait for their past. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Whether the check stays when the contract no longer needs it: a person or another owner made it.
    alter table contract_clauses add column is_adopted boolean not null default false;
    -- Days of the past that a job computes of a check that was made in bulk; null of one that waits for none.
    alter table checks add column backfill_days integer;
    -- Whether checks that the policy makes learn the past of their tables at once.
    alter table watch_policies add column backfill boolean not null default true;
    create index checks_backfill on checks (source_id) where backfill_days is not null`)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table contract_clauses drop column is_adopted;
    alter table checks drop column backfill_days;
    alter table watch_policies drop column backfill`)
}
