import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** What is kept of the parts of tables, so that those which did not change are not read again; and how tables are read. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table table_parts (
      company_id uuid not null references companies on delete cascade,
      table_id uuid not null references tables on delete cascade,
      part text not null,
      -- As it was before the part was read: all that is kept of it is of that version.
      version text not null,
      read_at timestamptz not null default now(),
      rows bigint,
      -- Numbers by the hash of the SQL that measures them, each with the second at which it was read.
      states jsonb not null,
      -- When a number that was read again was another one, at the same version: either the source had not counted a change
      -- yet, and the version moves, or it does not count all changes.
      differed_at timestamptz,
      primary key (table_id, part)
    );
    create index table_parts_company on table_parts (company_id);

    -- A row that is not there stands for the defaults.
    create table table_part_settings (
      table_id uuid primary key references tables on delete cascade,
      company_id uuid not null references companies on delete cascade,
      -- auto: by parts where the table is large; changed: always by parts, whole: never.
      reads text not null default 'auto' check (reads in ('auto', 'changed', 'whole')),
      -- Null for the setting of the service.
      rescan_days integer check (rescan_days between 1 and 90),
      -- When reading by parts was found wrong and ended, and the parts that were.
      differed_at timestamptz,
      differed_parts text[] not null default '{}'
    );
    create index table_part_settings_company on table_part_settings (company_id);

    alter table scan_costs
      add parts bigint not null default 0,
      add parts_read bigint not null default 0,
      add rows_read bigint not null default 0,
      add rows_known bigint not null default 0,
      add last_parts bigint,
      add last_parts_read bigint,
      add last_rows_read bigint,
      add last_rows_known bigint;
  `)
  await isolate(knex, 'table_parts', 'table_part_settings')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'table_parts', 'table_part_settings')
  await knex.raw(`
    alter table scan_costs drop parts, drop parts_read, drop rows_read, drop rows_known,
      drop last_parts, drop last_parts_read, drop last_rows_read, drop last_rows_known`)
}
