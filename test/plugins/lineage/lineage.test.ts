import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer, type Tenant } from '../../helpers/server.ts'

const { server, query, signUp } = await startServer(t)
const [tenant, stranger] = [await signUp(), await signUp('Other')]

t.beforeEach(() => query('delete from rate_windows'))

/** A source with tables of these names and no rows in them, and the graph of it. */
async function world(names: readonly string[], who: Tenant = tenant) {
  const source = randomUUID()
  const name = `s${source.slice(0, 8)}`
  await query(
    `insert into sources (id, company_id, name, source_type, config) values ($1, $2, $3, 'sqlite', '{}')`,
    [source, who.companyId, name],
  )
  const ids = new Map<string, string>()
  for (const table of names) {
    const id = randomUUID()
    ids.set(table, id)
    await query(
      `insert into tables (id, company_id, source_id, catalog_name, schema_name, name, qualified_name, kind,
         columns, constraints, fingerprint, column_count)
       values ($1, $2, $3, 'main', 'main', $4, $5, 'table', '[]', '[]', 'x', 0)`,
      [id, who.companyId, source, table, `${name}.main.main.${table}`],
    )
  }
  const connect = (...pairs: string[]) =>
    server.db.company(who.companyId, trx =>
      server.plugins.lineage.connect(
        trx,
        source,
        pairs.map(pair => pair.split(' > ').map(table => `main.${table}`) as [string, string]),
      ),
    )
  const show = async (asset: string, walk = '') => {
    const { status, body } = await who.ask('GET', `/api/v1/sdk/lineage/${ids.get(asset) ?? asset}${walk}`)
    t.equal(status, 200, JSON.stringify(body))
    const nameOf = (id: string) => [...ids].find(([, each]) => each === id)?.[0] ?? id
    return {
      nodes: Object.fromEntries(
        body.data.nodes.map((node: Record<string, unknown>) => [
          node.name,
          [node.upstream_distance, node.downstream_distance],
        ]),
      ) as Record<string, unknown>,
      edges: body.data.edges
        .map(
          (edge: Record<string, string>) => `${nameOf(edge.upstream_id!)} > ${nameOf(edge.downstream_id!)}`,
        )
        .sort() as string[],
      isComplete: body.data.is_complete as boolean,
    }
  }
  return { source, name, ids, connect, show }
}

t.test('a table shows what it is made from and what is made from it, with the steps there', async t => {
  const { connect, show } = await world(['a', 'b', 'c', 'd', 'e', 'side'])
  await connect('a > b', 'b > c', 'c > d', 'd > e', 'a > side')
  t.strictSame(await show('c'), {
    nodes: { a: [2, null], b: [1, null], c: [0, 0], d: [null, 1], e: [null, 2] },
    edges: ['a > b', 'b > c', 'c > d', 'd > e'],
    isComplete: true,
  })
  t.strictSame(Object.keys((await show('c', '?direction=upstream')).nodes), ['a', 'b', 'c'])
  t.strictSame(Object.keys((await show('c', '?direction=downstream')).nodes), ['c', 'd', 'e'])
  t.strictSame((await show('c', '?depth=1')).edges, ['b > c', 'c > d'])
  t.strictSame((await show('a', '?depth=10')).nodes.e, [null, 4])
})

t.test('of two ways the shorter one counts, and a circle ends', async t => {
  const { connect, show } = await world(['a', 'b', 'c'])
  await connect('a > b', 'b > c', 'a > c', 'c > a', 'b > b')
  const { nodes, edges } = await show('a', '?depth=10')
  t.strictSame(nodes, { a: [0, 0], b: [2, 1], c: [1, 1] })
  t.strictSame(edges, ['a > b', 'a > c', 'b > b', 'b > c', 'c > a'])
})

t.test('a source shows all that is known of it; a table without edges is alone', async t => {
  const { source, name, connect, show } = await world(['a', 'b', 'c', 'alone'])
  t.strictSame(await show(source), { nodes: {}, edges: [], isComplete: true })
  await connect('a > b', 'b > c')
  t.strictSame((await show(name)).edges, ['a > b', 'b > c'])
  t.strictSame(await show('alone'), { nodes: { alone: [0, 0] }, edges: [], isComplete: true })
})

t.test('connecting counts what is new, and leaves out what the catalog does not know', async t => {
  const { connect, ids } = await world(['a', 'b', 'c', 'gone'])
  await query('update tables set is_active = false where id = $1', [ids.get('gone')])
  t.strictSame(await connect('a > b', 'a > nowhere', 'gone > b'), { nodes: 2, edges: 1 })
  t.strictSame(await connect('a > b', 'b > c', 'b > c'), { nodes: 1, edges: 1 })
  t.strictSame(await connect('a > c'), { nodes: 0, edges: 1 })
  t.strictSame(await connect(), { nodes: 0, edges: 0 })
})

t.test('a source says that it has lineage, and loses it with its removal', async t => {
  const { source, connect } = await world(['a', 'b', 'c'])
  const status = async () => (await tenant.ask('GET', `/api/v1/assets/${source}`)).body
  t.equal((await status()).lineage_status, 'none')
  await connect('a > b', 'b > c')
  t.match(await status(), {
    lineage_status: 'ready',
    lineage_message: /^3 tables .* 2 edges: GET .*sdk\/lineage/,
  })
  await tenant.ask('DELETE', `/api/v1/sdk/assets/${source}`)
  t.strictSame(await query('select * from lineage_edges where source_id = $1', [source]), [])
})

t.test('a large graph is cut and says so', async t => {
  const names = Array.from({ length: 60 }, (_, n) => `t${n}`)
  const { source, connect, show } = await world(names)
  const pairs = names.flatMap(one => names.filter(other => other !== one).map(other => `${one} > ${other}`))
  await connect(...pairs)
  for (const asset of [source, 't0']) {
    const { edges, isComplete } = await show(asset)
    t.equal(edges.length, 2_000)
    t.equal(isComplete, false)
  }
})

t.test('the graph names its root, both sides of it, and the ends of its edges', async t => {
  const { source, name, ids, connect } = await world(['a', 'b', 'c', 'd'])
  await connect('a > b', 'b > c', 'c > d', 'd > c')
  const path = (table: string) => `${name}.main.main.${table}`
  const node = (table: string) => ({
    id: ids.get(table),
    qualified_name: path(table),
    name: table,
    asset_type: 'table',
    source_type: 'sqlite',
  })
  const get = async (asset: string) =>
    (await tenant.ask('GET', `/api/v1/sdk/lineage/${encodeURIComponent(asset)}`)).body.data
  const graph = await get(path('c'))
  t.same(graph.root, node('c'))
  t.same(graph.upstream, [node('a'), node('b'), node('d')])
  t.same(graph.downstream, [node('d')], 'on both sides, as it is in a circle')
  t.match(
    graph.edges.map((edge: Record<string, string>) => `${edge.source} > ${edge.target}`).toSorted(),
    ['a > b', 'b > c', 'c > d', 'd > c'].map(edge => edge.split(' > ').map(path).join(' > ')),
  )
  t.match(await get(name), {
    root: { id: source, qualified_name: name, name, asset_type: 'source', source_type: 'sqlite' },
    upstream: [],
    downstream: [],
    edges: { length: 4 },
  })
})

t.test('tables that have lineage are listed by name, a page at a time, to their company alone', async t => {
  const company = await signUp('Lists')
  const list = async (query = '', who = company) => {
    const { status, body } = await who.ask('GET', `/api/v1/sdk/lineage${query}`)
    t.equal(status, 200)
    const { data, pagination } = body.data as { data: Record<string, string>[]; pagination: object }
    return { data, names: data.map(({ name }) => name), pagination }
  }
  t.match(await list(), { names: [], pagination: { total: 0, has_more: false } })
  const { name, ids, connect } = await world(['a', 'b', 'c', 'alone'], company)
  await connect('a > b', 'b > c', 'a > c')
  t.match(await list(), { names: ['a', 'b', 'c'], pagination: { total: 3, limit: 50, has_more: false } })
  t.match(await list('?limit=1&offset=1'), { names: ['b'], pagination: { total: 3, has_more: true } })
  t.match(await list('?offset=3'), { names: [], pagination: { total: 3, has_more: false } })
  const [first] = (await list()).data
  t.same(first, {
    id: ids.get('a'),
    qualified_name: `${name}.main.main.a`,
    name: 'a',
    asset_type: 'table',
    source_type: 'sqlite',
  })
  t.notOk((await list('?limit=100', stranger)).data.some(({ id }) => id === ids.get('a')))
  const { status, body } = await company.ask('GET', '/api/v1/sdk/lineage?limit=101')
  t.match([status, body.error.details.field], [400, 'limit'])
})

t.test('no company sees the graph of another', async t => {
  const { source, ids, connect } = await world(['a', 'b'])
  await connect('a > b')
  for (const id of [source, ids.get('a')])
    t.match((await stranger.ask('GET', `/api/v1/sdk/lineage/${id}`)).body.error, { code: 'ASSET_NOT_FOUND' })
})

t.test('a wrong question is 400 and says what is wrong', async t => {
  const { source } = await world([])
  for (const [walk, field] of [
    ['?depth=0', 'depth'],
    ['?depth=11', 'depth'],
    ['?depth=x', 'depth'],
    ['?direction=sideways', 'direction'],
    ['?limit=5', 'limit'],
  ]) {
    const { status, body } = await tenant.ask('GET', `/api/v1/sdk/lineage/${source}${walk}`)
    t.match([status, body.error.details.field], [400, field], `${walk}`)
  }
})
