import type { Connector } from '../connector.ts'
import { sql } from '../sql.ts'
import { runConnectionTest } from '../stages.ts'
import { duckdbConfig, type DuckdbConfig } from './config.ts'
import { duckdbDialect } from './dialect.ts'
import { duckdbDriver, ENGINE, toDuckdbError } from './errors.ts'
import { locate } from './locations.ts'
import { openSession } from './session.ts'

export type { DuckdbConfig }

/** The tables of data files, whose times and versions are known; of those in a database DuckDB has none. */
const isOfFiles = ({ kind }: { kind: string }) => kind === 'external_table'

/** DuckDB's database files, and folders of Parquet, CSV and JSON files. */
export const duckdb: Connector<DuckdbConfig> = {
  name: ENGINE,
  label: 'DuckDB',
  config: duckdbConfig,
  driver: duckdbDriver,
  dialect: duckdbDialect,
  capabilities: {
    constraints: true,
    comments: true,
    lastModified: isOfFiles,
    estimates: true,
    regex: true,
    percentile: true,
    groupedPercentile: true,
    dateParsing: true,
    readOnly: true,
    cancel: true,
    partitions: isOfFiles,
  },
  connect: openSession,
  test: (config, options) =>
    runConnectionTest(toDuckdbError, async step => {
      const location = await locate(config.path, options.egress)
      step('reach', 'file' in location ? 'The file is there.' : 'The folder is there.')
      step('tls', 'Files need no TLS.', 'skipped')
      const connection = await openSession(config, options)
      try {
        await connection.query(sql`select 1 as one`, { timeoutMs: options.connectTimeoutMs ?? 10_000 })
        step('sign_in', 'It was opened for reading; it asks for no user.')
        const tables = await connection.introspect()
        step('read_catalog', `The catalog can be read: ${tables.length} tables and views.`)
      } finally {
        await connection.close()
      }
    }),
}
