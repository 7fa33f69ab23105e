import mysql2 from 'mysql2'
import pg from 'pg'
import { startTestCluster } from '../helpers/cluster.ts'
import { mariadbAbsent, startShop } from '../helpers/mariadb.ts'
import { fillOf, TABLE, type BenchColumn, type EngineName } from './scan-columns.ts'

type Row = Record<string, unknown>

/** A database to scan, in a server of its own, and an open connection of the engine's driver to it. */
export interface BenchSource {
  /** A `connection_config`. */
  config: Record<string, unknown>
  /** Makes the table with its rows. */
  fill(columns: readonly BenchColumn[], rows: number): Promise<void>
  /** Removes the table. */
  drop(): Promise<void>
  /** Runs one statement as the reader, by the driver alone. */
  query(text: string): Promise<Row[]>
}

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
    // Not the cluster of the product's own database: neither is to find the other's pages in its buffers.
    const cluster = await startTestCluster()
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
        await owner.query(create(columns, 'postgresql'))
        const values = columns.map(column => fillOf(column, 'postgresql')).join(', ')
        await owner.query(`insert into ${TABLE} select ${values} from generate_series(1::bigint, ${rows}) g`)
        await owner.query(`vacuum analyze ${TABLE}`)
      },
      async drop() {
        await owner.query(`drop table ${TABLE}`)
      },
      query: async text => (await reader.query(text)).rows as Row[],
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
        await shop.query(create(columns, 'mysql'))
        const values = columns.map(column => fillOf(column, 'mysql')).join(', ')
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
    }
  },
}

/** The engines that are measured. */
export const engines: readonly BenchEngine[] = [postgresql, mysql]

function create(columns: readonly BenchColumn[], engine: EngineName): string {
  return `create table ${TABLE} (${columns.map(({ name, type }) => `${name} ${type[engine]}`).join(', ')})`
}

async function connect(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ssl: false, ...config })
  client.on('error', () => {})
  await client.connect()
  return client
}
