import { createTestDatabase, type TestDatabase } from '../../checks/conformance.ts'
import type { TableInfo } from '../../connectors/catalog.ts'
import type { Connection } from '../../connectors/connector.ts'
import { redshift } from '../../connectors/redshift/index.ts'
import { mariadbStand, postgresqlStand, sqliteStand } from '../checks/test-databases.ts'
import { startBigquery } from './bigquery.ts'
import { bigqueryStand } from './bigquery/stand.ts'
import { startDatabricks } from './databricks.ts'
import { databricksStand } from './databricks/stand.ts'
import { SECRETS, type AttackedEngine } from './error-attacks.ts'
import { mariadbAbsent } from './mariadb.ts'
import { redshiftSettings, startRedshift } from './redshift.ts'
import { snowflakeStand } from './snowflake.ts'
import { connectOptions } from './source.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** A stand, and its owner's hand. */
interface Stand {
  on: TestDatabase
  execute(text: string): Promise<unknown>
}

/** An engine under attack, and how many of the attacks raise an error and have the engine itself quote a value, at least. */
export interface AttackedStand {
  dialect: AttackedEngine
  absent?: string | false
  raises: number
  quotes: number
  start(t: Teardown): Promise<Stand>
}

const ownStand =
  (start: (t: Teardown) => Promise<TestDatabase & Pick<Stand, 'execute'>>) => async (t: Teardown) => {
    const on = await start(t)
    return { on, execute: on.execute }
  }

export const ATTACKED_ENGINES: Readonly<Record<string, AttackedStand>> = {
  PostgreSQL: { dialect: 'postgresql', raises: 80, quotes: 60, start: ownStand(postgresqlStand) },
  MariaDB: { dialect: 'mysql', absent: mariadbAbsent, raises: 12, quotes: 8, start: onMariadb },
  SQLite: { dialect: 'sqlite', raises: 7, quotes: 1, start: ownStand(sqliteStand) },
  Redshift: { dialect: 'redshift', raises: 4, quotes: 2, start: onRedshift },
  Snowflake: { dialect: 'snowflake', raises: 2, quotes: 0, start: onSnowflake },
  BigQuery: { dialect: 'bigquery', raises: 4, quotes: 0, start: onBigquery },
  Databricks: { dialect: 'databricks', raises: 2, quotes: 0, start: onDatabricks },
}

async function onMariadb(t: Teardown): Promise<Stand> {
  const on = await mariadbStand(t)
  const { catalog } = on.ref('t1')
  return {
    on,
    // The owner lets those who read run what they make; a right on all functions would reach new sessions only.
    async execute(text) {
      const found = await on.execute(text)
      const made = /^create function (\w+)/.exec(text)?.[1]
      if (made) await on.execute(`grant execute on function ${catalog}.${made} to ${catalog}_r`)
      return found
    },
  }
}

async function onRedshift(t: Teardown): Promise<Stand> {
  const cluster = await startRedshift(t)
  const connection = await redshift.connect(redshiftSettings(cluster.config), connectOptions)
  t.teardown(() => connection.close())
  const execute = (text: string) => cluster.query(text)
  const on = createTestDatabase({
    connector: redshift,
    connection,
    execute,
    tableRef: name => ({ catalog: cluster.name, schema: 'public', name }),
    columnTypes: { text: 'varchar(2000)' },
  })
  return { on, execute }
}

async function onSnowflake(t: Teardown): Promise<Stand> {
  const options = await snowflakeStand(t)
  return { on: createTestDatabase(options), execute: options.execute }
}

async function onBigquery(t: Teardown): Promise<Stand> {
  const { connector, settings, options, execute, project } = await startBigquery(t)
  const connection = await connector.connect(settings, options)
  t.teardown(() => connection.close())
  return { on: bigqueryStand({ connector, connection, execute, project, dataset: 'shop' }), execute }
}

async function onDatabricks(t: Teardown): Promise<Stand> {
  const { connector, config, options, execute } = await startDatabricks(t)
  const connection = await connector.connect(config, options)
  t.teardown(() => connection.close())
  return { on: databricksStand({ connector, connection, execute, catalog: 'shop' }), execute }
}

/** A started engine with a table of secrets. */
export interface Attacked extends Stand {
  table: TableInfo
  connection: Connection
  /** SQL of the attacks with the table in the place of `people`. */
  placed(text: string): string
}

/** Starts an engine and makes its table of secrets. */
export async function startAttacked(t: Teardown, engine: AttackedStand): Promise<Attacked> {
  const stand = await engine.start(t)
  const { table, connection } = await stand.on.createTable(
    [
      { name: 'kind', kind: 'text' },
      { name: 'secret', kind: 'text' },
    ],
    Object.entries(SECRETS),
  )
  const { dialect } = stand.on.engine
  const quoted = dialect.render(dialect.table(table)).text
  return {
    ...stand,
    table,
    connection: connection as Connection,
    placed: text => text.replaceAll(/\bpeople\b/g, () => quoted),
  }
}
