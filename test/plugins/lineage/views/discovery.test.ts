import t from 'tap'
import type { Connection } from '../../../../connectors/connector.ts'
import { sentDuring } from '../../../helpers/sent-statements.ts'
import { discover, makeWorld } from '../../../helpers/world.ts'

const world = await makeWorld(t, [
  'create schema mart',
  'create table customers (id int primary key, email text)',
  'create table orders (id int primary key, customer_id int constraint o_c references customers, total numeric)',
  'create view mart.spent as select c.email, sum(o.total) as total from customers c join orders o on o.customer_id = c.id group by 1',
  'create materialized view top as select * from mart.spent where total > 100',
])
const { app, tenant, source, asset } = world

const connector = app.server.connectors.get('postgresql')
const { connect } = connector
/** In place of the connector's own. */
let viewDefinitions: Connection['viewDefinitions']
let asked = 0
connector.connect = async (config, options) => {
  const connection = await connect(config, options)
  return {
    ...connection,
    viewDefinitions: some => {
      asked++
      return (viewDefinitions ?? connection.viewDefinitions!)(some)
    },
  }
}
t.teardown(() => (connector.connect = connect))

interface ShownEdge {
  source: string
  target: string
  edge_type: string
  confidence: number
  origins: [{ detail: string }]
  columns: { upstream_column: string; downstream_column: string; kind: string }[] | null
}

/** Edges as texts: `orders > spent view 1 [total > total, …]`. */
async function edges(query = '') {
  const { status, body } = await tenant.ask('GET', `/api/v1/sdk/lineage/${asset.id}?columns=true${query}`)
  t.equal(status, 200, JSON.stringify(body).slice(0, 300))
  const short = (name: string) => name.split('.').at(-1)
  return (body.data.edges as ShownEdge[])
    .map(({ source: from, target, edge_type: type, confidence, origins, columns }) => {
      const pairs = columns?.map(
        pair => `${pair.upstream_column}${pair.kind === 'direct' ? '>' : '~'}${pair.downstream_column}`,
      )
      const [{ detail }] = origins
      return `${short(from)} > ${short(target)} ${type} ${confidence} ${detail} ${pairs?.sort().join(' ') ?? '?'}`
    })
    .sort()
}

const SPENT = [
  'customers > spent view 1 mart.spent email>email email~* id~*',
  'orders > spent view 1 mart.spent customer_id~* total>total',
]
const TOP = 'spent > top view 1 public.top email>email total>total total~*'

t.test('a discovery finds views, materialized views and foreign keys', async t => {
  t.match(await discover(world), { status: 'completed' })
  t.strictSame(await edges(), [...SPENT, TOP])
  t.strictSame(await edges('&include=foreign_keys'), [
    'customers > orders foreign_key 1 o_c id>customer_id',
    ...SPENT,
    TOP,
  ])
})

t.test('the source is asked once more, and what did not change is neither parsed nor written', async t => {
  const state = () =>
    app.query(`select xmin::text, 'v' as of from lineage_views union all select xmin::text, origin from lineage_edge_origins
               union all select xmin::text, 's' from lineage_sources order by 1, 2`)
  const before = await state()
  asked = 0
  const sent = await sentDuring(() => discover(world))
  t.equal(asked, 1)
  t.equal(
    sent.filter(({ text }) => /(insert into|delete from) lineage_(edge|column|view)/.test(text)).length,
    0,
  )
  t.strictSame(await state(), before)
})

t.test('a view that changes its definition alone is read again', async t => {
  await source.query(`create or replace view mart.spent as
    select c.email, sum(1::numeric) as total from customers c join orders o on o.customer_id = c.id group by 1`)
  await discover(world)
  t.strictSame(await edges(), [SPENT[0], 'orders > spent view 1 mart.spent customer_id~*', TOP])
})

t.test(
  'a table that changes is noticed by the views that name it; a view and a key that are gone take their edges',
  async t => {
    await source.query('alter table customers rename column email to mail')
    await discover(world)
    t.strictSame((await edges())[0], 'customers > spent view 1 mart.spent id~* mail>email mail~*')
    await source.query('drop materialized view top')
    await source.query('alter table orders drop constraint o_c')
    await discover(world)
    t.strictSame(
      (await edges('&include=foreign_keys')).map(edge => edge.split(' ')[2]),
      ['spent', 'spent'],
    )
  },
)

t.test('where definitions cannot be read, the discovery succeeds and what is known stays', async t => {
  const before = await edges()
  await source.query('create view broken as select 1 as one')
  viewDefinitions = () => Promise.reject(new Error('refused'))
  t.match(await discover(world), { status: 'completed' })
  viewDefinitions = undefined
  t.strictSame(await edges(), before)
})

t.test('what cannot be recorded is rolled back alone', async t => {
  await source.query('create view later as select total from orders')
  await app.query('alter table lineage_views rename to lineage_views_away')
  const run = await discover(world)
  await app.query('alter table lineage_views_away rename to lineage_views')
  t.match(run, { status: 'completed' })
  const [table] = await app.query(`select kind from tables where name = 'later'`)
  t.match(table, { kind: 'view' })
  await discover(world)
  t.ok((await edges()).some(edge => edge.startsWith('orders > later view')))
})
