import type { Connection, ConnectOptions, Connector, QueryOptions, Row } from '../connector.ts'
import { makePostgresqlConfig, type PostgresqlConfig } from '../postgresql/config.ts'
import { openSession, prepareStatement, type SessionProfile } from '../postgresql/session.ts'
import { testConnection, type CatalogProbe } from '../postgresql/stages.ts'
import type { PostgresqlStatement } from '../postgresql/statement.ts'
import type { EngineSession } from '../session.ts'
import { sql, type Sql } from '../sql.ts'
import { toViewDefinitions } from '../view-definitions.ts'
import { countQuery, viewsQuery } from './catalog-query.ts'
import { estimateCost } from './cost.ts'
import { redshiftDialect } from './dialect.ts'
import { REDSHIFT_RULES } from './errors.ts'
import { findHiddenTables, findHiddenParts, introspect, readEstimates } from './introspect.ts'
import { encodeForRedshift } from './values.ts'

export type RedshiftConfig = PostgresqlConfig

const CATALOG_TIMEOUT_MS = 120_000

/** Milliseconds that asking after one column may take; no rows are read. */
const PROBE_TIMEOUT_MS = 30_000

// Every cluster offers TLS, so that less than `require` would only allow a downgrade by a man in the middle.
const config = makePostgresqlConfig({ port: 5439, sslmode: 'require', longestName: 127 })

/**
 * Few settings exist besides these (https://docs.aws.amazon.com/redshift/latest/dg/cm_chap_ConfigurationRef.html),
 * and the start-up packet is refused for one that does not.
 */
const profile: SessionProfile = {
  engine: 'redshift',
  label: 'Amazon Redshift',
  settings: { timezone: 'UTC', datestyle: 'ISO', extra_float_digits: '2' },
  timeoutMs: CATALOG_TIMEOUT_MS,
  errors: REDSHIFT_RULES,
}

const probe: CatalogProbe = {
  text: redshiftDialect.render(
    sql`select (${countQuery}) as tables, (select usesuper from pg_user where usename = current_user) as superuser`,
  ).text,
  describe({ tables, superuser }) {
    const count = `The catalog has ${Number(tables)} tables and views.`
    return superuser === true
      ? `${count} The user is a superuser: use a user with only USAGE and SELECT.`
      : `${count} Redshift has no sessions that only read: make sure that the user has only USAGE and SELECT.`
  },
}

/**
 * Amazon Redshift, clusters and Serverless. No `readOnly`: it takes START TRANSACTION READ ONLY without keeping
 * to it. No `lastModified`: it knows only when a table was created, and its logs of statements, kept for days, show
 * others' statements to superusers alone. Where an administrator has set `metadata_security`, the catalog hides what the
 * user has no right on and says nothing of it: tables of which the user loses all rights then look as if they were
 * dropped, unless the role has ACCESS CATALOG.
 */
export const redshift: Connector<RedshiftConfig> = {
  name: 'redshift',
  label: 'Amazon Redshift',
  config,
  dialect: redshiftDialect,
  capabilities: {
    constraints: true,
    comments: true,
    estimates: true,
    regex: true,
    percentile: true,
    dateParsing: true,
    cancel: true,
    renames: true,
    costEstimates: true,
  },
  viewGrammar: 'postgresql',
  async connect(settings, options) {
    return connection(await openSession(profile, settings, options), settings.database)
  },
  test: (settings: RedshiftConfig, options: ConnectOptions) =>
    testConnection(profile, settings, options, probe),
}

function connection(session: EngineSession<PostgresqlStatement>, database: string): Connection {
  const prepare = (statement: Sql, maxRows?: number) => {
    const { text, values } = redshiftDialect.render(statement)
    return prepareStatement(profile.engine, text, values, { maxRows, encode: encodeForRedshift })
  }
  const run = async (statement: Sql, options: QueryOptions): Promise<Row[]> =>
    session.run(prepare(statement, options.maxRows), options)
  const readUntil = (signal?: AbortSignal) => (statement: Sql) =>
    run(statement, { timeoutMs: CATALOG_TIMEOUT_MS, signal })
  return {
    introspect: ({ tables, signal } = {}) => introspect(readUntil(signal), database, tables),
    findHiddenTables: tables => findHiddenTables(readUntil(), database, tables),
    viewDefinitions: async ({ signal } = {}) =>
      toViewDefinitions(await readUntil(signal)(viewsQuery), database),
    findHiddenParts: tables =>
      findHiddenParts(statement => run(statement, { timeoutMs: PROBE_TIMEOUT_MS }), database, tables),
    query: run,
    async validate(statement, options) {
      await session.validate?.(prepare(statement), options)
    },
    estimates: tables => readEstimates(readUntil(), database, tables),
    estimateCost: (statement, options) => estimateCost(each => run(each, options), statement),
    close: () => session.close(),
  }
}
