import t from 'tap'
import { command as tidemark } from '../../helpers/command.ts'
import { SECRET_KEY } from '../../helpers/server.ts'
import { discover, makeStage } from '../../helpers/world.ts'
import { shopAndWarehouse } from './two-sources.ts'

const stage = await makeStage(t)
const { shop, warehouse, tenant } = await shopAndWarehouse(t, stage)
await shop.source.query('create table twin as select id, status as state, total from orders')
await shop.source.query('create table blobs (id int primary key, body json)')
await discover(shop)
const { app } = stage
const [copy, orders] = ['warehouse.public.orders_copy', 'shop.public.orders']

const afar = { TIDEMARK_URL: app.server.info.uri, TIDEMARK_API_KEY: tenant.key }
const near = { DATABASE_URL: String(app.server.config.databaseUrl), SECRET_KEY, EGRESS_ALLOW: '127.0.0.0/8' }

const ways = [
  ['from afar', (...words: string[]) => tidemark(['compare', ...words], afar)],
  [
    'on the database of the settings',
    (...words: string[]) => tidemark(['compare', ...words, '--company', tenant.companyId], near),
  ],
] as const

for (const [where, compare] of ways) {
  t.test(`${where}, tables that differ end with 1, and the rows are shown by their keys`, async t => {
    const { code, out, err } = await compare(copy, orders, '--key', 'id')
    t.match({ code, err }, { code: 1, err: '' })
    const [sentence, headings, ...rows] = out.trimEnd().split('\n')
    t.equal(
      sentence,
      'orders_copy: 4 of 51 rows differ: 1 only in warehouse, 2 only in shop, 1 in column total',
    )
    t.match(headings, /^key +column +warehouse\.public\.orders_copy +shop\.public\.orders$/)
    t.match(rows.toSorted(), [
      /^20 +total +21\.5 +20\.5$/,
      /^7 +missing +present$/,
      /^8 +missing +present$/,
      /^99 +present +missing$/,
    ])
  })

  t.test(`${where}, tables that are equal end with 0`, async t => {
    const { code, out, err } = await compare(copy, orders, '--key', 'id', '--where', 'id < 7')
    t.strictSame({ code, out, err }, { code: 0, out: 'orders_copy: all 6 rows are equal\n', err: '' })
  })

  t.test(`${where}, what cannot run has another exit code than tables that differ`, async t => {
    t.match(await compare(copy, orders), { code: 2, out: '', err: /Comparing rows needs --key/ })
    t.match(await compare('orders', orders, '--key', 'id'), {
      code: 2,
      out: '',
      err: /orders names no table/,
    })
    t.match(await compare(copy, 'shop.public.orderz', '--key', 'id'), { code: 2, out: '', err: /orderz/ })
    t.match(await compare(copy, 'nowhere.public.orders', '--key', 'id'), { code: 3, out: '' })
    t.match(await compare(copy, orders, '--key', 'id', '--columns', 'status=total'), {
      ...{ code: 2, out: '', err: /no values in common/ },
    })
    t.match(await compare(copy, orders, '--key', 'id='), { code: 2, out: '', err: /Give names of columns/ })
    const repeated = await compare(copy, orders, '--key', 'status', '--columns', 'total', '--format', 'junit')
    t.equal(repeated.code, 5, 'an error is never equal')
    t.match(repeated.out, /failures="0" errors="1".*<error message="error: /s)
  })
}

const [, compare] = ways[0]

t.test('pairs of columns, other conditions of the right table, counts and aggregates', async t => {
  const paired = await compare(
    ...['shop.public.orders', 'shop.public.twin', '--key', 'id', '--columns', 'status=state,total'],
    ...['--where', 'id <= 40', '--right-where', 'id <= 41'],
  )
  t.match(paired, {
    code: 1,
    out: /^orders: 1 of 41 rows differs: 1 only in twin\n.*\n41 +missing +present\n$/,
  })
  t.match(await compare(copy, orders, '--level', 'counts'), {
    ...{ code: 1, out: /^orders_copy: 49 rows in warehouse, 50 in shop\n/ },
  })
  const grouped = await compare(copy, orders, '--level', 'counts', '--group-by', 'status')
  t.match(grouped, { code: 1, out: /\nstatus = new +rows +1 +0\n/ })
  t.match(grouped, { out: /\nstatus = paid +rows +48 +50\n/ })
  t.match(await compare(copy, orders, '--level', 'aggregates', '--columns', 'total'), {
    ...{ code: 1, out: /\n +sum of total +\S+ +\S+\n/ },
  })
})

t.test('a hundred rows are shown, and how many more there are', async t => {
  await warehouse.source.query(
    `insert into orders_copy select g, 'x', 0, now() from generate_series(1001, 1150) g`,
  )
  t.teardown(() => warehouse.source.query('delete from orders_copy where id > 1000'))
  const { out } = await compare(copy, orders, '--key', 'id')
  t.match(out, /\n… and 54 more\n$/)
})

t.test('JSON holds the reply, and JUnit one test case of the two tables', async t => {
  for (const chosen of [['--json'], ['--format', 'json']]) {
    const { code, out } = await compare(copy, orders, '--key', 'id', ...chosen)
    t.equal(code, 1)
    t.match(JSON.parse(out), { left: copy, right: orders, status: 'fail', differing_rows: 4, only_right: 2 })
  }
  const failed = await compare(copy, orders, '--key', 'id', '--format', 'junit')
  t.equal(failed.code, 1)
  t.match(
    failed.out,
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuite .* tests="1" failures="1" errors="0">/,
  )
  t.match(failed.out, `name="${copy} and ${orders}"`)
  t.match(failed.out, /<failure message="orders_copy: 4 of 51 rows differ/)
  const passed = await compare(copy, orders, '--key', 'id', '--where', 'id < 7', '--format', 'junit')
  t.equal(passed.code, 0)
  t.notMatch(passed.out, /<failure|<error/)
})

t.test('values cannot end the elements of a report', async t => {
  await warehouse.source.query(`update orders_copy set status = '</failure> & "x"' where id = 30`)
  t.teardown(() => warehouse.source.query(`update orders_copy set status = 'paid' where id = 30`))
  const { out } = await compare(copy, orders, '--key', 'id', '--where', 'id = 30', '--format', 'junit')
  t.match(out, '&lt;/failure&gt; &amp; &quot;x&quot;')
})

t.test('columns that are left out because they cannot be compared are said beside the result', async t => {
  await warehouse.source.query('alter table orders_copy add column spot point')
  await shop.source.query('alter table orders add column spot point')
  await discover(warehouse)
  await discover(shop)
  const { code, err } = await compare(copy, orders, '--key', 'id', '--where', 'id < 7')
  t.equal(code, 0)
  t.match(err, /spot is of type point, whose values cannot be compared/)
})
