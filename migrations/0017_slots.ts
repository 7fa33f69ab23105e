import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Limits requests in flight per destination. A version that does not know the table sends without slots. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A row per request in flight, and per test that waits for its slot.
    create table destination_slots (
      holder uuid primary key,
      company_id uuid not null references companies on delete cascade,
      destination_id uuid not null references destinations on delete cascade,
      is_waiting boolean not null default false,
      taken_at timestamptz not null default now()
    );
    create index destination_slots_destination on destination_slots (destination_id);

    -- When the first of the attempts timed out that have all got no answer since; null once one was answered.
    alter table destinations add column silent_since timestamptz;
  `)
  await isolate(knex, 'destination_slots')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'destination_slots')
  await knex.raw('alter table destinations drop column silent_since')
}
