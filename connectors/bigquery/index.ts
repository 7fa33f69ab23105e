import type { ConnectOptions, Connection, Connector, QueryOptions } from '../connector.ts'
import type { Sql } from '../sql.ts'
import { testSession } from '../stages.ts'
import { countQuery } from './catalog-query.ts'
import { bigqueryConfig, type BigqueryConfig } from './config.ts'
import { bigqueryDialect } from './dialect.ts'
import { classifyBigqueryError, ENGINE } from './errors.ts'
import { findHiddenTables } from './hidden-tables.ts'
import { introspect, readSizes, readViews, type BigqueryCatalogReader } from './introspect.ts'
import { openSession, type BigquerySession } from './session.ts'
import { prepareStatement } from './statements.ts'

export type { BigqueryConfig }

const CATALOG_TIMEOUT_MS = 120_000
const TEST_TIMEOUT_MS = 30_000

/**
 * BigQuery, by its REST API over HTTPS, without a driver. The catalog of a table is the project, its schema the
 * dataset; shards by date (events_20240101) are tables of their own.
 * @param port of the API, defaults to 443; the host is always Google's
 */
export function makeBigquery({ port = 443 }: { port?: number } = {}): Connector<BigqueryConfig> {
  return {
    name: ENGINE,
    label: 'BigQuery',
    isAlwaysEncrypted: true,
    config: bigqueryConfig,
    dialect: bigqueryDialect,
    // No readOnly: that writes are refused under the scope of our tokens is not documented, and what we refuse
    // ourselves is no means of the engine. No renames: the catalog gives columns no identity. No groupedPercentile: it
    // is a window function, which stands in a sub-query.
    capabilities: {
      constraints: true,
      comments: true,
      lastModified: true,
      estimates: true,
      regex: true,
      percentile: true,
      dateParsing: true,
      cancel: true,
      costEstimates: true,
      dryRuns: true,
      byteLimit: true,
    },
    async connect(config, options) {
      return connection(await openSession(port, config, options), config)
    },
    test: (config, options) =>
      testSession(
        classifyBigqueryError,
        step => openSession(port, config, options, step),
        session => describeCatalog(session, config, options),
      ),
  }
}

export const bigquery: Connector<BigqueryConfig> = makeBigquery()

/** Shows that the account may run queries and read the catalog, in the first location that has a dataset. */
async function describeCatalog(
  session: BigquerySession,
  { project_id: project, dataset }: BigqueryConfig,
  { signal }: ConnectOptions,
): Promise<string> {
  const datasets = await session.listDatasets()
  const [first] = datasets
  if (!first) {
    return 'The account sees no dataset here: check project_id and location, and grant it BigQuery Data Viewer.'
  }
  const { location } = first
  const count = prepareStatement(countQuery({ project, dataset, location }), location)
  const [row] = await session.run(count, { timeoutMs: TEST_TIMEOUT_MS, signal })
  const within =
    dataset === undefined ? `the location ${location} of ${datasets.length} datasets in all` : dataset
  return `The catalog has ${Number(row?.tables)} tables and views in ${within}.`
}

function connection(session: BigquerySession, config: BigqueryConfig): Connection {
  const readerUntil = (signal?: AbortSignal): BigqueryCatalogReader => ({
    project: config.project_id,
    dataset: config.dataset,
    datasets: () => session.listDatasets(signal),
    read: async (statement, location) =>
      session.run(prepareStatement(statement, location), { timeoutMs: CATALOG_TIMEOUT_MS, signal }),
  })
  const reader = readerUntil()
  return {
    introspect: ({ tables, signal } = {}) => introspect(readerUntil(signal), tables),
    viewDefinitions: ({ signal } = {}) => readViews(readerUntil(signal)),
    findHiddenTables: tables => findHiddenTables(session, reader, tables),
    query: async (statement: Sql, options: QueryOptions) =>
      session.run(prepareStatement(statement, session.location), options),
    async validate(statement, options) {
      await session.validate?.(prepareStatement(statement, session.location), options)
    },
    lastModified: tables =>
      readSizes(reader, tables, ({ modified }) => (modified instanceof Date ? modified : null)),
    estimates: tables => readSizes(reader, tables, ({ total }) => (total === null ? null : Number(total))),
    async estimateCost(statement, options) {
      const prepared = { ...prepareStatement(statement, session.location), isDryRun: true } as const
      const [row] = await session.run(prepared, options)
      // BigQuery counts no rows of what it does not run.
      return { rows: null, bytes: typeof row?.bytes === 'number' ? row.bytes : null }
    },
    close: () => session.close(),
  }
}
