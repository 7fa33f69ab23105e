import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Links that show the chart of one check to everyone who has them, until they expire. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table chart_links (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- A table is only removed with its source.
      table_id uuid not null,
      -- As the endpoints of its kind take it.
      check_id text not null,
      days integer not null check (days between 1 and 90),
      -- SHA-256 of the token in the link, which is not stored.
      token_hash bytea not null unique,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    );
    create index chart_links_company on chart_links (company_id, created_at desc, id desc);
    create index chart_links_source on chart_links (source_id);
  `)
  await isolate(knex, 'chart_links')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'chart_links')
}
