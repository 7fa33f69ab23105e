import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../../helpers/world.ts'
import { sentDuring } from '../../../helpers/sent-statements.ts'

const stage = await makeStage(t)
const { app, tenant } = stage

const search = async (q: string, query = '', who = tenant) =>
  who.ask('GET', `/api/v1/sdk/search?q=${encodeURIComponent(q)}${query}`)

interface Matches {
  sources: { name: string }[]
  tables: { id: string; name: string; qualified_name: string }[]
  columns: { name: string; asset_id: string; qualified_name: string }[]
}

/** The names that a search finds; those of columns with their table. */
async function namesOf(q: string, query = '') {
  const { status, body } = await search(q, query)
  t.equal(status, 200, q)
  const { sources, tables, columns } = body.data as Matches
  const lastPart = (name: string) => name.split('.').at(-1)
  return {
    sources: sources.map(({ name }) => name),
    tables: tables.map(({ name }) => name),
    columns: columns.map(({ name, qualified_name: table }) => `${lastPart(table)}.${name}`),
  }
}

const SHOP = [
  `create schema sales`,
  `create table sales.orders (id int primary key, "Email" text, shop_id int)`,
  `create table sales.orders_archive (id int, email_hash text)`,
  `create table old_orders (customer_email varchar(40), "100%_sure" boolean)`,
  `create view sales.shop_totals as select 1 as total, 'x'::text as "o'clock\\"`,
]

async function shopWorld(t: Parameters<typeof makeWorldOn>[0]) {
  const world = await makeWorldOn(t, stage, SHOP)
  await discover(world)
  return world
}

t.test('a search finds sources, tables and columns by name, the best matches first', async t => {
  const { asset } = await shopWorld(t)
  t.strictSame(await namesOf('ORDERS'), {
    sources: [],
    tables: ['orders', 'old_orders', 'orders_archive'].toSorted((a, b) => rank(a) - rank(b)),
    columns: [],
  })
  t.strictSame(await namesOf('email'), {
    sources: [],
    tables: [],
    columns: ['orders.Email', 'orders_archive.email_hash', 'old_orders.customer_email'],
  })
  t.strictSame(await namesOf('shop'), {
    sources: ['shop'],
    tables: ['shop_totals'],
    columns: ['orders.shop_id'],
  })
  const { body } = await search('email_h')
  const [orders] = await app.query(`select id, qualified_name from tables where name = 'orders_archive'`)
  t.strictSame(body.data.columns, [
    {
      ...{ name: 'email_hash', data_type: 'text' },
      ...{ asset_id: orders?.id, qualified_name: orders?.qualified_name },
    },
  ])
  t.strictSame((await search('shop')).body.data.sources, [
    {
      ...{ id: asset.id, qualified_name: 'shop', name: 'shop' },
      ...{ asset_type: 'source', source_type: 'postgresql' },
    },
  ])
  t.match((await search('shop_t')).body.data.tables, [{ name: 'shop_totals', asset_type: 'view' }])
  t.strictSame(await namesOf('orders', '&limit=1'), { sources: [], tables: ['orders'], columns: [] })
})

/** Equal, then by the beginning, then by any part. */
const rank = (name: string) => (name === 'orders' ? 0 : name.startsWith('orders') ? 1 : 2)

t.test('a term with dots names schemas, tables and columns', async t => {
  const { source } = await shopWorld(t)
  t.strictSame((await namesOf('sales.orders')).tables, ['orders', 'orders_archive'])
  t.strictSame((await namesOf('public.o')).tables, ['old_orders'])
  t.strictSame((await namesOf('les.')).tables, ['orders', 'shop_totals', 'orders_archive'])
  const database = source.config.database
  t.strictSame((await namesOf(`shop.${database}.sales.orders`)).tables, ['orders', 'orders_archive'])
  t.strictSame((await namesOf(`other.${database}.sales.orders`)).tables, [])
  t.strictSame((await namesOf('orders.e')).columns, ['orders.Email'])
  t.strictSame((await namesOf('sales.orders.')).columns, ['orders.id', 'orders.Email', 'orders.shop_id'])
  t.strictSame((await namesOf('public.orders.e')).columns, [])
})

t.test('every character of a term is one of a name', async t => {
  await shopWorld(t)
  t.strictSame((await namesOf('100%_')).columns, ['old_orders.100%_sure'])
  t.strictSame((await namesOf(`o'clock\\`)).columns, [`shop_totals.o'clock\\`])
  for (const term of ['%', '_rders', '\\', `'`, `e:*`, '!', '&', '(', 'é', '.', '..', 'x'.repeat(200)])
    t.ok(await namesOf(term), term)
  t.strictSame(await namesOf('o%ders'), { sources: [], tables: [], columns: [] })
})

t.test('what a discovery no longer finds is no longer found', async t => {
  const world = await shopWorld(t)
  await world.source.query('alter table sales.orders_archive rename column email_hash to digest')
  await world.source.query('drop table old_orders')
  await discover(world)
  t.strictSame((await namesOf('email')).columns, ['orders.Email'])
  t.strictSame((await namesOf('digest')).columns, ['orders_archive.digest'])
  t.strictSame((await namesOf('old_orders')).tables, [])
})

t.test('a table of very many columns is found by the first of them', async t => {
  const { asset } = await shopWorld(t)
  const wide = `(select jsonb_agg(jsonb_build_object('name', 'würde_' || n || repeat('_ß', 30), 'type', 'text') order by n)
    from generate_series(1, 10000) n)`
  await app.query(`update tables set columns = ${wide} where source_id = $1 and name = 'orders'`, [asset.id])
  t.equal((await namesOf('würde_1')).columns.length, 10)
  t.equal((await namesOf(`würde_7${'_ß'.repeat(30)}`)).columns.length, 1)
})

t.test('another company finds nothing, and bad input is refused', async t => {
  await shopWorld(t)
  const stranger = await app.signUp('Stranger')
  for (const q of ['orders', 'email', 'sales.orders', 'orders.email'])
    t.strictSame((await search(q, '', stranger)).body.data, { sources: [], tables: [], columns: [] }, q)
  for (const query of ['', 'q=', 'q=%20', 'q=a&limit=51', 'q=a&limit=0', `q=${'a'.repeat(201)}`])
    t.equal((await tenant.ask('GET', `/api/v1/sdk/search?${query}`)).status, 400, query)
})

t.test('a search sends one statement for each kind of thing', async t => {
  await shopWorld(t)
  await search('email')
  const sent = await sentDuring(() => search('email'))
  // By what only a search sends: jobs of the shared server read sources meanwhile.
  t.equal(sent.filter(({ text }) => text.includes('strpos(')).length, 3)
})
