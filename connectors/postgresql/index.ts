import type { StreamingCatalogReader } from '../catalog-reader.ts'
import type { Connection, ConnectOptions, Connector, QueryOptions, Row } from '../connector.ts'
import type { EngineSession } from '../session.ts'
import type { Sql } from '../sql.ts'
import { toViewDefinitions } from '../view-definitions.ts'
import { viewsQuery } from './catalog-query.ts'
import { makePostgresqlConfig, type PostgresqlConfig } from './config.ts'
import { estimateCost } from './cost.ts'
import { postgresqlDialect } from './dialect.ts'
import { introspect, readEstimates, readPartitions } from './introspect.ts'
import { openSession, prepareStatement, type SessionProfile, type StatementOptions } from './session.ts'
import type { PostgresqlStatement } from './statement.ts'
import { readParts } from './parts.ts'
import { testConnection } from './stages.ts'

export type { PostgresqlConfig }

const CATALOG_TIMEOUT_MS = 120_000

const config = makePostgresqlConfig({ port: 5432, sslmode: 'prefer', longestName: 63 })

/**
 * Compiling the SELECT of a scan takes as long as it has expressions, seconds for hundreds of them, and saves time with every
 * row. PostgreSQL compares its estimated cost with thresholds made for a few expressions (100,000 and 500,000), so that wide
 * scans of small tables lose seconds. At this cost both are about even, at two to three million rows of a wide scan. A role
 * with `jit = off` keeps it.
 */
const JIT_COST = '1500000'
const JIT_THRESHOLDS = {
  jit_above_cost: JIT_COST,
  jit_inline_above_cost: JIT_COST,
  jit_optimize_above_cost: JIT_COST,
}

const profile: SessionProfile = {
  engine: 'postgresql',
  label: 'PostgreSQL',
  settings: {
    default_transaction_read_only: 'on',
    lock_timeout: '1s',
    idle_in_transaction_session_timeout: '60s',
    TimeZone: 'UTC',
    DateStyle: 'ISO',
    bytea_output: 'hex',
    extra_float_digits: '1',
    standard_conforming_strings: 'on',
    // Both change what the server prints of types and defaults, and a role may have its own.
    IntervalStyle: 'postgres',
    quote_all_identifiers: 'off',
    ...JIT_THRESHOLDS,
  },
  timeoutMs: CATALOG_TIMEOUT_MS,
}

/** PostgreSQL 11 or newer, and what speaks its protocol and has its catalog. */
export const postgresql: Connector<PostgresqlConfig> = {
  name: 'postgresql',
  label: 'PostgreSQL',
  config,
  dialect: postgresqlDialect,
  // No lastModified: it keeps counts of changed rows, lost with a crash, and no times.
  capabilities: {
    constraints: true,
    comments: true,
    estimates: true,
    regex: true,
    percentile: true,
    groupedPercentile: true,
    dateParsing: true,
    readOnly: true,
    cancel: true,
    renames: true,
    costEstimates: true,
    partitions: true,
  },
  viewGrammar: 'postgresql',
  async connect(settings, options) {
    return connection(await openSession(profile, settings, options), settings.database)
  },
  test: (settings: PostgresqlConfig, options: ConnectOptions) => testConnection(profile, settings, options),
}

function connection(session: EngineSession<PostgresqlStatement>, database: string): Connection {
  const run = async (
    statement: Sql,
    options: QueryOptions & Pick<StatementOptions, 'onRow'>,
  ): Promise<Row[]> => {
    const { text, values } = postgresqlDialect.render(statement)
    return session.run(prepareStatement(profile.engine, text, values, options), options)
  }
  const readUntil =
    (signal?: AbortSignal): StreamingCatalogReader =>
    (statement, take) =>
      run(statement, { timeoutMs: CATALOG_TIMEOUT_MS, onRow: take, signal })
  return {
    // No `findHiddenTables`: the catalog shows every table to every role.
    introspect: ({ tables, signal } = {}) => introspect(readUntil(signal), database, tables),
    viewDefinitions: async ({ signal } = {}) =>
      toViewDefinitions(await readUntil(signal)(viewsQuery), database),
    findPartitions: tables => readPartitions(readUntil(), database, tables),
    query: (statement, { timeoutMs, maxRows, signal }) => run(statement, { timeoutMs, maxRows, signal }),
    async validate(statement, options) {
      const { text, values } = postgresqlDialect.render(statement)
      await session.validate?.(prepareStatement(profile.engine, text, values), options)
    },
    estimates: tables => readEstimates(readUntil(), database, tables),
    estimateCost: (statement, options) => estimateCost(each => run(each, options), statement),
    listParts: (table, options) => readParts(run, table, options),
    close: () => session.close(),
  }
}
