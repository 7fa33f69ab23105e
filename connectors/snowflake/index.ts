import type { Connection, Connector, QueryOptions } from '../connector.ts'
import { testSession } from '../stages.ts'
import type { Sql } from '../sql.ts'
import type { TableRef } from '../catalog.ts'
import { toViewDefinitions } from '../view-definitions.ts'
import { countQuery, viewsQuery } from './catalog-query.ts'
import { snowflakeConfig, type SnowflakeConfig } from './config.ts'
import { estimateCost } from './cost.ts'
import { snowflakeDialect } from './dialect.ts'
import { makeSnowflakeClassifier } from './errors.ts'
import { findHiddenTables } from './hidden-tables.ts'
import { introspect, readEstimates, readModified } from './introspect.ts'
import { openSession, type SnowflakeSession } from './session.ts'

export type { SnowflakeConfig }

/** Milliseconds that a query of the catalog may take: SHOW is slow where there are tens of thousands of tables. */
const CATALOG_TIMEOUT_MS = 600_000
const TEST_TIMEOUT_MS = 60_000

/**
 * Snowflake by its SQL API over HTTPS, without a driver.
 * @param port of the API, defaults to 443; the host is always that of the account
 */
export function makeSnowflake({ port = 443 }: { port?: number } = {}): Connector<SnowflakeConfig> {
  return {
    name: 'snowflake',
    label: 'Snowflake',
    isAlwaysEncrypted: true,
    config: snowflakeConfig,
    dialect: snowflakeDialect,
    // No readOnly: Snowflake has nothing of the kind, so that the role must have only SELECT.
    capabilities: {
      constraints: true,
      comments: true,
      lastModified: true,
      estimates: true,
      regex: true,
      percentile: true,
      groupedPercentile: true,
      dateParsing: true,
      cancel: true,
      costEstimates: true,
    },
    async connect(config, options) {
      return connection(await openSession(port, config, options), config)
    },
    test: (config, options) =>
      testSession(
        makeSnowflakeClassifier(config),
        step => openSession(port, config, options, step),
        async session => {
          const counted = snowflakeDialect.render(countQuery(config))
          const [row] = await session.run(counted, { timeoutMs: TEST_TIMEOUT_MS, signal: options.signal })
          return `The catalog has ${Number(row?.tables)} tables and views.`
        },
      ),
  }
}

export const snowflake: Connector<SnowflakeConfig> = makeSnowflake()

function connection(session: SnowflakeSession, { database, schema }: SnowflakeConfig): Connection {
  const run = (statement: Sql, options: QueryOptions) =>
    session.run(snowflakeDialect.render(statement), options)
  const readUntil = (signal?: AbortSignal) => (statement: Sql) =>
    run(statement, { timeoutMs: CATALOG_TIMEOUT_MS, signal })
  const read = readUntil()
  const of = (tables?: readonly TableRef[]) => ({ database, schema, tables })
  return {
    introspect: ({ tables, signal } = {}) => introspect(readUntil(signal), of(tables)),
    viewDefinitions: async ({ signal } = {}) =>
      toViewDefinitions(await readUntil(signal)(viewsQuery(of())), database),
    findHiddenTables: tables => findHiddenTables(read, of(tables)),
    query: run,
    lastModified: tables => readModified(read, of(tables)),
    estimates: tables => readEstimates(read, of(tables)),
    estimateCost: (statement, options) => estimateCost(each => run(each, options), statement),
    close: () => session.close(),
  }
}
