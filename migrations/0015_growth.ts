import type { Knex } from 'knex'
import { isolate } from './tenant.ts'

/** A table that grows, as it was before. */
interface Growing {
  table: string
  /** The column with the month of a row: a time, or a UUID v7, which starts with one. */
  by: string
  /** Columns of the primary key before and after; it must contain `by`. */
  keys: [string, string]
  /** Columns that were unique in the old table. */
  slot?: string
}

/** Tables that refer to other tables of this list come last. */
const GROWING: Growing[] = [
  {
    table: 'validity_results',
    by: 'checked_at',
    keys: ['id', 'id, checked_at'],
    slot: 'validity_rule_id, scheduled_for',
  },
  {
    table: 'metric_snapshots',
    by: 'captured_at',
    keys: ['id', 'id, captured_at'],
    slot: 'metric_id, group_values, scheduled_for',
  },
  {
    table: 'referential_results',
    by: 'checked_at',
    keys: ['id', 'id, checked_at'],
    slot: 'referential_check_id, scheduled_for',
  },
  { table: 'freshness_checks', by: 'checked_at', keys: ['id', 'id, checked_at'] },
  { table: 'schema_changes', by: 'detected_at', keys: ['id', 'id, detected_at'] },
  { table: 'deliveries', by: 'id', keys: ['id', 'id'] },
  { table: 'delivery_attempts', by: 'delivery_id', keys: ['delivery_id, n', 'delivery_id, n'] },
]

/**
 * Partitions growing tables by month, so that a month can be dropped as a whole. No row is moved: existing rows become
 * the first partition, up to the end of this month. Partitions are in a schema where the application role has no
 * rights, so it reaches them only through their table, where row-level security applies.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create schema partitions;
    revoke all on schema partitions from public;
    -- Tests of destinations go with their month now.
    drop index deliveries_tests;
    drop index schema_changes_age;
    -- Without the company in front, as foreign keys ask: a removed source asks once for each of its tables.
    drop index schema_changes_table, validity_rules_table, metrics_table, referential_checks_table, sessions_user;
    create index schema_changes_table on schema_changes (table_id, company_id, detected_at desc, id desc);
    create index validity_rules_table on validity_rules (table_id);
    create index metrics_table on metrics (table_id);
    create index referential_checks_table on referential_checks (table_id);
    create index schema_baselines_table on schema_baselines (table_id) where table_id is not null;
    create index sessions_user on sessions (user_id);
    create index runs_age on runs (created_at);
    alter table delivery_attempts drop constraint delivery_attempts_delivery_id_fkey;
  `)
  for (const growing of GROWING) await cut(knex, growing)
  // Attempts have the month of their delivery. A foreign key to all months would prevent dropping any of them.
  for (const part of ['past', 'later'])
    await knex.raw(`alter table partitions.delivery_attempts_${part}
      add foreign key (delivery_id) references partitions.deliveries_${part} on delete cascade`)
}

async function cut(knex: Knex, { table, by, keys: [, key], slot }: Growing): Promise<void> {
  const past = `partitions.${table}_past`
  await knex.raw(`
    alter table ${table} rename to ${table}_past;
    alter table ${table}_past set schema partitions;
    create table ${table} (like ${past} including defaults including constraints including identity including storage)
      partition by range (${by});
    alter table ${past} drop constraint ${table}_pkey;
    alter table ${past} add primary key (${key});
    alter table ${table} add primary key (${key});
    drop policy company on ${past};
    drop policy owner on ${past};
    alter table ${past} no force row level security, disable row level security;
    ${
      // Finds expired rows.
      by.endsWith('id') ? '' : `create index ${table}_past_age on ${past} (${by});`
    }
  `)
  await isolate(knex, table)
  await knex.raw(`
    do $cut$ declare
      edge timestamptz := (date_trunc('month', now() at time zone 'UTC') + interval '1 month') at time zone 'UTC';
      bound text := edge;
      name text;
      step text;
    begin
      ${
        by.endsWith('id')
          ? // The least UUID v7 of the millisecond.
            `bound := cast(lpad(to_hex(cast(extract(epoch from edge) * 1000 as bigint)), 12, '0') || '70008000000000000000' as uuid);`
          : ''
      }
      if exists (select from pg_attribute where attrelid = '${past}'::regclass and attidentity <> '') then
        perform setval('public.${table}_id_seq', last_value, is_called) from partitions.${table}_id_seq;
        alter table ${past} alter id drop identity;
      end if;
      for step in
        select format('alter table public.${table} add constraint %I %s', conname, pg_get_constraintdef(oid))
          from pg_constraint where conrelid = '${past}'::regclass and contype = 'f' order by conname
      loop execute step; end loop;
      for name, step in
        select relname, replace(pg_get_indexdef(i.oid), ' ON ${past} ', ' ON public.${table} ')
          from pg_index join pg_class i on i.oid = indexrelid
         where indrelid = '${past}'::regclass and not indisunique and relname <> '${table}_past_age' order by i.oid
      loop
        execute step;
        execute format('alter index partitions.%I rename to %I', name, name || '_past');
      end loop;
      execute format('create table partitions.${table}_later partition of public.${table} for values from (%L) to (maxvalue)',
        bound);
      ${slot ? `create unique index on partitions.${table}_later (${slot});` : ''}
      -- Of a clock that was wrong.
      execute format('with gone as (delete from ${past} where ${by} >= %L returning *)
        insert into public.${table} overriding system value select * from gone', bound);
      execute format('alter table public.${table} attach partition ${past} for values from (minvalue) to (%L)', bound);
    end $cut$;
  `)
}

/** Merges the rows of all months into one table again. */
export async function down(knex: Knex): Promise<void> {
  for (const growing of GROWING) await join(knex, growing)
  await knex.raw(`
    alter table delivery_attempts add foreign key (delivery_id) references deliveries on delete cascade;
    create index deliveries_tests on deliveries (created_at) where alert_id is null;
    create index schema_changes_age on schema_changes (detected_at);
    drop index schema_changes_table, validity_rules_table, metrics_table, referential_checks_table, sessions_user,
      schema_baselines_table, runs_age;
    create index schema_changes_table on schema_changes (company_id, table_id, detected_at desc, id desc);
    create index validity_rules_table on validity_rules (company_id, table_id);
    create index metrics_table on metrics (company_id, table_id);
    create index referential_checks_table on referential_checks (company_id, table_id);
    create index sessions_user on sessions (company_id, user_id);
    alter table schema_changes set (autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
    drop schema partitions cascade;
  `)
}

async function join(knex: Knex, { table, keys: [key], slot }: Growing): Promise<void> {
  const cut = `partitions.${table}_cut`
  await knex.raw(`
    alter table ${table} rename to ${table}_cut;
    alter table ${table}_cut set schema partitions;
    create table ${table} (like ${cut} including defaults including constraints including identity including storage);
    insert into ${table} overriding system value select * from ${cut};
    alter table ${table} add primary key (${key});
    ${slot ? `alter table ${table} add unique (${slot});` : ''}
    do $join$ declare step text; begin
      if exists (select from pg_attribute where attrelid = '${cut}'::regclass and attidentity <> '') then
        perform setval('public.${table}_id_seq', last_value, is_called) from partitions.${table}_id_seq;
      end if;
      for step in
        select format('alter table public.${table} add constraint %I %s', conname, pg_get_constraintdef(oid))
          from pg_constraint where conrelid = '${cut}'::regclass and contype = 'f' and conparentid = 0 order by conname
      loop execute step; end loop;
      for step in
        select replace(replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON '), ' ON ${cut} ', ' ON public.${table} ')
          from pg_index where indrelid = '${cut}'::regclass and not indisunique order by indexrelid
      loop execute step; end loop;
    end $join$;
    drop table ${cut} cascade;
  `)
  await isolate(knex, table)
}
