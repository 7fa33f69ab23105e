import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Links by which users choose a new password: one a user, of which only the hash of the token is stored. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table password_resets (
      -- A new link replaces the one before.
      user_id uuid primary key references users on delete cascade,
      company_id uuid not null references companies on delete cascade,
      token_hash bytea not null unique,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    );
    create index password_resets_expired on password_resets (expires_at);
  `)
  await isolate(knex, 'password_resets')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'password_resets')
}
