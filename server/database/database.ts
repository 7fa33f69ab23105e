import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Knex } from 'knex'
import { Model } from 'objection'
import type {
  Constructor,
  QueryBuilderType,
  QueryContext,
  StaticHookArguments,
  TransactionOrKnex,
} from 'objection'
import type { Logger } from 'pino'
import { enforceCap, type CompanyCap } from './company-caps.ts'
import { askOnce, readTogether, type Found, type Readings } from './pipeline.ts'
import { hasRefusedWrites, mappers, openPool } from './pool.ts'
import { poolUse, type PoolUse } from '../telemetry/pool-use.ts'
import { shareConnections } from '../fairness/connections.ts'
import { migrationError } from './migration-errors.ts'

/**
 * How to run a query, and what limits it to one company besides row-level security (which `db.system` lacks):
 * - Objection for one row by id and for pages: a `CompanyRow` adds `company_id` itself, and throws outside `db.company`.
 * - SQL text (`rows`, `trx.raw`) for sets, claims and locks: the text names `company_id`; nothing adds it.
 * - `db.read` for hot GETs, several SQL texts in one round trip: each text names `company_id` too.
 */

export { isAway } from './away.ts'
export { sendStatements } from './pipeline.ts'
export type { Found, Reading, Readings } from './pipeline.ts'

export type Transaction = Knex.Transaction

/** The product's own PostgreSQL, through two roles: the application's, under row-level security, and the owner's. */
export interface Database {
  /** Runs a transaction that row-level security limits to one company's rows. */
  company<T>(companyId: string, work: (trx: Transaction) => Promise<T>): Promise<T>
  /** Runs statements that read one company's rows, under the same limits as `company`, in one round trip. */
  read<T extends object[]>(companyId: string, readings: Readings<T>): Promise<Found<T>>
  /** Runs a transaction of the owner over all companies. Only for sign-in by email or key, sweeps and migrations. */
  system<T>(work: (trx: Transaction) => Promise<T>): Promise<T>
  /**
   * Runs a single statement of the owner, for looking up credentials and counting rate limits.
   * @param name for a statement of every request: PostgreSQL then parses and plans it once per connection
   */
  statement<T extends object>(text: string, bindings?: Record<string, unknown>, name?: string): Promise<T[]>
  /** @returns the milliseconds of a trivial query. Rejects when the database is unavailable. */
  ping(): Promise<number>
  /** Whether it accepts writes, as far as is known: false when read-only, or full within the last 30 s. */
  takesWrites(): Promise<boolean>
  pools(): PoolUse[]
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
  /** How many rows a company may have. */
  static cap?: CompanyCap

  static override query<M extends Model>(this: Constructor<M>, trx?: TransactionOrKnex): QueryBuilderType<M> {
    const { tableName } = this as unknown as typeof Model
    const builder = super.query(trx) as unknown as QueryBuilderType<M>
    return builder.onBuild(query => {
      // Asked when the query is built: one that Objection makes itself gets its transaction after it is made.
      const companyId = companyOf(query.context().transaction)
      if (!query.isInsert()) void query.where(`${tableName}.companyId`, companyId)
    })
  }

  override $beforeInsert(context: QueryContext): void {
    this.companyId = companyOf(context.transaction)
  }

  /** Once for a statement, however many rows it inserts. */
  static override async afterInsert({ context }: StaticHookArguments<CompanyRow>): Promise<void> {
    const { transaction } = context
    if (this.cap) await enforceCap(transaction, companyOf(transaction), this.cap)
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
  const result = (await trx.raw(statement, bindings as Knex.ValueDict)) as { rows: object[] }
  return mappers.postProcessResponse(result.rows) as T[]
}

/** Makes a transaction a company's. Without it, row-level security returns nothing. */
async function setCompany(trx: Transaction, companyId: string): Promise<void> {
  await trx.raw(`select set_config('app.company', ?, true)`, [companyId])
}

/** Connections of the application role in one process. */
const APP_CONNECTIONS = 10
/** Milliseconds that work waits for a connection: as long as the pool itself would have it wait. */
const CONNECTION_WAIT_MS = 10_000

/** Opens both pools. `appUrl` is the application role's, as `migrate` made it. */
export function openDatabase(options: { ownerUrl: string; appUrl: string; log: Logger }): Database {
  const app = openPool(options.appUrl, 'tidemark', APP_CONNECTIONS, options.log)
  const shares = shareConnections(APP_CONNECTIONS, CONNECTION_WAIT_MS)
  const owner = openPool(options.ownerUrl, 'tidemark-owner', 4, options.log)
  return {
    company: (companyId, work) =>
      shares.hold(companyId, () =>
        app.transaction(async trx => {
          companies.set(trx, companyId)
          await setCompany(trx, companyId)
          return work(trx)
        }),
      ),
    read: (companyId, readings) => shares.hold(companyId, () => readTogether(app, companyId, readings)),
    system: work => owner.transaction(work),
    statement: (text, bindings, name) => askOnce(owner, text, bindings, name),
    async ping() {
      const startedAt = performance.now()
      await app.raw('select 1')
      return Math.round(performance.now() - startedAt)
    },
    pools() {
      const use = poolUse('application', app)
      return [{ ...use, waiting: use.waiting + shares.waiting() }, poolUse('owner', owner)]
    },
    async takesWrites() {
      if ([app, owner].some(pool => hasRefusedWrites(pool, REFUSAL_TTL_MS))) return false
      const [found] = await rows<{ readOnly: string }>(
        app,
        `select current_setting('transaction_read_only') as read_only`,
      )
      if (found?.readOnly !== 'on') return true
      // A connection keeps its read-only state, so one that refuses to write is replaced.
      await app.raw('delete from companies where false').catch(() => undefined)
      return false
    },
    async close() {
      await Promise.all([app.destroy(), owner.destroy()])
    },
  }
}

/** Milliseconds for which the database counts as full after it refused to write. */
const REFUSAL_TTL_MS = 30_000

/** Rows of one INSERT: with a few dozen columns well below the 65,535 values that PostgreSQL takes. */
const CHUNK_ROWS = 1_000

/** Inserts any number of rows, in batches. */
export async function insertAll<Row, Stored>(
  all: readonly Row[],
  insert: (chunk: Row[]) => PromiseLike<Stored[]>,
): Promise<Stored[]> {
  const stored: Stored[] = []
  for (let from = 0; from < all.length; from += CHUNK_ROWS)
    stored.push(...(await insert(all.slice(from, from + CHUNK_ROWS))))
  return stored
}

export interface Migration {
  name: string
  up(knex: Knex): Promise<void>
  down(knex: Knex): Promise<void>
}

/** Arbitrary, the same in every process: the one that holds the lock migrates, the others wait. */
const MIGRATION_LOCK = 7_114_365

/**
 * Brings the schema up to date, and creates the application role with its privileges. One process at a time.
 * @param appPassword gives the application role's, also where `appUrl` names a role that is used as it is
 * @returns the application role's URL
 * @throws StartError of a database that a newer or an unreleased version has used, and of a role that lacks a right
 */
export async function migrate(options: {
  ownerUrl: string
  /** The folder of the embedded PostgreSQL, for errors. */
  dataDir?: string
  appUrl?: string
  appPassword(trx: Transaction): Promise<string>
  migrations: readonly Migration[]
  /** Creates the job engine's schema; runs between the migrations and the grants. */
  prepareJobs(): Promise<void>
  log: Logger
}): Promise<string> {
  // No timeout: waiting for another process and building an index may take long.
  const owner = openPool(options.ownerUrl, 'tidemark-migrate', 2, options.log, { endless: true })
  try {
    return await owner.transaction(async lock => {
      await lock.raw('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK])
      await upgrade(owner, options)
      // First, since it throws when the key is wrong.
      const appPassword = await options.appPassword(lock)
      await options.prepareJobs()
      const { ownerUrl } = options
      const appUrl = options.appUrl ?? (await ensureAppRole(lock, { ownerUrl, appPassword }))
      await grant(lock, decodeURIComponent(new URL(appUrl).username))
      return appUrl
    })
  } catch (error) {
    throw migrationError(error, options)
  } finally {
    await owner.destroy()
  }
}

/**
 * Milliseconds that a migration waits for a lock: every later reader of that table waits behind it. Less
 * than the second after which PostgreSQL looks for deadlocks: of two who wait for each other, the migration gives way.
 */
const LOCK_TIMEOUT_MS = 500
/** Milliseconds until another try: waiting statements run meanwhile. */
const LOCK_RETRY_MS = 1_000

/** Runs the migrations that are missing, all or none, beside processes that go on working. */
async function upgrade(owner: Knex, { migrations, log }: { migrations: readonly Migration[]; log: Logger }) {
  for (;;) {
    try {
      await owner.migrate.latest({
        migrationSource: source(migrations),
        tableName: 'tidemark_migrations',
        beforeAll: (trx: Knex) => trx.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`),
      } as Knex.MigratorConfig)
      return
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      if (code !== '55P03' && code !== '40P01') throw error
      log.warn({ err: message }, 'a table that is to be changed is in use; trying again')
      await wait(LOCK_RETRY_MS)
    }
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
  // Only a superuser may name these attributes of an existing role.
  const start = known ? 'alter role %I with' : 'create role %I with nosuperuser nocreatedb nocreaterole'
  const [command] = await rows<{ text: string }>(
    trx,
    `select format('${start} login password %L', ?::text, ?::text) as text`,
    [role, appPassword],
  )
  await trx.raw(command?.text ?? '').catch((error: Error) => {
    // Knex's message contains the whole statement.
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
  await trx.raw(REVOKE)
}

/**
 * Revokes what no other role may do. A migration did so once, but a restore without privileges loses it: only the
 * application role may run functions with the owner's rights, and partitions are reached through their tables.
 */
const REVOKE = `
  do $$ declare step text; begin
    for step in
      select format('revoke execute on function %s from public', p.oid::regprocedure) from pg_proc p
       where p.pronamespace = 'public'::regnamespace and p.prosecdef and pg_has_role(p.proowner, 'usage')
      union all
      select format('revoke all on schema %I from %s', nspname, case grantee when 0 then 'public' else grantee::regrole::text end)
        from pg_namespace, aclexplode(nspacl) where nspname = 'partitions' and grantee <> nspowner
      union all
      select format('revoke all on %s from %s', c.oid::regclass, case grantee when 0 then 'public' else grantee::regrole::text end)
        from pg_class c join pg_namespace n on n.oid = relnamespace, aclexplode(relacl)
       where nspname = 'partitions' and grantee <> relowner
       group by c.oid, grantee
    loop execute step; end loop;
  end $$`
