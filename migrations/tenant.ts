import type { Knex } from 'knex'

/**
 * Restricts a table to one company per transaction with row-level security, which is forced on the owner too. The
 * application role sees the rows of the company in `app.company`; after an earlier transaction that setting is '',
 * hence nullif. The owner sees all rows, for sign-in, sweeps and migrations.
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

/** Drops tables in reverse order of creation. */
export async function drop(knex: Knex, ...tables: string[]): Promise<void> {
  for (const table of tables.reverse()) await knex.raw(`drop table if exists ${table} cascade`)
}
