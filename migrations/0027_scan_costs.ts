import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** What the scans of each table used of its source: the last one, and those of each day added up. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table scan_costs (
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- A table is only removed with its source.
      table_id uuid not null,
      -- In UTC.
      day date not null,
      scans bigint not null,
      statements bigint not null,
      rows bigint not null,
      bytes bigint not null,
      milliseconds bigint not null,
      last_at timestamptz not null,
      last_checks integer not null,
      last_statements bigint not null,
      last_rows bigint not null,
      last_bytes bigint not null,
      last_milliseconds bigint not null,
      primary key (table_id, day)
      -- A day's row is updated by each scan: room on its page keeps the indexes as they are.
    ) with (fillfactor = 80);
    create index scan_costs_source on scan_costs (source_id, day);
    create index scan_costs_day on scan_costs (day);
  `)
  await isolate(knex, 'scan_costs')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'scan_costs')
}
