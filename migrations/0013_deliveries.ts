import type { Knex } from 'knex'
import { drop } from './tenant.ts'

/** What deliveries to many people and to failing receivers need. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table destinations
      -- When the first of the attempts failed that have all failed since; null once one got through.
      add column failing_since timestamptz;
    alter table deliveries
      -- Who got it, of a destination of several people: a further attempt leaves them alone.
      add column served text[] not null default '{}';
    alter table delivery_attempts
      -- Sent with the attempt as X-Request-Id, to find it in the receiver's log.
      add column request_id uuid;

    -- Addresses that want no mail, of whatever company: an address has no company. The owner's alone, as nobody
    -- else has a policy.
    create table unsubscribed (
      email text primary key check (email = lower(email)),
      at timestamptz not null default now()
    );
    alter table unsubscribed enable row level security;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'unsubscribed')
  await knex.raw(`
    alter table destinations drop column failing_since;
    alter table deliveries drop column served;
    alter table delivery_attempts drop column request_id;
  `)
}
