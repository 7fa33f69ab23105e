import type { Knex } from 'knex'
import { drop, isolate } from './tenant.ts'

/** Usage of sources per day and purpose, and the state of their circuit breakers. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table source_usage (
      company_id uuid not null references companies on delete cascade,
      source_id uuid not null references sources on delete cascade,
      -- Of UTC.
      day date not null,
      purpose text not null,
      sessions bigint not null,
      statements bigint not null,
      failures bigint not null,
      rows bigint not null,
      bytes bigint not null,
      milliseconds bigint not null,
      primary key (source_id, day, purpose)
    );
    create index source_usage_day on source_usage (day);

    alter table sources
      -- Connections in a row that failed, and since when.
      add column connection_failures integer not null default 0,
      add column failing_since timestamptz,
      -- Before this, nothing that is scheduled dials; null while there is no such pause.
      add column dial_after timestamptz,
      add column pause_seconds integer not null default 0,
      -- Until when the one try after a pause may take; the others wait for what it finds.
      add column trial_until timestamptz;
    create index sources_left_alone on sources (source_type) where dial_after is not null;
  `)
  await isolate(knex, 'source_usage')
}

export async function down(knex: Knex): Promise<void> {
  await drop(knex, 'source_usage')
  await knex.raw(`
    alter table sources drop column connection_failures, drop column failing_since, drop column dial_after,
      drop column pause_seconds, drop column trial_until
  `)
}
