import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** The checks that files manage: the key of each, and what the file said when it was applied. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table monitors (
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      key text not null,
      kind text not null check (kind in ('validity', 'metric', 'referential', 'freshness')),
      -- As the endpoints of its kind take it; the check may be gone.
      check_id text not null,
      file text not null,
      -- All fields of the check as they were applied, to tell what was changed on the server since.
      applied jsonb not null,
      applied_at timestamptz not null default now(),
      primary key (source_id, key)
    );
    create unique index monitors_check on monitors (company_id, kind, check_id);
  `)
  await isolate(knex, 'monitors')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'monitors')
}
