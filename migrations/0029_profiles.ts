import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** What was found in the columns of tables, each time that they were profiled. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table profiles (
      id uuid primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- A table is only removed with its source.
      table_id uuid not null,
      profiled_at timestamptz not null default now(),
      -- All rows of the table: counted, or estimated by the engine.
      row_count bigint not null,
      is_row_count_exact boolean not null,
      -- The rows that were read; fewer than all of them in a sample.
      profiled_rows bigint not null,
      is_sampled boolean not null,
      statements integer not null,
      milliseconds integer not null,
      columns jsonb not null
    );
    create index profiles_table on profiles (table_id, profiled_at desc, id desc);
    create index profiles_source on profiles (source_id);
    create index profiles_age on profiles (profiled_at);
  `)
  await isolate(knex, 'profiles')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'profiles')
}
