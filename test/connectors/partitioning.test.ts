/** By which columns engines keep the rows of a table apart, as their catalogs say it. */
import t from 'tap'
import type { Connection, Connector } from '../../connectors/connector.ts'
import type { TableInfo } from '../../connectors/catalog.ts'
import { findTimeColumn } from '../../connectors/catalog.ts'
import { postgresql } from '../../connectors/postgresql/index.ts'
import { redshift } from '../../connectors/redshift/index.ts'
import { startBigquery } from '../helpers/bigquery.ts'
import { startDatabricks } from '../helpers/databricks.ts'
import { mariadbAbsent, startShop, withMysql } from '../helpers/mariadb.ts'
import { redshiftSettings, startRedshift } from '../helpers/redshift.ts'
import { startSnowflake, withSnowflake } from '../helpers/snowflake.ts'
import { connectOptions, startSource } from '../helpers/source.ts'

const read = async (connection: Connection) => byName(await connection.introspect())

function byName(tables: readonly TableInfo[]) {
  return Object.fromEntries(tables.map(table => [table.name.toLowerCase(), table.partitioning]))
}

async function readOf<Config>(connector: Connector<Config>, config: Config) {
  const connection = await connector.connect(config, connectOptions)
  try {
    return await read(connection)
  } finally {
    await connection.close()
  }
}

t.test('PostgreSQL: by range, list and hash, without expressions', async t => {
  const source = await startSource(t)
  await source.query(`
    create table by_day (id int, at timestamptz, region text) partition by range (at);
    create table by_day_1 partition of by_day for values from ('2026-01-01') to ('2026-01-02');
    create table by_region (at date, region text) partition by list (region);
    create table by_two (gone int, a date, b int) partition by range (b, a);
    alter table by_two drop column gone;
    create table by_hash (id int) partition by hash (id);
    create table by_expression (at timestamp, id int) partition by range (date_trunc('day', at), id);
    create table whole (id int)`)
  const { value } = postgresql.config.validate(source.config)
  t.same(await readOf(postgresql, value!), {
    by_day: { columns: [{ name: 'at', method: 'range' }], clustering: [] },
    by_region: { columns: [{ name: 'region', method: 'list' }], clustering: [] },
    by_two: {
      columns: [
        { name: 'b', method: 'range' },
        { name: 'a', method: 'range' },
      ],
      clustering: [],
    },
    by_hash: { columns: [{ name: 'id', method: 'hash' }], clustering: [] },
    by_expression: { columns: [{ name: 'id', method: 'range' }], clustering: [] },
    whole: undefined,
  })
})

t.test('MariaDB: by columns, and by what keeps the order of time', { skip: mariadbAbsent }, async t => {
  const shop = await startShop(t)
  for (const statement of [
    'create table by_day (`the "day"` date) partition by range columns (`the "day"`) (partition a values less than maxvalue)',
    'create table by_days (At datetime) partition by range (to_days(at)) (partition a values less than maxvalue)',
    'create table by_month (at date) partition by range (year(at) * 12 + month(at)) (partition a values less than maxvalue)',
    'create table by_two (a int, b date) partition by list columns (b, a) (partition p values in (("2026-01-01", 1)))',
    'create table by_key (id int primary key) partition by linear key (id) partitions 2',
    'create table by_parts (id int, at date) partition by range columns (at) subpartition by hash (id) subpartitions 2 (partition a values less than maxvalue)',
    'create table whole (id int)',
  ])
    await shop.query(statement)
  t.same(await withMysql(shop.config, read), {
    by_day: { columns: [{ name: 'the "day"', method: 'range' }], clustering: [] },
    by_days: { columns: [{ name: 'At', method: 'range' }], clustering: [] },
    by_month: undefined,
    by_two: {
      columns: [
        { name: 'b', method: 'list' },
        { name: 'a', method: 'list' },
      ],
      clustering: [],
    },
    by_key: { columns: [{ name: 'id', method: 'hash' }], clustering: [] },
    by_parts: { columns: [{ name: 'at', method: 'range' }], clustering: [] },
    whole: undefined,
  })
})

t.test('BigQuery: by time, by integers, by arrival, and whether a filter is required', async t => {
  const bigquery = await startBigquery(t)
  const at = '`tide-pool-1234`.`shop`'
  for (const statement of [
    `create table ${at}.\`by_day\` (\`at\` timestamp, \`b\` int64, \`a\` int64) partition by timestamp_trunc(\`at\`, day) cluster by \`a\`, \`b\` options (require_partition_filter = true)`,
    `create table ${at}.\`by_number\` (\`id\` int64) partition by range_bucket(\`id\`, generate_array(0, 100, 10))`,
    `create table ${at}.\`by_arrival\` (\`id\` int64) partition by _PARTITIONDATE options (require_partition_filter = true)`,
    `create table ${at}.\`clustered\` (\`id\` int64) cluster by \`id\``,
    `create table ${at}.\`whole\` (\`id\` int64)`,
  ])
    await bigquery.execute(statement)
  const connection = await bigquery.connector.connect(bigquery.settings, bigquery.options)
  t.teardown(() => connection.close())
  const tables = await connection.introspect()
  t.same(byName(tables), {
    by_day: { columns: [{ name: 'at', method: 'time' }], clustering: ['a', 'b'], requiresFilter: true },
    by_number: { columns: [{ name: 'id', method: 'range' }], clustering: [] },
    by_arrival: {
      columns: [{ name: '_PARTITIONTIME', method: 'time', pseudoType: 'timestamp' }],
      clustering: [],
      requiresFilter: true,
    },
    clustered: { columns: [], clustering: ['id'] },
    whole: undefined,
  })
  const byArrival = tables.find(({ name }) => name === 'by_arrival')!
  t.same(
    byArrival.columns.map(({ name }) => name),
    ['id'],
    'a pseudo column is none of the table',
  )
  t.match(findTimeColumn(byArrival, '_PARTITIONTIME'), { kind: 'timestamp', type: 'timestamp' })
  t.equal(findTimeColumn(byArrival, 'at'), undefined)
})

t.test('Snowflake: the columns of the cluster key, without expressions', async t => {
  const double = await startSnowflake(t)
  for (const statement of [
    'create table "SHOP"."PUBLIC"."by_two" ("day, one" date, REGION varchar, AT timestamp_ntz) cluster by ("day, one", region, to_date(AT), left(REGION, 2))',
    'create table "SHOP"."PUBLIC"."whole" (ID integer)',
  ])
    await double.execute(statement)
  t.same(await withSnowflake(double, read), {
    by_two: { columns: [], clustering: ['day, one', 'REGION'] },
    whole: undefined,
  })
})

t.test('Databricks: the columns of PARTITIONED BY', async t => {
  const workspace = await startDatabricks(t)
  await workspace.execute('create table `shop`.`default`.`by_two` (`id` int, `day` date, `region` string)')
  await workspace.execute('create table `shop`.`default`.`whole` (`id` int)')
  await workspace.execute(
    `insert into memory.main.dbx_partitions values ('default.by_two', 'region', 2), ('default.by_two', 'day', 1)`,
  )
  const expected = {
    by_two: {
      columns: [
        { name: 'day', method: 'list' },
        { name: 'region', method: 'list' },
      ],
      clustering: [],
    },
    whole: undefined,
  }
  const { connector, options } = workspace
  const connection = await connector.connect(connector.config.validate(workspace.config).value!, options)
  t.teardown(() => connection.close())
  t.same(await read(connection), expected)

  await workspace.execute('alter view memory.main.dbx_columns rename to dbx_newer_columns')
  await workspace.execute(
    'create view memory.main.dbx_columns as select table_catalog, table_schema, table_name, column_name, ordinal_position, column_default, is_nullable, full_data_type, data_type, comment from memory.main.dbx_newer_columns',
  )
  t.same(await read(connection), { by_two: undefined, whole: undefined }, 'a catalog that does not say it')
})

t.test('Redshift: the sort key in its order, and the partitions of external tables', async t => {
  const cluster = await startRedshift(t)
  await cluster.query('create table sorted (id int, at timestamp, region text)')
  await cluster.query('create table whole (id int)')
  await cluster.query(
    `insert into pg_emulated.sort_keys values ('sorted'::regclass, 'region', -2), ('sorted'::regclass, 'at', 1)`,
  )
  await cluster.external('lake', 'events', ['id int', 'day date'])
  await cluster.query(`update pg_emulated.external_columns set part_key = 1 where columnname = 'day'`)
  t.same(await readOf(redshift, redshiftSettings(cluster.config)), {
    sorted: { columns: [], clustering: ['at', 'region'] },
    whole: undefined,
    events: { columns: [{ name: 'day', method: 'list' }], clustering: [] },
  })
})
