import type { Knex } from 'knex'

/** The checks that are listed, with what their status and the text that searches look in follow from. */
const CHECKS = [
  {
    ...{ table: 'validity_rules', number: 'id', status: 'latest_status', isLearning: 'is_learning' },
    text: `lower(name || ' ' || rule_type || coalesce(' ' || column_name, ''))`,
  },
  {
    ...{ table: 'metrics', number: 'internal_id', status: 'last_status', isLearning: 'is_learning' },
    text: `lower(metric_type || coalesce(' ' || column_name, ''))`,
  },
  {
    ...{ table: 'referential_checks', number: 'internal_id', status: 'latest_status', isLearning: 'false' },
    text: `lower(name || ' referential ' || child_column_name)`,
  },
]

/**
 * Lets the list of all checks be counted, ordered and searched in its own indexes alone: a check has its status as a number,
 * the lower the more it needs attention, and its table's names in small letters. Triggers keep the names, since the version
 * before does not know them; its lists stay right, and some are slower. A check that is made while its table is being
 * renamed keeps the old name until the next renaming: with a lock, scans and discoveries would wait for each other.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function name_table_of_check() returns trigger language plpgsql as $$
    begin
      select lower(t.name), lower(t.schema_name || '.' || t.name) into new.table_name, new.table_path
        from tables t where t.company_id = new.company_id and t.id = new.table_id;
      return new;
    end $$;
    create function name_of_table(uuid) returns text stable language sql as
      'select lower(name) from tables where id = $1';
    create function path_of_table(uuid) returns text stable language sql as
      $$ select lower(schema_name || '.' || name) from tables where id = $1 $$;
  `)
  for (const { table, number, status, isLearning, text } of CHECKS)
    await knex.raw(`
      drop index ${table}_company;
      alter table ${table} add column table_name text, add column table_path text;
      -- Rows are written once, which is several times faster than an update.
      alter table ${table} alter column table_name type text using name_of_table(table_id),
        alter column table_path type text using path_of_table(table_id),
        drop column search_text,
        add column search_text text generated always as (${text} || coalesce(chr(10) || table_name, '')) stored,
        add column status_rank smallint generated always as (case
          when ${status} in ('fail', 'FAIL') then 1 when ${status} in ('error', 'ERROR') then 2
          when ${status} in ('warning', 'WARNING') then 3
          when ${status} in ('pass', 'PASS') then case when ${isLearning} then 4 else 6 end else 5 end) stored;
      create index ${table}_company on ${table} (company_id, created_at desc, ${number} desc)
        include (table_id, source_id, is_active, ${status}, status_rank, search_text, table_path);
      create index ${table}_status on ${table} (company_id, status_rank, created_at desc, ${number} desc)
        include (table_id, source_id, is_active);
      create trigger ${table}_table before insert or update of table_id on ${table}
        for each row execute function name_table_of_check();
    `)
  const renamings = CHECKS.map(
    ({
      table,
    }) => `update ${table} set table_name = lower(new.name), table_path = lower(new.schema_name || '.' || new.name)
      where company_id = new.company_id and table_id = new.id;`,
  )
  await knex.raw(`
    drop function name_of_table, path_of_table;
    create function rename_table_of_checks() returns trigger language plpgsql as $$
    begin
      ${renamings.join('\n')}
      return null;
    end $$;
    create trigger tables_renamed after update of schema_name, name on tables for each row
      when ((old.schema_name, old.name) is distinct from (new.schema_name, new.name))
      execute function rename_table_of_checks();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop trigger tables_renamed on tables;
    drop function rename_table_of_checks;
  `)
  for (const { table, number, status, isLearning, text } of CHECKS)
    await knex.raw(`
      drop trigger ${table}_table on ${table};
      drop index ${table}_status;
      drop index ${table}_company;
      alter table ${table} drop column status_rank, drop column search_text, drop column table_path,
        drop column table_name, add column search_text text generated always as (${text}) stored;
      create index ${table}_company on ${table} (company_id, created_at desc, ${number} desc)
        include (table_id, source_id, is_active, ${status}, ${isLearning === 'false' ? '' : `${isLearning}, `}search_text);
    `)
  await knex.raw('drop function name_table_of_check')
}
