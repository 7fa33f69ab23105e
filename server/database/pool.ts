import knexModule, { type Knex } from 'knex'
import { knexSnakeCaseMappers } from 'objection'
import type { Logger } from 'pino'

/** Converts names between PostgreSQL (snake_case) and the program (camelCase). */
export const mappers = knexSnakeCaseMappers()

/** Milliseconds after which a query is abandoned; the server cancels it two seconds earlier. */
const QUERY_TIMEOUT_MS = 15_000
/** Milliseconds that a transaction may be idle: inside one, the program waits for nothing but the database. */
const IDLE_TIMEOUT_MS = 10_000

/** A driver's connection; knex asks it with a callback behind the query. */
export interface PgConnection {
  on(event: 'error' | 'end', listener: (error: Error) => void): void
  query(...input: unknown[]): unknown
  connection: { stream: { destroy(): void; cork(): void; uncork(): void } }
  /** Why knex must not reuse it. */
  __knex__disposed?: unknown
}

/**
 * Frequent queries read indexes, mostly from memory. At the default cost of a random page, the planner would read whole
 * tables instead, and start parallel workers for them.
 */
const PLANNING = '-c random_page_cost=1.1 -c max_parallel_workers_per_gather=0'

/** A knex pool that survives a database restart and a connection that stopped answering. */
export function openPool(
  url: string,
  name: string,
  max: number,
  log: Logger,
  { endless = false } = {},
): Knex {
  const limits = {
    query_timeout: QUERY_TIMEOUT_MS,
    statement_timeout: QUERY_TIMEOUT_MS - 2_000,
    // Releases the locks of a process that vanished without closing its connection.
    idle_in_transaction_session_timeout: IDLE_TIMEOUT_MS,
  }
  const heard = new Map<PgConnection, number>()
  const pool = knexModule({
    client: 'pg',
    ...mappers,
    connection: {
      connectionString: url,
      application_name: name,
      // The driver parses only the ISO date style.
      options: `${PLANNING} -c datestyle=ISO`,
      keepAlive: true,
      // Statements sent without waiting for the previous result share a packet.
      pipeline: true,
      ...(endless ? {} : limits),
      connectionTimeoutMillis: 5_000,
    } as Knex.PgConnectionConfig,
    pool: {
      min: 0,
      max,
      afterCreate(connection: PgConnection, done: (error: unknown, connection: unknown) => void) {
        surviveLoss(connection, heard, log)
        noteRefusals(connection, () => refusals.set(pool, performance.now()))
        done(null, connection)
      },
    },
    acquireConnectionTimeout: 10_000,
    // Otherwise knex writes to the console.
    log: {
      warn: (message: unknown) => log.warn(String(message)),
      error: (message: unknown) => log.warn(String(message)),
      debug: (message: unknown) => log.debug(String(message)),
    },
  })
  return pool
}

/** The parts of knex's client that are used here. */
export interface PoolClient {
  acquireConnection(): Promise<PgConnection>
  releaseConnection(connection: PgConnection): Promise<void>
}

/** When the database behind a pool last refused to write. */
const refusals = new WeakMap<Knex, number>()

/** Whether the database behind a pool refused to write within so many milliseconds: it is full, or read-only. */
export function hasRefusedWrites(pool: Knex, milliseconds: number): boolean {
  return performance.now() - (refusals.get(pool) ?? -Infinity) < milliseconds
}

/** Whether an error means that the database accepts no writes: it is read-only, full, or its disk fails. */
export function isRefusedWrite(error: unknown): boolean {
  const { code, nativeError } = error as { code?: string; nativeError?: { code?: string } }
  return /^(25006|53100|58030)$/.test(nativeError?.code ?? code ?? '')
}

function noteRefusals(connection: PgConnection, note: () => void): void {
  const query = connection.query.bind(connection)
  connection.query = (...input) => {
    const callback = input.at(-1)
    if (typeof callback !== 'function') return query(...input)
    return query(...input.slice(0, -1), (error: Error | null, result: unknown) => {
      if (error && isRefusedWrite(error)) {
        note()
        // A session keeps its initial state: one opened on a read-only database would stay read-only.
        connection.__knex__disposed = error
      }
      callback(error, result)
    })
  }
}

/**
 * Without a listener, a terminated backend would end the whole process. A socket whose peer vanished without closing
 * would time out each query for ever, since knex reuses it. So it is discarded, and with it every other connection of
 * the pool that has received nothing since; otherwise each of them would cost a caller a timeout.
 * @param heard the pool's connections, and when each last answered
 */
function surviveLoss(connection: PgConnection, heard: Map<PgConnection, number>, log: Logger): void {
  heard.set(connection, performance.now())
  connection.on('end', () => heard.delete(connection))
  connection.on('error', error => log.warn({ err: error.message }, 'a database connection was lost'))
  const query = connection.query.bind(connection)
  connection.query = (...input) => {
    const askedAt = performance.now()
    const callback = input.at(-1)
    if (typeof callback !== 'function') return query(...input)
    return query(...input.slice(0, -1), (error: Error | null, result: unknown) => {
      if (error?.message === 'Query read timeout') {
        for (const [other, at] of heard) if (at < askedAt) other.__knex__disposed = error
        connection.__knex__disposed = error
        connection.connection.stream.destroy()
      } else heard.set(connection, performance.now())
      callback(error, result)
    })
  }
}
