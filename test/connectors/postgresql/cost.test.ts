import t from 'tap'
import type { Connection } from '../../../connectors/connector.ts'
import { raw, sql, type Sql } from '../../../connectors/sql.ts'
import { startSource, withSession, type Source } from '../../helpers/source.ts'

const QUICK = { timeoutMs: 20_000 }
const DAY_ROWS = 20_000
const DAYS = 10

/** A table of ten days, by day in partitions of its own, and the same rows in one table. */
async function fillOrders({ query }: Source): Promise<void> {
  await query('create table orders (at timestamp not null, amount int, note text) partition by range (at)')
  for (let day = 1; day <= DAYS; day++) {
    const [from, to] = [day, day + 1].map(number => `'2026-03-${String(number).padStart(2, '0')}'`)
    await query(`create table orders_${day} partition of orders for values from (${from}) to (${to})`)
  }
  await query(`insert into orders select timestamp '2026-03-01' + (i / ${DAY_ROWS}) * interval '1 day', i, repeat('x', 100)
    from generate_series(0, ${DAYS * DAY_ROWS - 1}) i`)
  await query('create table heap as select * from orders')
  await query('create table indexed as select * from orders')
  await query('create index on indexed (at)')
  for (const name of ['orders', 'heap', 'indexed']) await query(`analyze ${name}`)
}

const day = (table: string) =>
  sql`select count(*) as m0, max(amount) as m1 from ${raw(table)}
    where at >= '2026-03-04' and at < '2026-03-05'`

const estimate = (connection: Connection, statement: Sql) => connection.estimateCost!(statement, QUICK)

function isAbout(found: number | null, wanted: number): boolean {
  return found !== null && found > wanted / 1.5 && found < wanted * 1.5
}

t.test('a statement costs the blocks that its plan reads', async t => {
  const source = await startSource(t)
  await fillOrders(source)
  const sizeOf = async (name: string) =>
    Number((await source.query(`select pg_relation_size('${name}') as n`))[0]?.n)
  await withSession(source.config, async connection => {
    await t.test('of a pruned table those of one partition', async t => {
      const { rows, bytes } = await estimate(connection, day('orders'))
      t.ok(isAbout(rows, DAY_ROWS), `${rows} rows`)
      t.equal(bytes, await sizeOf('orders_4'))
    })
    await t.test('of a whole table those of all of them', async t => {
      const { rows, bytes } = await estimate(connection, sql`select max(amount) as m from orders`)
      t.ok(isAbout(rows, DAYS * DAY_ROWS), `${rows} rows`)
      const sizes = await Promise.all(Array.from({ length: DAYS }, (_, each) => sizeOf(`orders_${each + 1}`)))
      t.equal(
        bytes,
        sizes.reduce((sum, size) => sum + size, 0),
      )
    })
    await t.test('without partitions and index, the whole table, whatever its filter leaves', async t => {
      const { rows, bytes } = await estimate(connection, day('heap'))
      t.ok(isAbout(rows, DAYS * DAY_ROWS), `${rows} rows`)
      t.equal(bytes, await sizeOf('heap'))
    })
    await t.test('by an index, the rows that are expected', async t => {
      const { rows, bytes } = await estimate(connection, day('indexed'))
      t.ok(isAbout(rows, DAY_ROWS), `${rows} rows`)
      t.ok(isAbout(bytes, (await sizeOf('indexed')) / DAYS), `${bytes} bytes`)
    })
    await t.test('of an index that gives the newest value, one row', async t => {
      const { rows } = await estimate(connection, sql`select (select max(at) from indexed) as m0`)
      t.equal(rows, 1)
    })
    await t.test('each SELECT that reads it again counts again', async t => {
      const twice = sql`select a.n, b.n as m from (select count(*) as n from heap) a
        cross join (select count(*) as n from (select amount from heap group by amount) q) b`
      t.equal((await estimate(connection, twice)).bytes, 2 * (await sizeOf('heap')))
    })
    await t.test('of a sample of blocks, its share', async t => {
      const sampled = sql`select count(amount) as m from (select * from heap tablesample system (10)) s`
      const { rows, bytes } = await estimate(connection, sampled)
      t.ok(isAbout(rows, (DAYS * DAY_ROWS) / 10), `${rows} rows`)
      t.ok(isAbout(bytes, (await sizeOf('heap')) / 10), `${bytes} bytes`)
    })
    await t.test('rows that were never counted are unknown, and bytes are not', async t => {
      await source.query(
        'create table fresh with (autovacuum_enabled = off) as select * from heap limit 1000',
      )
      const { rows, bytes } = await estimate(connection, sql`select count(*) as m from fresh`)
      t.equal(rows, null)
      t.equal(bytes, await sizeOf('fresh'))
    })
    await t.test('a bound value is one', async t => {
      const { rows } = await estimate(
        connection,
        sql`select count(*) as m from indexed where at < ${new Date(0)}`,
      )
      t.ok(Number(rows) < DAY_ROWS, `${rows} rows`)
    })
  })
})
