/**
 * The one place where statements are sent without waiting for the result of the one before, by the pipelining of the
 * driver. Decision 15 says what that gives, and what was tried and gave too little.
 */
import type { Knex } from 'knex'
import pg from 'pg'
import { mappers, type PgConnection, type PoolClient } from './pool.ts'

/** A statement with values by position. A named one is parsed and planned once per connection. */
export interface Statement {
  text: string
  values: unknown[]
  name?: string
}

/** A statement on one company's rows; outside a transaction, one that only reads. */
export interface Reading<T extends object> {
  /** Unique for each text: PostgreSQL parses and plans it once per connection. */
  name: string
  text: string
  /** By name (`:company_id`). */
  bindings: Record<string, unknown>
  /** The type of its rows; never set. */
  row?: T
}

/** Several statements, by the types of their rows. */
export type Readings<T extends object[]> = { [K in keyof T]: Reading<T[K]> }
/** The rows of each, with camelCase names. */
export type Found<T extends object[]> = { [K in keyof T]: T[K][] }

/** A connection that statements are sent over, of knex or of the driver; it pipelines. */
type Sender = Pick<PgConnection, 'query' | 'connection'>

/**
 * Runs statements in a transaction of their own, in one round trip.
 * @returns the rows of each, with camelCase names
 * @throws the first error; nothing is stored then
 */
export async function sendTransaction(
  connection: Sender,
  statements: readonly Statement[],
): Promise<object[][]> {
  const [, ...found] = await sendAll(connection, [{ text: 'begin' }, ...statements, { text: 'commit' }])
  return found.slice(0, -1)
}

/** `sendTransaction` over a connection of a pool. */
export function askTogether(pool: Knex, statements: readonly Statement[]): Promise<object[][]> {
  return withConnection(pool, connection => sendTransaction(connection, statements))
}

/**
 * Runs a single statement. @returns its rows with camelCase names
 * @param bindings by name (`:company_id`)
 * @param name under which it is prepared
 */
export async function askOnce<T extends object>(
  pool: Knex,
  text: string,
  bindings: Record<string, unknown> = {},
  name?: string,
): Promise<T[]> {
  const statements = [positioned(text, bindings, name)]
  const [found] = await withConnection(pool, connection => sendAll(connection, statements))
  return found as T[]
}

/**
 * Runs statements of one company's transaction in their order, in one round trip; they may lock and write too.
 * @throws the first error; PostgreSQL ran none of the statements after it
 */
export async function sendStatements<T extends object[]>(
  trx: Knex.Transaction,
  readings: Readings<T>,
): Promise<Found<T>> {
  const connection = await (trx.client as PoolClient).acquireConnection()
  return (await sendAll(connection, positionAll(readings))) as Found<T>
}

/** `Database.read` with a pool of the application role. */
export async function readTogether<T extends object[]>(
  app: Knex,
  companyId: string,
  readings: Readings<T>,
): Promise<Found<T>> {
  const [, ...found] = await askTogether(app, [asReader(companyId), ...positionAll(readings)])
  return found as Found<T>
}

/** Makes a transaction one that only reads one company's rows. If it failed, row-level security would return nothing. */
function asReader(companyId: string): Statement {
  return {
    name: 'reader',
    text: `select set_config('app.company', $1, true), set_config('transaction_read_only', 'on', true)`,
    values: [companyId],
  }
}

async function withConnection<T>(pool: Knex, work: (connection: PgConnection) => Promise<T>): Promise<T> {
  const client = pool.client as PoolClient
  const connection = await client.acquireConnection()
  try {
    return await work(connection)
  } finally {
    void client.releaseConnection(connection)
  }
}

async function sendAll(connection: Sender, statements: readonly { text: string }[]): Promise<object[][]> {
  const { stream } = connection.connection
  // One packet: a packet for each costs a third more.
  stream.cork()
  const sent = statements.map(statement => send(connection, statement))
  stream.uncork()
  const results = await Promise.allSettled(sent)
  return results.map(result => {
    if (result.status === 'fulfilled') return result.value
    disposeInDoubt(connection, result.reason)
    throw result.reason
  })
}

function send(connection: Sender, statement: { text: string }): Promise<object[]> {
  return new Promise((resolve, reject) => {
    connection.query(statement, (error: Error | null, result: { rows: object[] }) => {
      if (error) reject(error)
      else resolve(mappers.postProcessResponse(result.rows) as object[])
    })
  })
}

/** A prepared statement that no longer exists, or whose columns a migration has changed. */
const UNKNOWN_NAME = /^(26000|0A000)$/

/** Keeps a connection from being used again of whose prepared statements the driver's list may be wrong. */
function disposeInDoubt(connection: PgConnection | Sender, error: unknown): void {
  const isOfDatabase = error instanceof pg.DatabaseError && !UNKNOWN_NAME.test(error.code ?? '')
  if (!isOfDatabase) Object.assign(connection, { __knex__disposed: 'what it has prepared is not known' })
}

function positionAll(readings: readonly Reading<object>[]): Statement[] {
  return readings.map(({ text, bindings, name }) => positioned(text, bindings, name))
}

/** A statement with positional values. @param bindings values by name (`:company_id`); column names cannot be bound */
export function positioned(text: string, bindings: Record<string, unknown>, name?: string): Statement {
  const values: unknown[] = []
  const numbered = text.replaceAll(/(?<![:\w\\]):([a-z_]\w*)/gi, (match, bound: string) => {
    if (!Object.hasOwn(bindings, bound)) return match
    // One parameter per place: PostgreSQL may infer a number in one place and a text in another.
    return `$${values.push(bindings[bound])}`
  })
  return { text: numbered, values, ...(name !== undefined && { name }) }
}
