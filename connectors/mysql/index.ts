import type { StreamingCatalogReader } from '../catalog-reader.ts'
import type { Connection, ConnectOptions, Connector, QueryOptions, Row } from '../connector.ts'
import type { Sql } from '../sql.ts'
import { toViewDefinitions } from '../view-definitions.ts'
import { viewsQuery } from './catalog-query.ts'
import { mysqlConfig, type MysqlConfig } from './config.ts'
import { estimateCost } from './cost.ts'
import { mysql2 } from './dial.ts'
import { mysqlDialect } from './dialect.ts'
import { findHiddenTables, findHiddenParts } from './hidden-tables.ts'
import { introspect, readEstimates } from './introspect.ts'
import { ENGINE, openSession, type MysqlSession } from './session.ts'
import { testConnection } from './stages.ts'

export type { MysqlConfig }

const CATALOG_TIMEOUT_MS = 120_000
/** Milliseconds that asking after one table or column may take; no rows are read. */
const PROBE_TIMEOUT_MS = 10_000

/**
 * MySQL 8, MariaDB 10.6, and newer ones. `lastModified` is not claimed: InnoDB keeps `update_time` in memory, and
 * has none after a restart, just when a missing load should be noticed; MySQL reports one of up to a day ago,
 * and none of partitioned tables. Columns have no identity.
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
    costEstimates: true,
  },
  async connect(settings: MysqlConfig, options: ConnectOptions) {
    return connection(await openSession(settings, options, CATALOG_TIMEOUT_MS), settings.database)
  },
  test: testConnection,
}

function connection(session: MysqlSession, database: string): Connection {
  const run = (statement: Sql, options: QueryOptions): Promise<Row[]> =>
    session.run(mysqlDialect.render(statement), options)
  const readUntil =
    (signal?: AbortSignal): StreamingCatalogReader =>
    (statement, take) =>
      session.run(
        { ...mysqlDialect.render(statement), onRow: take },
        { timeoutMs: CATALOG_TIMEOUT_MS, signal },
      )
  const read = readUntil()
  const probe = (statement: Sql) => run(statement, { timeoutMs: PROBE_TIMEOUT_MS })
  return {
    introspect: ({ tables, signal } = {}) => introspect(readUntil(signal), session.isMariadb, tables),
    viewDefinitions: async ({ signal } = {}) => toViewDefinitions(await readUntil(signal)(viewsQuery)),
    findHiddenTables: tables =>
      findHiddenTables(
        {
          database,
          run: probe,
          introspect: some => introspect(read, session.isMariadb, some),
        },
        tables,
      ),
    findHiddenParts: tables => findHiddenParts({ database, run: probe }, tables),
    query: run,
    async validate(statement, options) {
      await session.validate?.(mysqlDialect.render(statement), options)
    },
    estimates: tables => readEstimates(read, tables),
    estimateCost: (statement, options) =>
      estimateCost(each => run(each, options), { statement, text: mysqlDialect.render(statement).text }),
    close: () => session.close(),
  }
}
