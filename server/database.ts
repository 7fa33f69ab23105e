import { createHash } from 'node:crypto'
import knexModule, { type Knex } from 'knex'
import { Model, knexSnakeCaseMappers } from 'objection'
import type { Constructor, QueryBuilderType, QueryContext, TransactionOrKnex } from 'objection'
import type { Logger } from 'pino'

export type Transaction = Knex.Transaction

/** The product's own PostgreSQL, by two roles: the application's, held by row-level security, and the owner's. */
export interface Database {
  /** A transaction that sees and writes one company's rows only; row-level security holds it to that. */
  company<T>(companyId: string, work: (trx: Transaction) => Promise<T>): Promise<T>
  /** A transaction of the owner, over all companies: sign-in by email or key, sweeps, migrations. Nothing else. */
  system<T>(work: (trx: Transaction) => Promise<T>): Promise<T>
  /** One statement of the owner, whole in itself: who a credential belongs to, and rate limits. */
  statement<T extends object>(text: string, bindings?: Record<string, unknown>): Promise<T[]>
  /** Milliseconds a trivial query took. Rejects when the database is away. */
  ping(): Promise<number>
  close(): Promise<void>
}

const companies = new WeakMap<object, string>()

/** The company a transaction belongs to. Throws for any other transaction. */
export function companyOf(trx: object | undefined): string {
  const companyId = trx && companies.get(trx)
  if (!companyId) throw new Error('This query needs a transaction of one company: use db.company')
  return companyId
}

/**
 * A row that belongs to a company. Its queries need a company's transaction and are limited to that company
 * here, before row-level security limits them again in the database.
 */
export class CompanyRow extends Model {
  declare companyId: string

  static override query<M extends Model>(this: Constructor<M>, trx?: TransactionOrKnex): QueryBuilderType<M> {
    const { tableName } = this as unknown as typeof Model
    const builder = Model.query.call(this as never, trx) as unknown as QueryBuilderType<M>
    return builder.onBuild(query => {
      // Asked when the query is built: one that Objection makes itself gets its transaction after it is made.
      const companyId = companyOf(query.context().transaction)
      if (!query.isInsert()) void query.where(`${tableName}.companyId`, companyId)
    })
  }

  override $beforeInsert(context: QueryContext): void {
    this.companyId = companyOf(context.transaction)
  }
}

/**
 * Runs one statement and gives its rows with camelCase names.
 * @param bindings by name (`:company_id`) or by position (`?`)
 */
export async function rows<T extends object>(
  trx: Knex,
  statement: string,
  bindings: Record<string, unknown> | readonly unknown[] = [],
): Promise<T[]> {
  const result = (await trx.raw(statement, bindings as never)) as { rows: object[] }
  return mappers.postProcessResponse(result.rows) as T[]
}

const mappers = knexSnakeCaseMappers()

/** Opens both pools. `appUrl` is the application role's, as `migrate` made it. */
export function openDatabase(options: { ownerUrl: string; appUrl: string; log: Logger }): Database {
  const app = openPool(options.appUrl, 'tidemark', 10, options.log)
  const owner = openPool(options.ownerUrl, 'tidemark-owner', 4, options.log)
  return {
    company: (companyId, work) =>
      app.transaction(async trx => {
        await trx.raw(`select set_config('app.company', ?, true)`, [companyId])
        companies.set(trx, companyId)
        return work(trx)
      }),
    system: work => owner.transaction(work),
    statement: (text, bindings) => rows(owner, text, bindings),
    async ping() {
      const startedAt = performance.now()
      await app.raw('select 1')
      return Math.round(performance.now() - startedAt)
    },
    async close() {
      await Promise.all([app.destroy(), owner.destroy()])
    },
  }
}

/** Codes of a database that is away for now: the network's, and those of PostgreSQL starting, stopping or full. */
const AWAY =
  /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|57P0[123]|53300|08.{3})$/

/** Whether the product's own database is away for now, so that the same request may go through later. */
export function isAway(error: unknown): boolean {
  const { code, message, nativeError } = error as {
    code?: string
    message: string
    nativeError?: { code?: string }
  }
  return (
    AWAY.test(nativeError?.code ?? code ?? '') ||
    /timeout (exceeded )?(acquiring|when trying to connect)|connection (terminated|ended)|read timeout|not currently accepting connections/i.test(
      message,
    )
  )
}

/** Milliseconds after which a query is given up on; the server ends it itself two seconds earlier. */
const QUERY_TIMEOUT = 15_000
/** Milliseconds that a transaction may do nothing: nothing but the database is waited for inside of one. */
const IDLE_TIMEOUT = 10_000

/** A driver's connection; knex asks it with a callback behind the query. */
interface PgConnection {
  on(event: 'error' | 'end', listener: (error: Error) => void): void
  query(...input: unknown[]): unknown
  connection: { stream: { destroy(): void } }
  /** Why knex is not to hand it out again. */
  __knex__disposed?: unknown
}

/**
 * What is asked all day reads indexes, mostly from memory: taken for far dearer than reading on, as by default, they
 * are left for whole tables, which parallel workers then have to be started for.
 */
const PLANNING = '-c random_page_cost=1.1 -c max_parallel_workers_per_gather=0'

/** A knex pool that outlives a database restart and a connection that went silent. */
export function openPool(
  url: string,
  name: string,
  max: number,
  log: Logger,
  { endless = false } = {},
): Knex {
  const limits = {
    query_timeout: QUERY_TIMEOUT,
    statement_timeout: QUERY_TIMEOUT - 2_000,
    // What a process that vanished without a word had locked is free again after this.
    idle_in_transaction_session_timeout: IDLE_TIMEOUT,
  }
  const heard = new Map<PgConnection, number>()
  return knexModule({
    client: 'pg',
    ...mappers,
    connection: {
      connectionString: url,
      application_name: name,
      options: PLANNING,
      keepAlive: true,
      ...(endless ? {} : limits),
      connectionTimeoutMillis: 5_000,
    },
    pool: {
      min: 0,
      max,
      afterCreate(connection: PgConnection, done: (error: unknown, connection: unknown) => void) {
        surviveLoss(connection, heard, log)
        done(null, connection)
      },
    },
    acquireConnectionTimeout: 10_000,
    // Knex would write to the console by itself.
    log: {
      warn: (message: unknown) => log.warn(String(message)),
      error: (message: unknown) => log.warn(String(message)),
      debug: (message: unknown) => log.debug(String(message)),
    },
  })
}

/**
 * Without a listener, a terminated backend ends the whole process. And a socket whose other end vanished
 * without a word times out each query for ever, since knex hands the same socket out again: it is thrown away,
 * and so is every other of its pool that has not been heard of since, or each would cost somebody a timeout.
 * @param heard the pool's connections, and when each last answered
 */
function surviveLoss(connection: PgConnection, heard: Map<PgConnection, number>, log: Logger): void {
  heard.set(connection, performance.now())
  connection.on('end', () => heard.delete(connection))
  connection.on('error', error => log.warn({ err: error.message }, 'a database connection was lost'))
  const query = connection.query.bind(connection)
  connection.query = (...input) => {
    const askedAt = performance.now()
    const tell = input.at(-1)
    if (typeof tell !== 'function') return query(...input)
    return query(...input.slice(0, -1), (error: Error | null, result: unknown) => {
      if (error?.message === 'Query read timeout') {
        for (const [other, at] of heard) if (at < askedAt) other.__knex__disposed = error
        connection.__knex__disposed = error
        connection.connection.stream.destroy()
      } else heard.set(connection, performance.now())
      tell(error, result)
    })
  }
}

/** Rows of one INSERT: with a few dozen columns well below the 65,535 values that PostgreSQL takes. */
const CHUNK = 1_000

/** Inserts any number of rows, some at a time. */
export async function insertAll<Row, Stored>(
  all: readonly Row[],
  insert: (chunk: Row[]) => PromiseLike<Stored[]>,
): Promise<Stored[]> {
  const stored: Stored[] = []
  for (let from = 0; from < all.length; from += CHUNK)
    stored.push(...(await insert(all.slice(from, from + CHUNK))))
  return stored
}

/** A migration as the manifest lists it. */
export interface Migration {
  name: string
  up(knex: Knex): Promise<void>
  down(knex: Knex): Promise<void>
}

/** Any number, the same in every process: who holds it migrates, the others wait. */
const MIGRATION_LOCK = 7_114_365

/**
 * Brings the schema up to date, makes the application role and gives it its rights. One process at a time.
 * @param appPassword gives the application role's, also where `appUrl` names a role that is used as it is
 * @returns the application role's URL
 */
export async function migrate(options: {
  ownerUrl: string
  appUrl?: string
  appPassword(trx: Transaction): Promise<string>
  migrations: readonly Migration[]
  /** Creates the job engine's schema; runs between the migrations and the grants. */
  prepareJobs(): Promise<void>
  log: Logger
}): Promise<string> {
  // Waiting for another process, and building an index, may take as long as they take.
  const owner = openPool(options.ownerUrl, 'tidemark-migrate', 2, options.log, { endless: true })
  try {
    return await owner.transaction(async lock => {
      await lock.raw('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK])
      await owner.migrate.latest({
        migrationSource: source(options.migrations),
        tableName: 'tidemark_migrations',
      })
      // Before anything runs that would have to be stopped: with a wrong key it throws.
      const appPassword = await options.appPassword(lock)
      await options.prepareJobs()
      const { ownerUrl } = options
      const appUrl = options.appUrl ?? (await ensureAppRole(lock, { ownerUrl, appPassword }))
      await grant(lock, decodeURIComponent(new URL(appUrl).username))
      return appUrl
    })
  } finally {
    await owner.destroy()
  }
}

function source(migrations: readonly Migration[]): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => [...migrations],
    getMigrationName: migration => migration.name,
    getMigration: async migration => migration,
  }
}

async function ensureAppRole(
  trx: Transaction,
  { ownerUrl, appPassword }: { ownerUrl: string; appPassword: string },
): Promise<string> {
  const [here] = await rows<{ database: string }>(trx, 'select current_database() as database')
  const role = appRole(here?.database ?? '')
  const [known] = await rows(trx, 'select 1 as one from pg_roles where rolname = ?', [role])
  // A role cannot be named by a bound value; quote_ident and quote_literal by the server itself.
  // Only a superuser may so much as name these attributes of a role that exists.
  const start = known ? 'alter role %I with' : 'create role %I with nosuperuser nocreatedb nocreaterole'
  const [command] = await rows<{ text: string }>(
    trx,
    `select format('${start} login password %L', ?::text, ?::text) as text`,
    [role, appPassword],
  )
  await trx.raw(command?.text ?? '').catch((error: Error) => {
    // Knex tells the whole statement.
    error.message = error.message.replaceAll(appPassword, '…')
    throw error
  })
  const url = new URL(ownerUrl)
  url.username = encodeURIComponent(role)
  url.password = encodeURIComponent(appPassword)
  return url.toString()
}

/** Roles are shared by all databases of a server, so the name carries the database's. */
function appRole(database: string): string {
  const name = `${database}_app`
  return Buffer.byteLength(name) <= 63
    ? name
    : `tidemark_${createHash('sha256').update(database).digest('hex').slice(0, 16)}_app`
}

async function grant(trx: Transaction, role: string): Promise<void> {
  for (const schema of ['public', 'pgboss']) {
    const [commands] = await rows<{ text: string }>(
      trx,
      `select format($$
         grant usage on schema %1$I to %2$I;
         grant select, insert, update, delete on all tables in schema %1$I to %2$I;
         grant usage, select on all sequences in schema %1$I to %2$I;
         grant execute on all functions in schema %1$I to %2$I;
       $$, ?::text, ?::text) as text`,
      [schema, role],
    )
    await trx.raw(commands?.text ?? '')
  }
}
