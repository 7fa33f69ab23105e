import type { Knex } from 'knex'

/** A table that is partitioned by months. */
interface PartitionedTable {
  table: string
  /** The column with the month of a row. */
  by: string
  /** Whether that column is a UUID v7, which starts with a time, and not a time itself. */
  isUuid?: true
  /** Columns that are unique within a month. */
  unique?: string
  /** The column that refers to a row of another table in the same month. */
  parent?: { column: string; table: string }
  /** Storage parameters of each partition. */
  storage?: string
}

/**
 * Creates the first partitions of a table: one up to the end of this month, and one for all later rows, which
 * `server/database/partitions.ts` splits into months. They are in a schema where the application role has no rights, so
 * it reaches them only through their table, where row-level security applies.
 */
export async function partition(
  knex: Knex,
  { table, by, isUuid, unique, parent, storage = '' }: PartitionedTable,
): Promise<void> {
  await knex.raw(`
    create schema if not exists partitions;
    revoke all on schema partitions from public;
    do $$ declare
      edge timestamptz := (date_trunc('month', now() at time zone 'UTC') + interval '1 month') at time zone 'UTC';
      bound text := ${
        isUuid
          ? // The least UUID v7 of the millisecond.
            `cast(lpad(to_hex(cast(extract(epoch from edge) * 1000 as bigint)), 12, '0') || '70008000000000000000' as uuid)`
          : 'edge'
      };
    begin
      execute format('create table partitions.${table}_past partition of ${table}
        for values from (minvalue) to (%L) ${storage}', bound);
      execute format('create table partitions.${table}_later partition of ${table}
        for values from (%L) to (maxvalue) ${storage}', bound);
    end $$;
  `)
  for (const part of ['past', 'later']) {
    const name = `partitions.${table}_${part}`
    // Across months, a lock on the row they belong to ensures it.
    if (unique) await knex.raw(`create unique index on ${name} (${unique})`)
    // A foreign key to all months would prevent dropping any of them.
    if (parent)
      await knex.raw(`alter table ${name} add foreign key (${parent.column})
        references partitions.${parent.table}_${part} on delete cascade`)
  }
  // Finds expired rows, which are deleted one by one where a month is not dropped as a whole. A UUID has the primary key.
  if (!isUuid) await knex.raw(`create index ${table}_past_age on partitions.${table}_past (${by})`)
}
