import type { ConnectOptions, Connection, Connector, QueryOptions } from '../connector.ts'
import type { Sql } from '../sql.ts'
import { testStages } from '../stages.ts'
import { countQuery } from './catalog-query.ts'
import { bigqueryConfig, type BigqueryConfig } from './config.ts'
import { bigqueryDialect } from './dialect.ts'
import { bigqueryError, ENGINE } from './errors.ts'
import { findHidden } from './hidden.ts'
import { introspect, readSizes, type CatalogReader } from './introspect.ts'
import { openSession, type ProjectSession } from './session.ts'
import { prepare } from './statements.ts'

export type { BigqueryConfig }

/** Milliseconds that a statement of the catalog may take. */
const CATALOG_TIMEOUT_MS = 120_000
const TEST_TIMEOUT_MS = 30_000

/**
 * BigQuery, by its REST API over HTTPS, without a driver. The catalog of a table is the project, its schema the
 * dataset; shards by date (events_20240101) are tables of their own.
 * @param port where the API answers, 443 unless told; the host is always Google's
 */
export function makeBigquery({ port = 443 }: { port?: number } = {}): Connector<BigqueryConfig> {
  return {
    name: ENGINE,
    label: 'BigQuery',
    encrypted: true,
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
    },
    async connect(config, options) {
      return connection(await openSession(port, config, options), config)
    },
    test: (config, options) =>
      testStages(bigqueryError, async step => {
        const session = await openSession(port, config, options, step)
        try {
          step('read_catalog', await readCatalog(session, config, options))
        } finally {
          await session.close()
        }
      }),
  }
}

/** BigQuery. */
export const bigquery: Connector<BigqueryConfig> = makeBigquery()

/** Shows that the account may run queries and read the catalog, in the first location that has a dataset. */
async function readCatalog(
  session: ProjectSession,
  { project_id: project, dataset }: BigqueryConfig,
  { signal }: ConnectOptions,
): Promise<string> {
  const datasets = await session.datasets()
  const [first] = datasets
  if (!first) {
    return 'The account sees no dataset here: check project_id and location, and grant it BigQuery Data Viewer.'
  }
  const { location } = first
  const count = prepare(countQuery({ project, dataset, location }), location)
  const [row] = await session.run(count, { timeoutMs: TEST_TIMEOUT_MS, signal })
  const within =
    dataset === undefined ? `the location ${location} of ${datasets.length} datasets in all` : dataset
  return `The catalog has ${Number(row?.tables)} tables and views in ${within}.`
}

function connection(session: ProjectSession, config: BigqueryConfig): Connection {
  const readerUntil = (signal?: AbortSignal): CatalogReader => ({
    project: config.project_id,
    dataset: config.dataset,
    datasets: () => session.datasets(signal),
    read: async (statement, location) =>
      session.run(prepare(statement, location), { timeoutMs: CATALOG_TIMEOUT_MS, signal }),
  })
  const reader = readerUntil()
  return {
    introspect: ({ tables, signal } = {}) => introspect(readerUntil(signal), tables),
    hidden: tables => findHidden(session, reader, tables),
    query: async (statement: Sql, options: QueryOptions) =>
      session.run(prepare(statement, session.location), options),
    lastModified: tables =>
      readSizes(reader, tables, ({ modified }) => (modified instanceof Date ? modified : null)),
    estimates: tables => readSizes(reader, tables, ({ total }) => (total === null ? null : Number(total))),
    close: () => session.close(),
  }
}
