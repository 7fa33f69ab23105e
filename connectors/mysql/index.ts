import type { Connection, ConnectOptions, Connector, QueryOptions, Row } from '../connector.ts'
import type { Sql } from '../sql.ts'
import { mysqlConfig, type MysqlConfig } from './config.ts'
import { mysql2 } from './dial.ts'
import { mysqlDialect } from './dialect.ts'
import { introspect, readEstimates, type Read } from './introspect.ts'
import { ENGINE, openSession, type MysqlSession } from './session.ts'
import { testConnection } from './stages.ts'

export type { MysqlConfig }

/** Milliseconds that a query of the catalog may take. */
const CATALOG_TIMEOUT_MS = 120_000

/**
 * MySQL 8, MariaDB 10.6, and newer ones. `lastModified` is not claimed: InnoDB keeps `update_time` in memory, and
 * has none after a restart, just when a load that does not come should be noticed. Columns have no identity.
 */
export const mysql: Connector<MysqlConfig> = {
  name: ENGINE,
  label: 'MySQL',
  config: mysqlConfig,
  driver: mysql2,
  dialect: mysqlDialect,
  capabilities: {
    constraints: true,
    comments: true,
    estimates: true,
    regex: true,
    percentile: true,
    dateParsing: true,
    readOnly: true,
    cancel: true,
  },
  async connect(settings: MysqlConfig, options: ConnectOptions) {
    return connection(await openSession(settings, options, CATALOG_TIMEOUT_MS))
  },
  test: testConnection,
}

function connection(session: MysqlSession): Connection {
  const run = (statement: Sql, options: QueryOptions): Promise<Row[]> =>
    session.run(mysqlDialect.render(statement), options)
  const read: Read = (statement, take) =>
    session.run({ ...mysqlDialect.render(statement), take }, { timeoutMs: CATALOG_TIMEOUT_MS })
  return {
    introspect: scope => introspect(read, session.isMariadb, scope?.tables),
    query: run,
    estimates: tables => readEstimates(read, tables),
    close: () => session.close(),
  }
}
