import type { Warehouse } from '../warehouse.ts'
import { quoteName, quoteText } from './tokens.ts'
import { viewsOf } from './translate.ts'

/** Holds what BigQuery's catalog has and DuckDB's has not. */
const META = 'META'

export interface DatasetSpec {
  name: string
  location: string
}

/** A column as it was declared. */
export interface DeclaredColumn {
  name: string
  rawType: string
  nullable: boolean
  preset: string
}

/** A key as it was declared; a foreign one with what it refers to. */
export interface DeclaredKey {
  name: string
  columns: string[]
  target?: { dataset: string; table: string; columns: string[] }
}

/** What is kept of tables, beside the tables themselves. */
export interface DeclaredPartitioning {
  column?: string
  clustering: string[]
  requiresFilter: boolean
}

export interface Catalog {
  /** Makes a table known. */
  add(
    dataset: string,
    table: string,
    type: string,
    columns: DeclaredColumn[],
    keys: DeclaredKey[],
  ): Promise<void>
  remove(dataset: string, table: string): Promise<void>
  /** Whether there is such a table. */
  has(dataset: string, table: string): Promise<boolean>
  /** The columns of a table's primary key, in their order. */
  primaryKey(dataset: string, table: string): Promise<string[]>
  /** What follows the columns in CREATE TABLE: by which column rows are partitioned, and clustered. */
  partition(dataset: string, table: string, declared: DeclaredPartitioning): Promise<void>
  /** A description, of the table or of one of its columns. */
  describe(dataset: string, table: string, column: string | null, description: string): Promise<void>
  /** Counts the rows again, as BigQuery does when rows were written. */
  measure(dataset: string, table: string): Promise<void>
}

/** Makes the project's database with its datasets and their INFORMATION_SCHEMA. */
export async function makeCatalog(
  warehouse: Warehouse,
  project: string,
  datasets: readonly DatasetSpec[],
): Promise<Catalog> {
  const meta = (table: string) => `${quoteName(project)}.${META}.${table}`
  const run = (text: string) => warehouse.execute(text)
  const at = (dataset: string, table: string) =>
    `dataset = ${quoteText(dataset)} and table_name = ${quoteText(table)}`
  await run(`attach ':memory:' as ${quoteName(project)}`)
  await run(`create schema ${quoteName(project)}.${META}`)
  await run(`create table ${meta('datasets')} (dataset varchar, location varchar)`)
  await run(
    `create table ${meta('tables')} (dataset varchar, table_name varchar, table_type varchar, option_value varchar, ` +
      `total_rows bigint, modified timestamptz)`,
  )
  await run(
    `create table ${meta('columns')} (dataset varchar, table_name varchar, column_name varchar, ordinal_position bigint, ` +
      `data_type varchar, is_nullable varchar, column_default varchar, description varchar, partitioned varchar, ` +
      `clustered bigint)`,
  )
  for (const name of ['filtered', 'ingested'])
    await run(`create table ${meta(name)} (dataset varchar, table_name varchar)`)
  await run(
    `create table ${meta('keys')} (dataset varchar, table_name varchar, constraint_name varchar, column_name varchar, ` +
      `ordinal_position bigint, position_in_unique_constraint bigint)`,
  )
  await run(
    `create table ${meta('targets')} (dataset varchar, table_name varchar, constraint_name varchar, column_name varchar)`,
  )
  for (const { name, location } of datasets) {
    await run(`create schema ${quoteName(project)}.${quoteName(name)}`)
    await run(`insert into ${meta('datasets')} values (${quoteText(name)}, ${quoteText(location)})`)
    await makeViews(name, `dataset = ${quoteText(name)}`, true)
  }
  for (const region of new Set(datasets.map(({ location }) => location))) {
    const within = `dataset in (select dataset from ${meta('datasets')} where location = ${quoteText(region)})`
    await makeViews(`region-${region.toLowerCase()}`, within, false)
  }
  await run(`create macro bigquery_format(pattern, value) as cast(value as varchar)`)
  await run(`create macro bigquery_timestamp_millis(value) as make_timestamptz(value * 1000)`)
  await run(`create macro bigquery_unix_seconds(value) as cast(floor(epoch_us(value) / 1000000) as bigint)`)
  await run(`create macro bigquery_countif(condition) as count(case when condition then 1 end)`)
  await run(`create macro bigquery_error(message) as error(message)`)

  /** https://cloud.google.com/bigquery/docs/information-schema-tables and its neighbours, column by column. */
  async function makeViews(qualifier: string, where: string, isDataset: boolean): Promise<void> {
    const schema = `${quoteName(project)}.${quoteName(viewsOf(qualifier))}`
    await run(`create schema ${schema}`)
    const own = `${quoteText(project)} as table_catalog, dataset as table_schema, table_name`
    const view = (name: string, select: string) =>
      run(`create view ${schema}.${quoteName(name)} as ${select} ${where}`)
    await view(
      'TABLES',
      `select ${own}, table_type, 'YES' as is_insertable_into from ${meta('tables')} where`,
    )
    await view(
      'TABLE_OPTIONS',
      `select ${own}, 'description' as option_name, 'STRING' as option_type, option_value from ${meta('tables')} ` +
        `where option_value is not null and ${where} union all ` +
        `select ${own}, 'require_partition_filter', 'BOOL', 'true' from ${meta('filtered')} where`,
    )
    // A table that is partitioned by the time of its rows' arrival has a pseudo column for it.
    const isIngestion = `exists (select 1 from ${meta('ingested')} i where i.dataset = b.dataset and i.table_name = b.table_name)`
    const hidden =
      `select b.dataset, b.table_name, '_PARTITIONTIME', null, 'TIMESTAMP', 'YES', 'NULL', null, ` +
      `case when ${isIngestion} then 'YES' else 'NO' end, null, 'YES' ` +
      `from ${meta('tables')} b where table_type = 'BASE TABLE'`
    await view(
      'COLUMNS',
      `select ${own}, column_name, ordinal_position, is_nullable, data_type, is_hidden, column_default, ` +
        `partitioned as is_partitioning_column, clustered as clustering_ordinal_position from (select *, 'NO' as is_hidden from ${meta('columns')} union all ${hidden}) where`,
    )
    await view(
      'COLUMN_FIELD_PATHS',
      `select ${own}, column_name, column_name as field_path, data_type, description from ${meta('columns')} where`,
    )
    await view(
      'VIEWS',
      `select ${own}, (select sql from duckdb_views() v where v.schema_name = dataset and v.view_name = table_name) ` +
        `as view_definition from ${meta('tables')} where table_type = 'VIEW' and`,
    )
    if (!isDataset) {
      const gone = `select dataset, table_name, table_type, 999, timestamptz '2020-01-01 00:00:00+00', true from ${meta('tables')}`
      // For tables and materialized views; not for views, external tables, clones and snapshots.
      const there =
        `select dataset, table_name, table_type, total_rows, modified, false as deleted from ${meta('tables')} ` +
        `where table_type in ('BASE TABLE', 'MATERIALIZED VIEW')`
      await view(
        'TABLE_STORAGE',
        `select ${own}, table_type, total_rows, modified as storage_last_modified_time, deleted from (${there} union all ${gone}) where`,
      )
      return
    }
    await view(
      'KEY_COLUMN_USAGE',
      `select ${own}, constraint_name, column_name, ordinal_position, position_in_unique_constraint ` +
        `from ${meta('keys')} where`,
    )
    await view(
      'CONSTRAINT_COLUMN_USAGE',
      `select ${own}, constraint_name, column_name from ${meta('targets')} where`,
    )
    await view(
      '__TABLES__',
      `select ${quoteText(project)} as project_id, dataset as dataset_id, table_name as table_id, total_rows as row_count, ` +
        `epoch_ms(modified) as last_modified_time, case table_type when 'BASE TABLE' then 1 when 'VIEW' then 2 else 4 end as type ` +
        `from ${meta('tables')} where`,
    )
  }

  async function primaryKey(dataset: string, table: string): Promise<string[]> {
    const own = `${at(dataset, table)} and position_in_unique_constraint is null`
    const { rows } = await run(
      `select column_name from ${meta('keys')} where ${own} order by ordinal_position`,
    )
    return rows.map(([name]) => name ?? '')
  }

  return {
    async add(dataset, table, type, columns, keys) {
      const id = `${quoteText(dataset)}, ${quoteText(table)}`
      await run(`insert into ${meta('tables')} values (${id}, ${quoteText(type)}, null, 0, now())`)
      for (const [index, { name, rawType, nullable, preset }] of columns.entries()) {
        const words = [rawType, nullable ? 'YES' : 'NO', preset].map(quoteText).join(', ')
        await run(
          `insert into ${meta('columns')} values (${id}, ${quoteText(name)}, ${index + 1}, ${words}, null, 'NO', null)`,
        )
      }
      for (const { name, columns: parts, target } of keys) {
        const there = target && (await primaryKey(target.dataset, target.table))
        for (const [index, column] of parts.entries()) {
          const referred = there ? there.indexOf(target?.columns[index] ?? '') + 1 : 'null'
          const key = `${quoteText(name)}, ${quoteText(column)}, ${index + 1}, ${referred}`
          await run(`insert into ${meta('keys')} values (${id}, ${key})`)
        }
        const to = target ? `${quoteText(target.dataset)}, ${quoteText(target.table)}` : id
        for (const column of target?.columns ?? parts)
          await run(`insert into ${meta('targets')} values (${to}, ${quoteText(name)}, ${quoteText(column)})`)
      }
    },
    async remove(dataset, table) {
      for (const name of ['tables', 'columns', 'keys', 'targets', 'filtered', 'ingested'])
        await run(`delete from ${meta(name)} where ${at(dataset, table)}`)
    },
    async has(dataset, table) {
      const { rows } = await run(`select 1 from ${meta('tables')} where ${at(dataset, table)}`)
      return rows.length > 0
    },
    primaryKey,
    async partition(dataset, table, { column, clustering, requiresFilter }) {
      const id = `${quoteText(dataset)}, ${quoteText(table)}`
      const set = (name: string, value: string) =>
        run(
          `update ${meta('columns')} set ${value} where ${at(dataset, table)} and column_name = ${quoteText(name)}`,
        )
      if (column === '_PARTITIONTIME') await run(`insert into ${meta('ingested')} values (${id})`)
      else if (column !== undefined) await set(column, `partitioned = 'YES'`)
      for (const [index, name] of clustering.entries()) await set(name, `clustered = ${index + 1}`)
      if (requiresFilter) await run(`insert into ${meta('filtered')} values (${id})`)
    },
    async describe(dataset, table, column, description) {
      const where = at(dataset, table)
      if (column === null) {
        const literal = JSON.stringify(description)
        await run(`update ${meta('tables')} set option_value = ${quoteText(literal)} where ${where}`)
      } else {
        const own = `${where} and column_name = ${quoteText(column)}`
        await run(`update ${meta('columns')} set description = ${quoteText(description)} where ${own}`)
      }
    },
    async measure(dataset, table) {
      const path = [project, dataset, table].map(quoteName).join('.')
      const rows = `(select count(*) from ${path})`
      await run(
        `update ${meta('tables')} set total_rows = ${rows}, modified = now() where ${at(dataset, table)}`,
      )
    },
  }
}
