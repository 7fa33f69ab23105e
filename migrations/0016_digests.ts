import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Summaries of what happened, which are sent every day or week. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table digests (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      name text not null,
      destination_id uuid not null references destinations on delete cascade,
      -- The id of a user or team, or an address: only what it owns. Null for all.
      owner text,
      frequency text not null check (frequency in ('daily', 'weekly')),
      -- 1 = Monday .. 7 = Sunday, of a weekly one.
      weekday smallint not null check (weekday between 1 and 7),
      -- By the wall clock of the time zone: '08:00'.
      send_at text not null,
      timezone text not null,
      is_active boolean not null default true,
      next_run_at timestamptz not null,
      -- The end of the last period that was sent: the next one begins there.
      covered_until timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index digests_list on digests (company_id, created_at desc, id desc);
    create index digests_due on digests (next_run_at) where is_active;
    create index digests_destination on digests (destination_id);
  `)
  await isolate(knex, 'digests')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'digests')
}
