import Joi from 'joi'
import type { Connection, ConnectOptions, Connector, QueryOptions, Row } from '../connector.ts'
import type { Session } from '../session.ts'
import type { Sql } from '../sql.ts'
import { postgresqlDialect } from './dialect.ts'
import { introspect, readEstimates } from './introspect.ts'
import { openSession, prepare, type PostgresqlConfig, type SessionProfile } from './session.ts'
import type { Statement } from './statement.ts'
import { testConnection } from './stages.ts'

export type { PostgresqlConfig }

/** Milliseconds that a query of the catalog may take. */
const CATALOG_TIMEOUT_MS = 120_000

/** `connection_config`; `sslmode` is `prefer` and `port` 5432 unless told. */
const config = Joi.object<PostgresqlConfig>({
  host: Joi.string()
    .max(253)
    .pattern(/^[^/\s@]+$/, 'host name')
    .required()
    .messages({ 'string.pattern.name': 'host must be a host name or an address, not a path or URL' })
    .description('Host name or address of the server.'),
  port: Joi.number().integer().min(1).max(65535).default(5432).description('5432 unless told.'),
  database: Joi.string().max(63).required().description('Name of the database.'),
  username: Joi.string().max(63).required().description('A role with only SELECT; `user` is taken as well.'),
  password: Joi.string().allow('').max(1024).default('').meta({ secret: true }).description('Its password.'),
  sslmode: Joi.string()
    .valid('disable', 'prefer', 'require', 'verify-ca', 'verify-full')
    .default('prefer')
    .description("As libpq's; prefer unless told."),
  ssl_ca: Joi.string()
    .max(100_000)
    .pattern(/-----BEGIN CERTIFICATE-----/, 'certificate')
    .messages({
      'string.pattern.name': 'ssl_ca must hold a certificate in PEM form (-----BEGIN CERTIFICATE-----)',
    })
    .description('Certificates of the authority, in PEM form; the well-known ones unless told.'),
}).rename('user', 'username')

const profile: SessionProfile = {
  engine: 'postgresql',
  settings: {
    default_transaction_read_only: 'on',
    lock_timeout: '1s',
    idle_in_transaction_session_timeout: '60s',
    TimeZone: 'UTC',
    DateStyle: 'ISO',
    bytea_output: 'hex',
    extra_float_digits: '1',
    standard_conforming_strings: 'on',
  },
  timeoutMs: CATALOG_TIMEOUT_MS,
}

/** PostgreSQL 11 or newer, and what speaks its protocol and has its catalog. */
export const postgresql: Connector<PostgresqlConfig> = {
  name: 'postgresql',
  label: 'PostgreSQL',
  config,
  dialect: postgresqlDialect,
  capabilities: {
    constraints: true,
    comments: true,
    estimates: true,
    regex: true,
    percentile: true,
    dateParsing: true,
    readOnly: true,
    cancel: true,
    renames: true,
  },
  async connect(settings, options) {
    return connection(await openSession(profile, settings, options), settings.database)
  },
  test: (settings: PostgresqlConfig, options: ConnectOptions) => testConnection(profile, settings, options),
}

function connection(session: Session<Statement>, database: string): Connection {
  const run = async (statement: Sql, options: QueryOptions): Promise<Row[]> => {
    const { text, values } = postgresqlDialect.render(statement)
    return session.run(prepare(profile.engine, text, values, options.maxRows), options)
  }
  const read = (statement: Sql) => run(statement, { timeoutMs: CATALOG_TIMEOUT_MS })
  return {
    introspect: scope => introspect(read, database, scope?.tables),
    query: run,
    estimates: tables => readEstimates(read, database, tables),
    close: () => session.close(),
  }
}
