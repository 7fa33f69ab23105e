import t from 'tap'
import type { Connection } from '../../../connectors/connector.ts'
import { mysqlDialect } from '../../../connectors/mysql/dialect.ts'
import { raw, sql, type Sql } from '../../../connectors/sql.ts'
import { mariadbAbsent, startShop, withMysql, type Shop } from '../../helpers/mariadb.ts'

const skip = mariadbAbsent
const QUICK = { timeoutMs: 20_000 }
const DAY_ROWS = 5_000
const DAYS = 10

async function fillOrders({ query }: Shop): Promise<void> {
  const partitions = Array.from(
    { length: DAYS },
    (_, index) =>
      `partition p${index + 1} values less than ('2026-03-${String(index + 2).padStart(2, '0')}')`,
  )
  await query(`create table orders (at datetime not null, amount int, note varchar(100))
    partition by range columns (at) (${partitions.join(', ')})`)
  await query(`insert into orders select '2026-03-01' + interval seq div ${DAY_ROWS} day, seq, repeat('x', 100)
    from seq_0_to_${DAYS * DAY_ROWS - 1}`)
  await query('create table customers (id int primary key)')
  await query('insert into customers select seq from seq_1_to_1000')
  await query('analyze table orders, customers')
}

const estimate = (connection: Connection, statement: Sql) => connection.estimateCost!(statement, QUICK)

function isAbout(found: number | null, wanted: number): boolean {
  return found !== null && found > wanted / 2 && found < wanted * 2
}

t.test('a statement costs the rows that its plan examines', { skip }, async t => {
  const shop = await startShop(t)
  await fillOrders(shop)
  const table = (name: string) => mysqlDialect.table({ catalog: shop.name, schema: shop.name, name })
  const [size] = await shop.query(
    `select avg_row_length as n from information_schema.tables where table_schema = '${shop.name}' and table_name = 'orders'`,
  )
  const length = Number(size?.n)
  await withMysql(shop.config, async connection => {
    await t.test('of a pruned table those of one partition', async t => {
      const { rows, bytes } = await estimate(
        connection,
        sql`select count(*) as m0, max(amount) as m1 from ${table('orders')}
          where at >= '2026-03-04' and at < '2026-03-05'`,
      )
      t.ok(isAbout(rows, DAY_ROWS), `${rows} rows`)
      t.equal(bytes, Number(rows) * length)
    })
    await t.test('of a whole table those of all of them', async t => {
      const { rows } = await estimate(connection, sql`select max(amount) as m from ${table('orders')}`)
      t.ok(isAbout(rows, DAYS * DAY_ROWS), `${rows} rows`)
    })
    await t.test('a lookup for each row of another table reads no more than there is', async t => {
      const orphans = sql`select count(*) as m from ${table('orders')} child
        where child.amount is not null and not exists (
          select 1 from ${table('customers')} parent where parent.id = child.amount)`
      const { rows, bytes } = await estimate(connection, orphans)
      t.ok(isAbout(rows, DAYS * DAY_ROWS + 1_000), `${rows} rows`)
      t.ok(Number(bytes) > DAYS * DAY_ROWS * 10, `${bytes} bytes`)
    })
    await t.test('a sub-query that depends on the row is run for each', async t => {
      const limit = raw('(select parent.id from')
      const each = sql`select sum(${limit} ${table('customers')} parent where parent.id = child.amount limit 1)) as m
        from ${table('orders')} child`
      const { rows } = await estimate(connection, each)
      t.ok(isAbout(rows, DAYS * DAY_ROWS + 1_000), `${rows} rows`)
    })
    await t.test('what a name stands for decides the length of its rows', async t => {
      const both = sql`select a.n, b.n as m from (select count(amount) as n from ${table('orders')}) a
        cross join (select count(*) as n from ${table('customers')}) b`
      const { rows, bytes } = await estimate(connection, both)
      t.ok(isAbout(rows, DAYS * DAY_ROWS + 1_000), `${rows} rows`)
      t.ok(Number(bytes) >= DAYS * DAY_ROWS * 100, `${bytes} bytes`)
    })
    await t.test('functions that wait are not run', async t => {
      const { rows, bytes } = await estimate(connection, sql`select ${raw('sleep(600)')} as one`)
      t.strictSame([rows, bytes], [0, 0])
    })
  })
})
