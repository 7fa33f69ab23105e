import type { Connection, Connector, QueryOptions } from '../connector.ts'
import type { EngineSession } from '../session.ts'
import { sql, type Sql } from '../sql.ts'
import { testSession } from '../stages.ts'
import { toViewDefinitions } from '../view-definitions.ts'
import { countQuery, viewsQuery } from './catalog-query.ts'
import { databricksConfig, type DatabricksConfig } from './config.ts'
import { estimateCost } from './cost.ts'
import { databricksDialect } from './dialect.ts'
import { classifyDatabricksError } from './errors.ts'
import { findHiddenTables } from './hidden-tables.ts'
import { introspect } from './introspect.ts'
import { ENGINE, openSession } from './session.ts'
import { prepareStatement, type DatabricksStatement } from './statements.ts'

export type { DatabricksConfig }

/** Milliseconds that a statement of the catalog may take, with the warehouse to start before it. */
const CATALOG_TIMEOUT_MS = 600_000
const TEST_TIMEOUT_MS = 60_000
/** Milliseconds that asking after one table may take; no rows are read. */
const PROBE_TIMEOUT_MS = 30_000

/**
 * Databricks SQL warehouses with Unity Catalog, by the Statement Execution API over HTTPS, without a driver.
 * @param port of the API, defaults to 443; the host is always that of the workspace
 */
export function makeDatabricks({ port = 443 }: { port?: number } = {}): Connector<DatabricksConfig> {
  return {
    name: ENGINE,
    label: 'Databricks',
    isAlwaysEncrypted: true,
    config: databricksConfig,
    dialect: databricksDialect,
    // No lastModified: last_altered is documented to be that of the definition, not of the rows. No estimates: the
    // catalog has none. No readOnly and no renames: Databricks has nothing of the kind that a SELECT could ask for.
    capabilities: {
      constraints: true,
      comments: true,
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
        thrown => classifyDatabricksError(ENGINE, thrown),
        step => openSession(port, config, options, step),
        async session => {
          const counted = prepareStatement(ENGINE, countQuery({ catalog: config.default_catalog }))
          const [row] = await session.run(counted, { timeoutMs: TEST_TIMEOUT_MS, signal: options.signal })
          return `The catalog has ${Number(row?.tables)} tables and views.`
        },
      ),
  }
}

export const databricks: Connector<DatabricksConfig> = makeDatabricks()

function connection(
  session: EngineSession<DatabricksStatement>,
  { default_catalog: catalog }: DatabricksConfig,
): Connection {
  const run = async (statement: Sql, options: QueryOptions) =>
    session.run(prepareStatement(ENGINE, statement), options)
  return {
    introspect: ({ tables, signal } = {}) =>
      introspect(statement => run(statement, { timeoutMs: CATALOG_TIMEOUT_MS, signal }), { catalog, tables }),
    viewDefinitions: async ({ signal } = {}) =>
      toViewDefinitions(await run(viewsQuery({ catalog }), { timeoutMs: CATALOG_TIMEOUT_MS, signal })),
    findHiddenTables: tables =>
      findHiddenTables(statement => run(statement, { timeoutMs: PROBE_TIMEOUT_MS }), catalog, tables),
    query: run,
    // It analyses the query and stops there: EXPLAIN would optimize it, and evaluate what is constant.
    async validate(statement, options) {
      await session.validate?.(prepareStatement(ENGINE, sql`describe query ${statement}`), options)
    },
    estimateCost: (statement, options) => estimateCost(each => run(each, options), statement),
    close: () => session.close(),
  }
}
