import type { Knex } from 'knex'

/**
 * Holds a table to one company a transaction: row-level security, forced on the owner too. The application
 * role sees the company named by `app.company`; unset it is '' after an earlier transaction, hence nullif.
 * The owner sees all, for sign-in, sweeps and migrations.
 */
export async function isolate(knex: Knex, ...tables: string[]): Promise<void> {
  for (const table of tables) {
    await knex.raw(`
      alter table ${table} enable row level security;
      alter table ${table} force row level security;
      create policy company on ${table}
        using (company_id = nullif(current_setting('app.company', true), '')::uuid)
        with check (company_id = nullif(current_setting('app.company', true), '')::uuid);
      create policy owner on ${table} to current_user using (true) with check (true);
    `)
  }
}

/** Drops tables, the last made first. */
export async function drop(knex: Knex, ...tables: string[]): Promise<void> {
  for (const table of tables.reverse()) await knex.raw(`drop table if exists ${table} cascade`)
}
