/** Copies of one table in two databases of PostgreSQL and in one of MariaDB, for measuring comparisons. */
import pg from 'pg'
import { compareRows, pairTables } from '../../checks/comparison/compare.ts'
import type { RowDifferences } from '../../checks/comparison/result.ts'
import type { TableRef } from '../../connectors/catalog.ts'
import type { Connection, Connector } from '../../connectors/connector.ts'
import { mysql } from '../../connectors/mysql/index.ts'
import { postgresql } from '../../connectors/postgresql/index.ts'
import type { TestCluster } from '../helpers/cluster.ts'
import { mariadbAbsent, mysqlSettings, startShop, type Shop } from '../helpers/mariadb.ts'
import { connectOptions, settings } from '../helpers/source.ts'
import { startStockPostgres } from '../helpers/stock-postgres.ts'
import type { Teardown } from './rows.ts'

const TIMEOUT_MS = 1_800_000

/** Where a copy is read. */
export interface Copy {
  engine: Connector
  connection: Connection
  ref: TableRef
}

export interface CompareWorld {
  cluster: TestCluster
  left: Copy
  /** In the same database as the left one. */
  beside: Copy
  right: Copy
  /** Absent where there is no MariaDB. */
  mariadb?: Copy
  shop?: Shop
  owners: { left: pg.Client; right: pg.Client }
  /** Makes rows of all copies but the left one differ: no row, 10, or one of a hundred. */
  plant(which: Planted): Promise<void>
}

export const PLANTED = ['none', '10 rows', '1 %'] as const
export type Planted = (typeof PLANTED)[number]

const COLUMNS =
  'id bigint primary key, customer int not null, status varchar(10), total decimal(10, 2), placed_at timestamp, note varchar(40)'

/** Fills all copies with so many rows. */
export async function makeCompareWorld(t: Teardown, rows: number): Promise<CompareWorld> {
  const cluster = await startStockPostgres()
  const open = async (database: string) => {
    const client = new pg.Client({ ...cluster, database })
    await client.connect()
    t.teardown(() => client.end())
    return client
  }
  const admin = await open('postgres')
  await admin.query(`create role reader login password 'reader' in role pg_read_all_data`)
  for (const name of ['left_shop', 'right_shop']) await admin.query(`create database ${name}`)
  const owners = { left: await open('left_shop'), right: await open('right_shop') }
  for (const [owner, name] of [
    [owners.left, 'orders'],
    [owners.left, 'orders_copy'],
    [owners.right, 'orders'],
  ] as const) {
    await owner.query(`create table ${name} (${COLUMNS})`)
    await owner.query(
      `insert into ${name} select g, g % 10007, (array['new', 'paid', 'sent', 'odd'])[1 + g % 4], (g % 100000) / 100.0,
         timestamp '2024-01-01' + g * interval '1 second', case when g % 50 > 0 then 'note ' || g % 300 end
       from generate_series(1, ${rows}) g`,
    )
    await owner.query(`vacuum analyze ${name}`)
  }
  const copyIn = async (database: string, name: string): Promise<Copy> => {
    const config = { host: cluster.host, port: cluster.port, username: 'reader', password: 'reader' }
    const connection = await postgresql.connect(settings({ ...config, database }), connectOptions)
    t.teardown(() => connection.close())
    const ref = { catalog: database, schema: 'public', name }
    return { engine: postgresql as unknown as Connector, connection, ref }
  }
  const shop = mariadbAbsent === false ? await startShop(t) : undefined
  const mariadb = shop && (await fillMariadb(t, shop, rows))
  return {
    cluster,
    owners,
    left: await copyIn('left_shop', 'orders'),
    beside: await copyIn('left_shop', 'orders_copy'),
    right: await copyIn('right_shop', 'orders'),
    ...(shop && mariadb && { shop, mariadb }),
    async plant(which) {
      const condition = {
        none: undefined,
        '10 rows': `id % ${Math.floor(rows / 10)} = 7`,
        '1 %': 'id % 100 = 7',
      }[which]
      // What was planted before is part of what is planted now.
      if (!condition) return
      const update = (name: string) =>
        `update ${name} set total = total + 1000000 where ${condition} and total < 1000000`
      await owners.left.query(update('orders_copy'))
      await owners.left.query('vacuum analyze orders_copy')
      await owners.right.query(update('orders'))
      await owners.right.query('vacuum analyze orders')
      await shop?.query(update('orders'))
    },
  }
}

async function fillMariadb(t: Teardown, shop: Shop, rows: number): Promise<Copy> {
  await shop.query(`set session sql_mode = '', time_zone = '+00:00'`)
  await shop.query(`create table orders (${COLUMNS.replace('timestamp', 'datetime')})`)
  await shop.query(
    `insert into orders select seq, seq % 10007, elt(1 + seq % 4, 'new', 'paid', 'sent', 'odd'), (seq % 100000) / 100.0,
       timestamp '2024-01-01 00:00:00' + interval seq second, if(seq % 50 > 0, concat('note ', seq % 300), null)
     from seq_1_to_${rows}`,
  )
  await shop.query('analyze table orders')
  const connection = await mysql.connect(mysqlSettings(shop.config), connectOptions)
  t.teardown(() => connection.close())
  const ref = { catalog: shop.name, schema: shop.name, name: 'orders' }
  return { engine: mysql as unknown as Connector, connection, ref }
}

/** Reads two tables from their catalogs and compares them by a key, as often as it is called, as the product does. */
export async function comparing(
  left: Copy,
  right: Copy,
  key: readonly string[] = ['id'],
): Promise<() => Promise<RowDifferences>> {
  const [one, other] = await Promise.all(
    [left, right].map(async ({ engine, connection, ref }) => {
      const [table] = await connection.introspect({ tables: [ref] })
      return {
        dialect: engine.dialect,
        engine: engine.name,
        table: table!,
        conditions: [],
        query: (statement: Parameters<Connection['query']>[0]) =>
          connection.query(statement, { timeoutMs: TIMEOUT_MS }),
      }
    }),
  )
  const pairs = pairTables(one!, other!, {
    keys: key.map(name => ({ left: name, right: name })),
    columns: null,
  })
  if ('message' in pairs) throw new Error(pairs.message)
  const isOneSource = left.ref.catalog === right.ref.catalog
  return () => compareRows({ left: one!, right: other!, isOneSource, pairs, sampleLimit: 100 })
}
