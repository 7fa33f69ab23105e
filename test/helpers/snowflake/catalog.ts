import type { Warehouse } from '../warehouse.ts'
import { VARIANT, type CreateTable } from './ddl.ts'
import { decodedSql, encodeName, quoteName, quoteText, SnowflakeError, type Token } from './tokens.ts'
import { INFORMATION_SCHEMA } from './translate.ts'

const OWN = quoteName(INFORMATION_SCHEMA)

/**
 * Makes a database with the views of its INFORMATION_SCHEMA that are read, with Snowflake's names, types and values
 * (https://docs.snowflake.com/en/sql-reference/info-schema/tables and …/columns).
 */
export async function makeDatabase(warehouse: Warehouse, database: string, schema: string): Promise<void> {
  await warehouse.execute(
    `create or replace macro memory.main.snowflake_convert_timezone(zone, value) as cast(value as timestamptz)`,
  )
  const home = `${quoteName(database)}.${OWN}`
  const ours = `database_name = ${quoteText(database)} and schema_name not in (${quoteText(INFORMATION_SCHEMA)}, 'main')`
  const name = decodedSql
  const moments = `coalesce(made.created, now()) as CREATED, coalesce(made.altered, now()) as LAST_ALTERED,
    coalesce(made.defined, now()) as LAST_DDL`
  for (const statement of [
    `attach ':memory:' as ${quoteName(database)}`,
    `create schema ${quoteName(database)}.${quoteName(schema)}`,
    `create schema ${home}`,
    `create table ${home}.declared (tbl varchar, col varchar, type varchar, len bigint, prec bigint, scale bigint, fraction bigint)`,
    `create table ${home}.clustered (tbl varchar, key varchar)`,
    `create table ${home}.made (tbl varchar, created timestamptz, altered timestamptz, defined timestamptz)`,
    `create table ${home}.keys (kind varchar, tbl varchar, name varchar, seq bigint, col varchar, to_table varchar, to_col varchar, db varchar, sch varchar)`,
    `create view ${home}.SCHEMATA as
      select database_name as CATALOG_NAME, ${name('schema_name')} as SCHEMA_NAME from duckdb_schemas() where ${ours}`,
    `create view ${home}.TABLES as
      select database_name as TABLE_CATALOG, ${name('schema_name')} as TABLE_SCHEMA, ${name('table_name')} as TABLE_NAME,
        'BASE TABLE' as TABLE_TYPE, estimated_size as ROW_COUNT, comment as COMMENT, ${moments},
        clustered.key as CLUSTERING_KEY
      from duckdb_tables() left join ${home}.made on made.tbl = table_name
      left join ${home}.clustered on clustered.tbl = table_name where ${ours}
      union all
      select database_name, ${name('schema_name')}, ${name('view_name')}, 'VIEW', null, comment, now(), now(), now(), null
      from duckdb_views() where ${ours}
      union all
      select ${quoteText(database)}, 'INFORMATION_SCHEMA', 'TABLES', 'VIEW', null, 'The tables', now(), now(), now(), null`,
    `create view ${home}.VIEWS as
      select database_name as TABLE_CATALOG, ${name('schema_name')} as TABLE_SCHEMA, ${name('view_name')} as TABLE_NAME,
        sql as VIEW_DEFINITION from duckdb_views() where ${ours}`,
    `create view ${home}.COLUMNS as
      select database_name as TABLE_CATALOG, ${name('schema_name')} as TABLE_SCHEMA, ${name('table_name')} as TABLE_NAME,
        ${name('column_name')} as COLUMN_NAME, column_index as ORDINAL_POSITION, column_default as COLUMN_DEFAULT,
        case when is_nullable then 'YES' else 'NO' end as IS_NULLABLE,
        coalesce(d.type, case when data_type like 'DECIMAL%' or data_type like '%INT' then 'NUMBER'
          when data_type = 'VARCHAR' then 'TEXT' when data_type = 'DOUBLE' then 'FLOAT'
          when data_type = 'TIMESTAMP' then 'TIMESTAMP_NTZ' else data_type end) as DATA_TYPE,
        coalesce(d.len, case when data_type = 'VARCHAR' then 16777216 end) as CHARACTER_MAXIMUM_LENGTH,
        coalesce(d.prec, numeric_precision) as NUMERIC_PRECISION, coalesce(d.scale, numeric_scale) as NUMERIC_SCALE,
        d.fraction as DATETIME_PRECISION, comment as COMMENT
      from duckdb_columns() left join ${home}.declared d on d.tbl = table_name and d.col = column_name
      where ${ours}`,
    // https://docs.snowflake.com/en/sql-reference/info-schema/table_constraints
    `create view ${home}.TABLE_CONSTRAINTS as
      select distinct db as CONSTRAINT_CATALOG, sch as CONSTRAINT_SCHEMA, name as CONSTRAINT_NAME,
        db as TABLE_CATALOG, sch as TABLE_SCHEMA, tbl as TABLE_NAME,
        case kind when 'PRIMARY' then 'PRIMARY KEY' when 'IMPORTED' then 'FOREIGN KEY' else kind end as CONSTRAINT_TYPE
      from ${home}.keys`,
  ]) {
    await warehouse.execute(statement)
  }
}

/** Keeps what DuckDB does not: types as declared, and keys, which Snowflake does not enforce. */
export async function recordTable(
  warehouse: Warehouse,
  { table, columns, keys, clustering }: CreateTable,
): Promise<void> {
  const [database = '', schema = '', name = ''] = table
  const home = `${quoteName(database)}.${OWN}`
  const encoded = (text: string) =>
    `'${quoteName(text).slice(1, -1).replaceAll('""', '"').replaceAll("'", "''")}'`
  const number = (value: number | undefined) => String(value ?? 'null')
  const values = columns.map(
    ({ name: column, type, length, precision, scale, fraction }) =>
      `(${encoded(name)}, ${encoded(column)}, ${quoteText(type)}, ${[length, precision, scale, fraction].map(number).join(', ')})`,
  )
  await warehouse.execute(`insert into ${home}.declared values ${values.join(', ')}`)
  await warehouse.execute(`insert into ${home}.made values (${encoded(name)}, now(), now(), now())`)
  if (clustering !== null)
    await warehouse.execute(
      `insert into ${home}.clustered values (${encoded(name)}, ${quoteText(`LINEAR(${clustering})`)})`,
    )
  for (const [index, { kind, columns: own, to }] of keys.entries()) {
    const rows = own.map((column, position) => {
      const [, , target = ''] = to?.table ?? []
      const described = [
        kind,
        name,
        `SYS_CONSTRAINT_${index}`,
        position + 1,
        column,
        target,
        to?.columns[position] ?? '',
      ]
      return `(${[...described, database, schema].map(value => quoteText(String(value))).join(', ')})`
    })
    await warehouse.execute(`insert into ${home}.keys values ${rows.join(', ')}`)
  }
}

/** Keeps that rows of a table were written now, when the owner's statement does that. */
export async function touch(
  warehouse: Warehouse,
  database: string,
  [first, second, ...rest]: readonly Token[],
): Promise<void> {
  if (first?.text !== 'INSERT' || second?.text !== 'INTO') return
  const end = rest.findIndex(({ text }, index) => index % 2 === 1 && text !== '.')
  const name = rest[end - 1]?.text ?? ''
  await warehouse.execute(
    `update ${quoteName(database)}.${OWN}.made set altered = now() where tbl = ${quoteText(encodeName(name))}`,
  )
}

/** Keeps when a table was made, altered and defined, for tests of times. */
export async function setMoments(
  warehouse: Warehouse,
  database: string,
  table: string,
  [created, altered, defined]: [Date, Date, Date],
): Promise<void> {
  const times = [created, altered, defined].map(time => quoteText(time.toISOString()))
  const name = quoteText(encodeName(table))
  const made = `${quoteName(database)}.${OWN}.made`
  await warehouse.execute(`delete from ${made} where tbl = ${name}`)
  await warehouse.execute(`insert into ${made} values (${name}, ${times.join(', ')})`)
}

/** DuckDB's SQL of SHOW … KEYS (https://docs.snowflake.com/en/sql-reference/sql/show-primary-keys); null of another. */
export async function showKeys(warehouse: Warehouse, tokens: readonly Token[]): Promise<string | null> {
  const words = tokens.map(({ kind, text }) => (kind === 'word' ? text : kind))
  const shape = words.join(' ').replaceAll(' sign ', '.')
  const match =
    /^SHOW (PRIMARY|UNIQUE|IMPORTED) KEYS IN (DATABASE quoted|SCHEMA quoted\.quoted|TABLE quoted\.quoted\.quoted)$/.exec(
      shape,
    )
  if (!match) return null
  const [database = '', schema, table] = tokens.flatMap(({ kind, text }) => (kind === 'quoted' ? [text] : []))
  await refuseMissing(warehouse, database, schema)
  const ofSchema = schema === undefined ? '' : ` and sch = ${quoteText(schema)}`
  const ofTable = table === undefined ? '' : ` and tbl = ${quoteText(table)}`
  const where = `kind = '${match[1]}'${ofSchema}${ofTable} order by sch, tbl, name, seq`
  const from = `from ${quoteName(database)}.${OWN}.keys where ${where} limit 10000`
  if (match[1] !== 'IMPORTED')
    return `select now() as "created_on", db as "database_name", sch as "schema_name", tbl as "table_name",
      col as "column_name", seq as "key_sequence", name as "constraint_name", 'false' as "rely", null as "comment" ${from}`
  return `select now() as "created_on", db as "pk_database_name", sch as "pk_schema_name", to_table as "pk_table_name",
    to_col as "pk_column_name", db as "fk_database_name", sch as "fk_schema_name", tbl as "fk_table_name",
    col as "fk_column_name", seq as "key_sequence", 'NO ACTION' as "update_rule", 'NO ACTION' as "delete_rule",
    name as "fk_name", 'SYS_CONSTRAINT_0' as "pk_name", 'NOT DEFERRABLE' as "deferrability", 'false' as "rely",
    null as "comment" ${from}`
}

async function refuseMissing(warehouse: Warehouse, database: string, schema?: string): Promise<void> {
  const { rows } = await warehouse.execute(
    `select ${decodedSql('schema_name')} from duckdb_schemas() where database_name = ${quoteText(database)}`,
  )
  if (rows.length > 0 && (schema === undefined || rows.some(([name]) => name === schema))) return
  const message = 'SQL compilation error:\nObject does not exist, or operation cannot be performed.'
  throw new SnowflakeError('002043', '02000', message)
}

const WIRE: readonly (readonly [RegExp, string])[] = [
  [/^(DECIMAL|TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|UBIGINT)/, 'fixed'],
  [/^(DOUBLE|FLOAT)/, 'real'],
  [/^BOOLEAN/, 'boolean'],
  [/^BLOB/, 'binary'],
  [/^DATE/, 'date'],
  [/^TIMESTAMP WITH TIME ZONE/, 'timestamp_ltz'],
  [/^TIMESTAMP/, 'timestamp_ntz'],
  [/^TIME/, 'time'],
  [/^UNION/, 'variant'],
]

/** The wire's type of a column, from DuckDB's. */
export function wireType(type: string): { type: string; scale: number | null; precision: number | null } {
  const name = type === VARIANT ? 'variant' : (WIRE.find(([pattern]) => pattern.test(type))?.[1] ?? 'text')
  const [, precision, scale] = /^DECIMAL\((\d+),\s*(\d+)\)/.exec(type) ?? []
  if (name === 'fixed') return { type: name, scale: Number(scale ?? 0), precision: Number(precision ?? 38) }
  return { type: name, scale: /^time/.test(name) ? 9 : null, precision: /^time/.test(name) ? 0 : null }
}

/** A value as the wire writes it, from DuckDB's print. */
export function wireValue(text: string, type: string): string {
  if (type === 'date') return String(Date.parse(`${text}T00:00:00Z`) / 86_400_000)
  if (type === 'binary') return text.toUpperCase()
  if (type === 'real')
    return ({ Infinity: 'inf', '-Infinity': '-inf' } as Record<string, string>)[text] ?? text
  if (type === 'time') return `${secondsOf(`1970-01-01 ${text}`)}`
  return type.startsWith('timestamp') ? secondsOf(text.replace(/\+00$/, '')) : text
}

/** Seconds since 1970 with nine decimals. */
function secondsOf(moment: string): string {
  const [whole = '', fraction = ''] = moment.split('.')
  const milliseconds = BigInt(Date.parse(`${whole.replace(' ', 'T')}Z`))
  const nanoseconds = milliseconds * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
  const digits = String(nanoseconds < 0n ? -nanoseconds : nanoseconds).padStart(10, '0')
  return `${nanoseconds < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`
}
