import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Connection, ConnectOptions } from '../../connectors/connector.ts'
import { ConnectorError } from '../../connectors/errors.ts'
import { postgresql, type PostgresqlConfig } from '../../connectors/postgresql/index.ts'
import { testCluster } from './cluster.ts'

/** A private PostgreSQL database, as a customer's. */
export interface Source {
  /** A `connection_config` of a role that may only read. */
  config: {
    host: string
    port: number
    database: string
    username: string
    password: string
    sslmode: string
  }
  /** The database's name, which is the catalog of its tables. */
  name: string
  /** Runs one statement as the owner, outside the connector. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
}

/** The part of a test that takes things down at its end. */
interface Teardown {
  teardown(down: () => unknown): unknown
}

/**
 * Makes an empty database with a role that may only read, both gone when the test ends.
 * @param locale defaults to that of the cluster
 */
export async function startSource(t: Teardown, { locale }: { locale?: 'C' } = {}): Promise<Source> {
  const cluster = await testCluster()
  const name = `source_${randomUUID().replaceAll('-', '').slice(0, 12)}`
  const reader = `${name}_reader`
  const password = randomUUID()
  const admin = await connect({ ...cluster, database: 'postgres' })
  // Copying files is several times cheaper than writing each page of the template to the log.
  const inLocale = locale ? ` template template0 locale '${locale}'` : ''
  await admin.query(`create database ${name}${inLocale} strategy file_copy`)
  await admin.query(`create role ${reader} login password '${password}' in role pg_read_all_data`)
  const owner = await connect({ ...cluster, database: name })

  t.teardown(async () => {
    await owner.end()
    await admin.query(`drop database ${name} with (force)`)
    await admin.query(`drop role ${reader}`)
    await admin.end()
  })
  return {
    name,
    config: {
      host: cluster.host,
      port: cluster.port,
      database: name,
      username: reader,
      password,
      sslmode: 'prefer',
    },
    async query(text, values) {
      return (await owner.query(text, values)).rows as Record<string, unknown>[]
    },
  }
}

/** How tests dial: names under `.test` are this machine, and anything may be reached. */
export const connectOptions: ConnectOptions = {
  egress: {
    address: async host => (host.endsWith('.test') || host === 'localhost' ? '127.0.0.1' : host),
    file: async path => path,
    folder: async path => path,
  },
  log: { debug: () => {}, warn: () => {} },
}

/** A `connection_config` as the server validates it, with changes. */
export function settings(config: object, changes: object = {}): PostgresqlConfig {
  const { value, error } = postgresql.config.validate({ ...config, ...changes })
  if (error) throw error
  return value
}

/** Opens a session for the length of a function. */
export async function withSession<Result>(
  config: object,
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await postgresql.connect(settings(config), connectOptions)
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

/** The ConnectorError that something is rejected with; anything else is thrown. */
export async function failure(doing: Promise<unknown>): Promise<ConnectorError> {
  const thrown: unknown = await doing.then(
    () => new Error('it was not rejected'),
    (error: unknown) => error,
  )
  if (thrown instanceof ConnectorError) return thrown
  throw thrown
}

/** How many statements of the connector the server runs now. */
export async function running(source: Source): Promise<number> {
  const rows = await source.query(
    `select from pg_stat_activity where application_name = 'tidemark' and state = 'active' and datname = $1`,
    [source.name],
  )
  return rows.length
}

async function connect(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ssl: false, ...config })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** A table with parts for the conformance kit; its changes are counted at once where `executeCounted` makes them. */
export function partitionedTable(table: string): string[] {
  const part = (value: number) => table.replace(/"$/, `_${value}"`)
  return [
    `create table ${table} (id integer, part integer) partition by list (part)`,
    ...[1, 2, 3].map(value => `create table ${part(value)} partition of ${table} for values in (${value})`),
  ]
}

/** Runs a statement as the owner. Changes of a table with parts are counted at once, not within ten seconds. */
export async function executeCounted(source: Source, text: string): Promise<Record<string, unknown>[]> {
  const rows = await source.query(text)
  if (text.includes('conformance_parts')) await source.query('select pg_stat_force_next_flush()')
  return rows
}
