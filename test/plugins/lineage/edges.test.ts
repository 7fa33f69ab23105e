import t from 'tap'
import { startServer } from '../../helpers/server.ts'
import { addSource, graphOf } from './world.ts'

const app = await startServer(t)
const [tenant, stranger] = [await app.signUp(), await app.signUp('Other')]
t.beforeEach(() => app.query('delete from rate_windows'))

const EDGES = '/api/v1/sdk/lineage/edges'

async function world(...names: string[]) {
  const added = await addSource(app, tenant, names)
  await app.query(`update tables set columns = '[{"name": "x"}, {"name": "y"}]' where source_id = $1`, [
    added.source,
  ])
  const show = async (asset: string, query = '') => {
    const id = encodeURIComponent(added.ids.get(asset) ?? asset)
    const { status, body } = await tenant.ask('GET', `/api/v1/sdk/lineage/${id}${query}`)
    t.equal(status, 200, JSON.stringify(body).slice(0, 500))
    return body.data as { nodes: Record<string, unknown>[]; edges: Record<string, unknown>[] } & Record<
      string,
      unknown
    >
  }
  return { ...added, ...graphOf(app, tenant, added.ids), show }
}

t.test('edges show who reports them, when, how surely, and on request their columns', async t => {
  const { record, show, source } = await world('a', 'b', 'c', 'd')
  await record(['a.x > b.y, a.y ~> b.*'], { origin: 'view', sourceId: source, detail: 'main.b' })
  await record(['a > b'], { origin: 'manual' })
  await record(['b > c'], { detail: 'airflow.load' })
  await record(['c > d'], { origin: 'foreign_key', sourceId: source, detail: 'd_fk' })
  const { edges } = await show('b')
  t.match(edges, [
    {
      edge_type: 'view',
      confidence: 1,
      origins: [
        { origin: 'view', detail: 'main.b', confidence: 1 },
        { origin: 'manual', detail: '' },
      ],
      is_stale: false,
      last_seen_at: String,
    },
    { edge_type: 'openlineage', origins: [{ origin: 'openlineage', detail: 'airflow.load' }] },
  ])
  t.notOk('columns' in edges[0]!)
  const withColumns = (await show('b', '?columns=true')).edges
  t.same(withColumns[0]!.columns, [
    { upstream_column: 'x', downstream_column: 'y', kind: 'direct' },
    { upstream_column: 'y', downstream_column: '*', kind: 'indirect' },
  ])
  t.equal(withColumns[1]!.columns, null)
  t.match((await show('b', '?include=foreign_keys')).edges.at(-1), { edge_type: 'foreign_key' })
  t.match((await show(source, '?include=foreign_keys')).edges, { length: 3 })
  t.match((await show(source)).edges, { length: 2 })
})

t.test('on request nodes show the health of tables and how many neighbours they have', async t => {
  const { record, show, source, ids, name } = await world('a', 'b', 'c')
  await record(['a > b', 'b > [weekly]'], { origin: 'view', sourceId: source, detail: 'main.b' })
  await record(['b > c'], { origin: 'foreign_key', sourceId: source, detail: 'c_fk' })
  const asset = { id: ids.get('b')!, qualifiedName: `${name}.main.main.b`, assetType: 'table', tags: [] }
  await app.server.db.company(tenant.companyId, trx =>
    app.server.plugins.alerts.raise(trx, {
      ...{ type: 'schema_change', cause: ids.get('b')!, severity: 'warning', title: 'b changed' },
      ...{ ruleName: 'b', sourceId: source, asset, details: {} },
    }),
  )
  const { nodes } = await show('a', '?depth=1&details=true')
  const healthy = { quality_status: 'none', freshness_status: 'unknown', schema_change_status: 'none' }
  t.match(nodes, [
    { name: 'a', health: { ...healthy, open_alerts: 0 }, upstream_count: 0, downstream_count: 1 },
    { name: 'b', health: { ...healthy, open_alerts: 1 }, upstream_count: 1, downstream_count: 1 },
  ])
  const all = await show('b', '?details=true&include=foreign_keys')
  t.match(
    all.nodes.find(node => node.name === 'weekly'),
    { health: null, upstream_count: 1, downstream_count: 0 },
  )
  t.match(
    all.nodes.find(node => node.name === 'b'),
    { downstream_count: 2 },
  )
  t.notOk('health' in (await show('a')).nodes[0]!)
})

t.test('an edge of a pipeline that is not seen for a month is stale, one by hand never', async t => {
  const { record, show } = await world('a', 'b', 'c')
  await record(['a > b'])
  await record(['b > c'], { origin: 'manual' })
  await app.query(`update lineage_edge_origins set last_seen_at = now() - interval '31 days'`)
  t.strictSame((await show('a')).edges.map(({ is_stale: isStale }) => isStale).sort(), [false, true])
  await record(['a > b'])
  t.notOk((await show('a')).edges.some(({ is_stale: isStale }) => isStale))
})

t.test('what is outside the catalog is a node, and can be asked for by id and name', async t => {
  const { record, show, ids } = await world('a', 'b')
  await record(['a > b', 'b > [weekly sales]'.replace(' sales', '')])
  const { nodes } = await show('a')
  const node = nodes.find(({ is_external: isExternal }) => isExternal)!
  t.match(node, {
    name: 'weekly',
    qualified_name: 'bi/weekly',
    asset_type: 'dashboard',
    source_type: null,
    namespace: 'bi',
    owners: [],
    downstream_distance: 2,
  })
  for (const name of [String(node.id), 'bi/weekly'])
    t.match(await show(name), { asset_id: node.id, root: { name: 'weekly' }, upstream: [{}, {}] })
  t.match(
    nodes.find(({ id }) => id === ids.get('a')),
    { is_external: false, namespace: null },
  )
})

t.test('edges are added by hand, changed, listed and removed', async t => {
  const { show, ids, name } = await world('a', 'b')
  const body = {
    upstream: ids.get('a'),
    downstream: `${name}.main.main.b`,
    columns: [{ upstream_column: 'x', downstream_column: '*', kind: 'indirect' }],
  }
  const made = await tenant.ask('POST', EDGES, body)
  t.match(made, {
    status: 201,
    body: {
      data: { edge_type: 'manual', source: `${name}.main.main.a`, columns: [{ upstream_column: 'x' }] },
    },
  })
  const external = {
    upstream: ids.get('b'),
    downstream_external: { kind: 'dashboard', namespace: 'looker', name: 'By hand', url: 'https://l/1' },
  }
  t.match(await tenant.ask('POST', EDGES, external), { status: 201, body: { data: { columns: null } } })
  t.match((await tenant.ask('POST', EDGES, { ...body, columns: [] })).body.data, { columns: [] })
  t.match((await show('a')).nodes.map(({ name }) => name).sort(), ['By hand', 'a', 'b'])
  const listed = (await tenant.ask('GET', `${EDGES}?limit=2`)).body.data
  t.match(listed, { data: [{ target: /by hand/i }, { target: /\.b$/ }], pagination: { has_more: true } })
  const actions = await app.query(
    `select action, details ->> 'name' as name from audit_log where company_id = $1 and action like 'lineage_edge.%' order by sequence`,
    [tenant.companyId],
  )
  t.strictSame(
    actions.map(({ action }) => action),
    ['lineage_edge.created', 'lineage_edge.created', 'lineage_edge.changed'],
  )
  t.match(actions[0]!.name, /\.a → .*\.b$/)
  const path = `${EDGES}/${ids.get('a')}/${ids.get('b')}`
  t.match((await stranger.ask('DELETE', path)).status, 404)
  t.equal((await tenant.ask('DELETE', path)).status, 200)
  t.equal((await tenant.ask('DELETE', path)).status, 404)
  t.strictSame((await show('a')).edges, [])
})

t.test('a wrong edge is refused at the field that is wrong', async t => {
  const { ids, source } = await world('a', 'b')
  const [a, b] = [ids.get('a'), ids.get('b')]
  const pair = { upstream_column: 'x', downstream_column: 'y' }
  for (const [body, field] of [
    [{ upstream: a }, 'body'],
    [{ upstream: a, downstream: 'nothing.of.the.kind' }, 'downstream'],
    [{ upstream: source, downstream: b }, 'upstream'],
    [
      { upstream: a, downstream: b, columns: [{ ...pair, upstream_column: 'z' }] },
      'columns.0.upstream_column',
    ],
    [
      { upstream: a, downstream: b, columns: [pair, { ...pair, downstream_column: 'z' }] },
      'columns.1.downstream_column',
    ],
    [
      { upstream: a, downstream_external: { kind: 'car', namespace: 'n', name: 'x' } },
      'downstream_external.kind',
    ],
  ] as const) {
    const { status, body: reply } = await tenant.ask('POST', EDGES, body)
    t.match([status, reply.error.details.field], [400, field], JSON.stringify(body))
  }
  t.equal((await stranger.ask('POST', EDGES, { upstream: a, downstream: b })).status, 400)
})
