import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Access level and session limit of sources, and the mark of backfilled results. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table sources
      add column query_access_level text not null default 'full'
        check (query_access_level in ('schema_only', 'aggregates', 'full')),
      add column max_concurrency integer not null default 2 check (max_concurrency between 1 and 20),
      add column statement_timeout_seconds integer check (statement_timeout_seconds between 1 and 3600);

    -- One row a session that is open at a source; a holder that died leaves its row until it expires.
    create table source_sessions (
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      place integer not null,
      holder uuid not null,
      expires_at timestamptz not null,
      primary key (source_id, place)
    );

    alter table validity_results add column is_backfilled boolean not null default false;
    alter table metric_snapshots add column is_backfilled boolean not null default false;
  `)
  await isolate(knex, 'source_sessions')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'source_sessions')
  await knex.raw(`
    alter table sources drop column query_access_level, drop column max_concurrency,
      drop column statement_timeout_seconds;
    alter table validity_results drop column is_backfilled;
    alter table metric_snapshots drop column is_backfilled;
  `)
}
