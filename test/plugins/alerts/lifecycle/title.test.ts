import t from 'tap'
import { formatTitle } from '../../../../plugins/alerts/lifecycle/title.ts'
import { startServer } from '../../../helpers/server.ts'
import { makeWorld, type World } from '../world.ts'

const app = await startServer(t)

t.test('a title begins with what it is about', async t => {
  t.equal(
    formatTitle('orders', {
      found: '12 rows',
      expected: '80 to 95',
      deviation: '−85 %',
      scope: ['region north'],
    }),
    'orders, region north: 12 rows, expected 80 to 95 (−85 %)',
  )
  t.equal(
    formatTitle('orders', { column: 'total', filter: "country = 'DE'", found: '5 rows without a value' }),
    "orders.total where country = 'DE': 5 rows without a value",
  )
  t.equal(formatTitle('orders', { column: null, found: 'table removed' }), 'orders: table removed')
})

/** Gives the company a table. @returns the asset of an event about it */
async function addTable({ companyId }: World, sourceId: string, path: [source: string, ...string[]]) {
  const [, catalog, schema, name] = path
  const [table] = await app.query(
    `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind, columns, constraints,
       fingerprint)
     values (gen_random_uuid(), $1, $2, $3, $4, $5, $6, 'table', '[]', '[]', '') returning id`,
    [companyId, sourceId, catalog, schema, name, path.join('.')],
  )
  return { id: String(table?.id), qualifiedName: path.join('.'), assetType: 'table' }
}

t.test('a table has its short name, with what distinguishes it where another has the same', async t => {
  const world = await makeWorld(app)
  const { sourceId } = world
  const other = await world.addSource('copy')
  const assets = [
    await addTable(world, sourceId, ['shop', 'db', 'public', 'orders']),
    await addTable(world, sourceId, ['shop', 'db', 'public', 'Sales']),
    await addTable(world, sourceId, ['shop', 'db', 'archive', 'sales']),
    await addTable(world, sourceId, ['shop', 'db', 'public', 'users']),
    await addTable(world, other, ['copy', 'db', 'public', 'users']),
    await addTable(world, other, ['copy', 'db', 'public', 'events']),
    await addTable(world, other, ['copy', 'old', 'public', 'events']),
  ]
  const stranger = await makeWorld(app)
  await addTable(stranger, stranger.sourceId, ['shop', 'db', 'public', 'orders'])
  await world.raiseAll(assets.map((asset, n) => ({ asset, cause: `rule:${n}`, title: { found: 'is late' } })))
  const titles = await app.query(`select title from alerts where company_id = $1 order by cause`, [
    world.companyId,
  ])
  t.strictSame(
    titles.map(({ title }) => title),
    [
      'orders: is late',
      'public.Sales: is late',
      'archive.sales: is late',
      'shop.users: is late',
      'copy.users: is late',
      'db.public.events: is late',
      'old.public.events: is late',
    ],
  )
})

t.test(
  'one statement names the tables of all events, and one that is gone has the last part of its name',
  async t => {
    const world = await makeWorld(app)
    await world.raiseAll([
      { title: { found: 'table removed' } },
      { cause: 'rule:2', title: 'stands as it is' },
    ])
    const titles = await app.query(`select title from alerts where company_id = $1 order by cause`, [
      world.companyId,
    ])
    t.strictSame(
      titles.map(({ title }) => title),
      ['orders: table removed', 'stands as it is'],
    )
  },
)
