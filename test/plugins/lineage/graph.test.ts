import t from 'tap'
import { startServer } from '../../helpers/server.ts'
import { pruneLineage } from '../../../plugins/lineage/graph/fading.ts'
import { addSource, graphOf } from './world.ts'

const app = await startServer(t)
const [tenant, stranger] = [await app.signUp(), await app.signUp('Other')]

async function world(...names: string[]) {
  const added = await addSource(app, tenant, names)
  return { ...added, ...graphOf(app, tenant, added.ids) }
}
const down = { direction: 'downstream' } as const
const up = { direction: 'upstream' } as const

t.test('edges are counted when they are new, and walked in both directions with the distance', async t => {
  const { record, walk } = await world('a', 'b', 'c', 'd')
  t.strictSame(await record(['a > b', 'b > c', 'a > c', 'a > nowhere', 'c > d']), {
    nodes: 4,
    edges: 4,
    columns: 0,
    keptColumns: 0,
    removed: 0,
  })
  t.match(await record(['a > b', 'a > d', 'a > b']), { nodes: 0, edges: 1, removed: 0 })
  t.equal((await walk('a', down)).nodes, 'b:1, c:1, d:1')
  t.equal((await walk('b', down)).nodes, 'c:1, d:2')
  t.equal((await walk('b', { ...down, depth: 1 })).nodes, 'c:1')
  t.equal((await walk('d', up)).nodes, 'a:1, b:2, c:1')
  t.match(await walk('a', { ...down, most: 2 }), { edges: { length: 2 }, isComplete: false })
})

t.test('cycles end, and the start is not part of what is reached', async t => {
  const { record, walk } = await world('a', 'b', 'c')
  await record(['a > b', 'b > c', 'c > a', 'b > b'])
  t.equal((await walk('a', down)).nodes, 'b:1, c:2')
  t.equal((await walk('a', up)).nodes, 'b:2, c:1')
})

t.test('columns are followed, also around a circle, until one whose edge does not know them', async t => {
  const { record, walk } = await world('a', 'b', 'c', 'd', 'e')
  await record(['a.x > b.y, a.z > b.w', 'b.y > c.u, b.w ~> c.*', 'c > d', 'b.w > a.x', 'd.q > e.q'])
  const from = (column: string) => walk('a', { ...down, columns: [column] }).then(({ nodes }) => nodes)
  t.equal(await from('x'), 'b:1(y), c:2(u), d:3(?), e:4(?)')
  t.equal(await from('z'), 'b:1(w y), c:2(* u), d:3(?), e:4(?)')
  t.equal(await from('other'), '')
  t.equal((await walk('c', { ...up, columns: ['u'] })).nodes, 'a:2(x z), b:1(w y)')
  t.equal((await walk('c', { ...up, columns: ['other'] })).nodes, 'a:2(z), b:1(w)', 'by the filter')
  t.equal((await walk('a', down)).nodes, 'b:1, c:2, d:3, e:4')
})

t.test(
  'an edge that reports no columns says so, one that reports that it uses none is not followed',
  async t => {
    const { record, walk, ids } = await world('a', 'b')
    await record(['a > b'])
    t.equal((await walk('a', { ...down, columns: ['x'] })).nodes, 'b:1(?)')
    await app.server.db.company(tenant.companyId, trx =>
      app.server.plugins.lineage.recordEdges(trx, {
        origin: 'openlineage',
        sourceId: null,
        isComplete: false,
        edges: [
          {
            upstream: { tableId: ids.get('a')! },
            downstream: { tableId: ids.get('b')! },
            detail: '',
            columns: [],
          },
        ],
      }),
    )
    t.equal((await walk('a', { ...down, columns: ['x'] })).nodes, '')
    await record(['a > b'])
    t.equal((await walk('a', { ...down, columns: ['x'] })).nodes, '', 'columns are kept')
    t.match(await record(['a.x > b.y, a.x > b.z']), { columns: 2 })
    t.match(await record(['a.x > b.z']), { columns: 1 })
    t.equal((await walk('a', { ...down, columns: ['x'] })).nodes, 'b:1(z)', 'and replaced by new ones')
  },
)

t.test('things outside the catalog are created once, and keep what is not reported again', async t => {
  const { record, walk } = await world('a', 'b')
  t.match(await record(['a > b', 'b > [sales]', '[raw] > a']), { nodes: 4, edges: 3 })
  t.match(await record(['a > [sales]']), { nodes: 0, edges: 1 })
  t.equal((await walk('a', down)).nodes, '[sales]:1, b:1')
  t.equal((await walk('b', up)).nodes, '[raw]:2, a:1')
  await app.server.db.company(tenant.companyId, trx =>
    app.server.plugins.lineage.recordEdges(trx, {
      origin: 'dbt',
      sourceId: null,
      isComplete: false,
      edges: [{ name: 'one', url: 'https://bi/1', owners: [{ email: 'a@b.c' }] }, { name: 'two' }].map(
        node => ({
          upstream: { outside: { kind: 'dataset', namespace: 'x', name: 'data' } },
          downstream: { outside: { kind: 'dashboard', namespace: 'x', ...node } },
          detail: 'p.exposure',
        }),
      ),
    }),
  )
  const nodes = await app.query(
    `select name, kind, url, owners, qualified_name from lineage_nodes where namespace = 'x' order by 1`,
  )
  t.match(nodes, [
    { name: 'data', kind: 'dataset', url: null, owners: [] },
    {
      name: 'one',
      kind: 'dashboard',
      url: 'https://bi/1',
      owners: [{ email: 'a@b.c' }],
      qualified_name: 'x/one',
    },
    { name: 'two' },
  ])
})

t.test('a complete report removes what it misses, within its origin, source and scope', async t => {
  const { record, walk, source } = await world('a', 'b', 'c', 'd')
  const view = { origin: 'view', sourceId: source, isComplete: true } as const
  await record(['a > b', 'b > c'], view)
  await record(['a > b'], { origin: 'manual' })
  await record(['c > d'], { origin: 'dbt', isComplete: true, scope: 'one.', detail: 'one.m' })
  t.match(await record(['b > c'], view), { edges: 0, removed: 1 })
  t.equal((await walk('a', down)).nodes, 'b:1, c:2, d:3', 'the edge by hand is still there')
  t.match(await record([], view), { removed: 1 })
  t.match(await record([], { origin: 'dbt', isComplete: true, scope: 'two.' }), { removed: 0 })
  t.equal((await walk('a', down)).nodes, 'b:1')
  t.equal((await walk('c', down)).nodes, 'd:1')
  t.match(await record([], { origin: 'dbt', isComplete: true, scope: 'one.' }), { removed: 1 })
  t.equal((await walk('c', down)).nodes, '')
})

t.test('foreign keys are no flow, and become one when another origin reports the same edge', async t => {
  const { record, walk, source } = await world('a', 'b', 'c')
  const keys = { origin: 'foreign_key', sourceId: source, isComplete: true } as const
  t.match(await record(['a > b', 'b > c'], keys), { nodes: 3, edges: 2 })
  t.equal((await walk('a', down)).nodes, '')
  t.match(await record(['a > b'], { origin: 'demo', sourceId: source }), { nodes: 2, edges: 1 })
  const { nodes, edges } = await walk('a', down)
  t.equal(nodes, 'b:1')
  t.strictSame(
    edges.map(({ origins }) => origins),
    [['demo', 'foreign_key']],
  )
  await record([], { origin: 'demo', sourceId: source, isComplete: true })
  t.equal((await walk('a', down)).nodes, '')
  const [{ count } = {}] = await app.query('select count(*)::int from lineage_edges where source_id = $1', [
    source,
  ])
  t.equal(count, 2)
})

t.test('no company sees or writes edges of another', async t => {
  const { record, walk, ids } = await world('a', 'b')
  await record(['a > b'])
  const theirs = graphOf(app, stranger, ids)
  t.equal((await theirs.walk('a', down)).nodes, '')
  t.match(await theirs.record(['b > a']), { nodes: 0, edges: 0 })
  t.equal((await walk('b', down)).nodes, '')
})

t.test('a large graph is stored and walked in a fixed number of statements', async t => {
  const names = Array.from({ length: 1_000 }, (_, n) => `t${n}`)
  const { record, walk } = await world(...names)
  const edges = names.slice(1).map((name, n) => `t${Math.floor(n / 10)}.x > ${name}.x`)
  t.match(await record(edges), { nodes: 1_000, edges: 999, columns: 999 })
  t.match(await record(edges), { nodes: 0, edges: 0, columns: 999 })
  const { nodes, isComplete } = await walk('t0', { ...down, columns: ['x'] })
  t.match([nodes.split(', ').length, isComplete], [999, true])
})

t.test('edges that pipelines do not report any more go, and with the last one what is outside', async t => {
  const { record, walk, source } = await world('a', 'b', 'c', 'd')
  const age = (days: number) =>
    app.query(`update lineage_edge_origins set last_seen_at = now() - make_interval(days => $1)`, [days])
  await record(['a > b', 'b > c', 'a > [old]', 'c > d'])
  await record(['b > c'], { origin: 'manual' })
  await record(['c > d'], { origin: 'foreign_key', sourceId: source })
  await age(89)
  await pruneLineage(app.server)
  t.equal((await walk('a', down)).nodes, '[old]:1, b:1, c:2, d:3')
  await age(91)
  await app.query(`update lineage_nodes set last_seen_at = now() - interval '2 days' where namespace = 'bi'`)
  await record(['a > b'])
  await pruneLineage(app.server)
  t.equal((await walk('a', down)).nodes, 'b:1, c:2')
  t.strictSame(await app.query(`select from lineage_nodes where name = 'old'`), [])
})
