import { DuckDBInstance } from '@duckdb/node-api'
import mysql2 from 'mysql2'
import pg from 'pg'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { mariadbAbsent, startShop } from '../helpers/mariadb.ts'
import { startStockPostgres } from '../helpers/stock-postgres.ts'
import {
  createTable,
  forEngine,
  rowValues,
  TABLE,
  type BenchColumn,
  type EngineName,
} from './scan-columns.ts'

type Row = Record<string, unknown>

/** A database to scan, in a server of its own, and an open connection of the engine's driver to it. */
export interface BenchSource {
  /** A `connection_config`. */
  config: Record<string, unknown>
  /** Settings that the service needs for it. */
  settings?: Record<string, string>
  /** Makes the table with its rows. */
  fill(columns: readonly BenchColumn[], rows: number): Promise<void>
  /** Removes the table. */
  drop(): Promise<void>
  /** Runs one statement as the reader, by the driver alone. */
  query(text: string): Promise<Row[]>
  /** Statements that a person may try before measuring by hand, by name; the first, which are none, are the defaults. */
  tunings: readonly { name: string; statements: readonly string[] }[]
}

const DEFAULTS = { name: 'defaults', statements: [] }

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** An engine to scan. */
export interface BenchEngine {
  name: EngineName
  label: string
  /** Starts its server, or says why it cannot be had. */
  start(t: Teardown): Promise<BenchSource | string>
}

const postgresql: BenchEngine = {
  name: 'postgresql',
  label: 'PostgreSQL',
  async start(t) {
    // With the settings that users have. It is not the cluster of the product's own database, so that neither finds the
    // other's pages in its buffers.
    const cluster = await startStockPostgres()
    const admin = await connect({ ...cluster, database: 'postgres' })
    await admin.query('create database shop')
    await admin.query(`create role reader login password 'reader' in role pg_read_all_data`)
    const owner = await connect({ ...cluster, database: 'shop' })
    const reader = await connect({ ...cluster, database: 'shop', user: 'reader', password: 'reader' })
    t.teardown(() => Promise.all([admin, owner, reader].map(client => client.end())))
    return {
      config: {
        ...{ host: cluster.host, port: cluster.port, database: 'shop' },
        ...{ username: 'reader', password: 'reader', sslmode: 'prefer' },
      },
      async fill(columns, rows) {
        await owner.query(createTable(columns, 'postgresql'))
        const values = rowValues(columns, 'postgresql')
        await owner.query(`insert into ${TABLE} select ${values} from generate_series(1::bigint, ${rows}) g`)
        await owner.query(`vacuum analyze ${TABLE}`)
      },
      async drop() {
        await owner.query(`drop table ${TABLE}`)
      },
      query: async text => (await reader.query(text)).rows as Row[],
      tunings: [
        { ...DEFAULTS, statements: ['reset jit'] },
        { name: 'jit = off', statements: ['set jit = off'] },
      ],
    }
  },
}

const mysql: BenchEngine = {
  name: 'mysql',
  label: 'MariaDB',
  async start(t) {
    if (mariadbAbsent) return mariadbAbsent
    const shop = await startShop(t)
    // As large as the largest table, which would otherwise be read from the disk by every statement.
    await shop.query('set global innodb_buffer_pool_size = 2 * 1024 * 1024 * 1024')
    const { host, port, database, username: user, password } = shop.config
    const reader = mysql2.createConnection({ host, port, database, user, password, decimalNumbers: true })
    t.teardown(() => new Promise<void>(resolve => reader.end(() => resolve())))
    return {
      config: shop.config,
      async fill(columns, rows) {
        await shop.query(createTable(columns, 'mysql'))
        const values = rowValues(columns, 'mysql')
        await shop.query(
          `insert into ${TABLE} select ${values} from (select seq as g from seq_1_to_${rows}) s`,
        )
        await shop.query(`analyze table ${TABLE}`)
      },
      async drop() {
        await shop.query(`drop table ${TABLE}`)
      },
      query: text =>
        new Promise((resolve, reject) => {
          reader.query(text, (error, rows) => (error ? reject(error) : resolve(rows as Row[])))
        }),
      tunings: [DEFAULTS],
    }
  },
}

const sqlite: BenchEngine = {
  name: 'sqlite',
  label: 'SQLite',
  async start(t) {
    const folder = await mkdtemp(join(tmpdir(), 'scan-'))
    const path = join(folder, 'shop.db')
    const database = new DatabaseSync(path)
    // As the product adds it: SQLite has none.
    const patterns = new Map<string, RegExp>()
    database.function('regexp', { deterministic: true }, (pattern, text) => {
      const known = patterns.get(String(pattern)) ?? new RegExp(String(pattern), 'u')
      patterns.set(String(pattern), known)
      return text === null ? null : Number(known.test(String(text)))
    })
    t.teardown(async () => {
      database.close()
      await rm(folder, { recursive: true, force: true })
    })
    return {
      config: { path },
      settings: { FILE_SOURCES: folder },
      async fill(columns, rows) {
        database.exec(createTable(columns, 'sqlite'))
        database.exec(
          `with recursive s(g) as (select 1 union all select g + 1 from s where g < ${rows})
           insert into ${TABLE} select ${rowValues(columns, 'sqlite')} from s`,
        )
      },
      drop: async () => database.exec(`drop table ${TABLE}`),
      query: async text => database.prepare(text).all() as Row[],
      tunings: [DEFAULTS],
    }
  },
}

/** Files of the folder that DuckDB reads. */
const FILES = 200

const duckdb: BenchEngine = {
  name: 'duckdb',
  label: `DuckDB on ${FILES} Parquet files`,
  async start(t) {
    const folder = await mkdtemp(join(tmpdir(), 'scan-'))
    const files = join(folder, 'lake', TABLE)
    // As many threads as a source has.
    const instance = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '2048MB' })
    const connection = await instance.connect()
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    return {
      config: { path: join(folder, 'lake'), memory_mb: 2048 },
      settings: { FILE_SOURCES: folder },
      async fill(columns, rows) {
        await mkdir(files, { recursive: true })
        const size = Math.ceil(rows / FILES)
        const names = columns.map(
          ({ name, fill, type }) =>
            `cast(${forEngine(fill, 'duckdb')} as ${forEngine(type, 'duckdb')}) as ${name}`,
        )
        for (let from = 1; from <= rows; from += size)
          await connection.run(
            `copy (select ${names.join(', ')} from range(${from}, ${Math.min(rows + 1, from + size)}) r(g))
             to '${files}/part-${String(from).padStart(9, '0')}.parquet'`,
          )
        await connection.run(
          `create or replace view ${TABLE} as select * from read_parquet('${files}/*.parquet')`,
        )
      },
      drop: () => rm(files, { recursive: true }),
      query: async text => (await connection.runAndReadAll(text)).getRowObjectsJson() as Row[],
      tunings: [DEFAULTS],
    }
  },
}

/** The engines that are measured. */
export const engines: readonly BenchEngine[] = [postgresql, mysql, sqlite, duckdb]

async function connect(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ssl: false, ...config })
  client.on('error', () => {})
  await client.connect()
  return client
}
