import { createTestDatabase, type TestDatabase } from '../../../checks/conformance.ts'
import { redshift } from '../../../connectors/redshift/index.ts'
import { profileTable } from '../../../plugins/profiles/measure.ts'
import { mariadbStand, postgresqlStand, sqliteStand } from '../../checks/test-databases.ts'
import { startBigquery } from '../../helpers/bigquery.ts'
import { bigqueryStand } from '../../helpers/bigquery/stand.ts'
import { startDatabricks } from '../../helpers/databricks.ts'
import { databricksStand } from '../../helpers/databricks/stand.ts'
import { mariadbAbsent } from '../../helpers/mariadb.ts'
import { redshiftSettings, startRedshift } from '../../helpers/redshift.ts'
import { snowflakeStand } from '../../helpers/snowflake.ts'
import { connectOptions } from '../../helpers/source.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** The engines that tables can be profiled on, and why one cannot be had. */
export const ENGINES: Record<string, { absent?: string | false; start(t: Teardown): Promise<TestDatabase> }> =
  {
    PostgreSQL: { start: postgresqlStand },
    MariaDB: { absent: mariadbAbsent, start: mariadbStand },
    SQLite: { start: sqliteStand },
    Redshift: { start: onRedshift },
    Snowflake: { start: async t => createTestDatabase(await snowflakeStand(t)) },
    BigQuery: { start: onBigquery },
    Databricks: { start: onDatabricks },
  }

async function onRedshift(t: Teardown): Promise<TestDatabase> {
  const cluster = await startRedshift(t)
  const connection = await redshift.connect(redshiftSettings(cluster.config), connectOptions)
  t.teardown(() => connection.close())
  return createTestDatabase({
    connector: redshift,
    connection,
    execute: text => cluster.query(text),
    tableRef: name => ({ catalog: cluster.name, schema: 'public', name }),
    columnTypes: { text: 'varchar(2000)', decimal: 'numeric(38, 2)' },
    literal: value => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : undefined),
  })
}

async function onBigquery(t: Teardown): Promise<TestDatabase> {
  const { connector, settings, options, execute, project } = await startBigquery(t)
  const connection = await connector.connect(settings, options)
  t.teardown(() => connection.close())
  return bigqueryStand({ connector, connection, execute, project, dataset: 'shop' })
}

async function onDatabricks(t: Teardown): Promise<TestDatabase> {
  const { connector, config, options, execute } = await startDatabricks(t)
  const connection = connector.connect(config, options)
  t.teardown(async () => (await connection).close())
  return databricksStand({ connector, connection, execute, catalog: 'shop' })
}

/** How tables are profiled here, with differences. */
export const profiled = (
  on: TestDatabase,
  { table, connection }: Awaited<ReturnType<TestDatabase['createTable']>>,
  options: Partial<Parameters<typeof profileTable>[3]> = {},
) =>
  profileTable(connection, on.engine, table, {
    masked: new Set(),
    showsValues: true,
    rowLimit: 1_000_000,
    timeoutMs: 60_000,
    ...options,
  })
