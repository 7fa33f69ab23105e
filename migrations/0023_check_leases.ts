import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Tables that a manual check is about to scan. A version that does not know them scans a table once more at worst. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A row per table that a manual check still has to scan; a process that died leaves its rows until they expire.
    create table check_leases (
      company_id uuid not null references companies on delete cascade,
      table_id uuid not null references tables on delete cascade,
      holder uuid not null,
      expires_at timestamptz not null,
      primary key (table_id, holder)
    );
    create index check_leases_holder on check_leases (company_id, holder);
  `)
  await isolate(knex, 'check_leases')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'check_leases')
}
