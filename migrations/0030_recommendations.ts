import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** What people decided on recommended checks, and which sources are watched with all their tables. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table recommendations (
      -- The table, and a hash of what the check is: it is the same for the same check, whatever the evidence.
      id text primary key,
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- A table is only removed with its source.
      table_id uuid not null,
      type text not null,
      column_name text,
      -- Null until it is decided.
      decision text check (decision in ('applied', 'dismissed')),
      reason text,
      -- user:<id>, key:<id>, or policy.
      decided_by text,
      decided_at timestamptz,
      -- What the check would have said in the past, as it was last computed.
      past jsonb,
      past_at timestamptz
    );
    create index recommendations_table on recommendations (table_id);
    create index recommendations_source on recommendations (source_id);

    create table watch_policies (
      source_id uuid primary key references sources on delete cascade,
      company_id uuid not null references companies on delete cascade,
      level text not null check (level in ('light', 'standard', 'deep')),
      include_patterns text[] not null,
      exclude_patterns text[] not null,
      -- The time up to which what was discovered and profiled is watched; null until it was applied.
      applied_at timestamptz,
      -- When a job was sent to apply it, until one begins.
      requested_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index watch_policies_company on watch_policies (company_id);
  `)
  await isolate(knex, 'recommendations', 'watch_policies')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'recommendations', 'watch_policies')
}
