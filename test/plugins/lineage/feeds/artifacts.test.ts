import t from 'tap'
import { reduceArtifacts } from '../../../../plugins/lineage/dbt/artifacts.ts'
import { readOwners } from '../../../../plugins/lineage/dbt/owners.ts'
import { readProject } from '../../../../plugins/lineage/dbt/project.ts'
import { listTests } from '../../../../plugins/lineage/dbt/test-results.ts'
import { manifest, model, node, notNull, runResults } from './dbt-project.ts'

const readGraph = async (given: object, catalog?: object) => {
  const project = readProject(await reduceArtifacts({ manifest: given, catalog }))
  const short = (id: string) => id.replace(/^(\w)\w+\.jaffle_shop\./, '$1.')
  return {
    ...project,
    shown: project.edges
      .map(({ upstream, downstream }) => `${short(upstream)} > ${short(downstream)}`)
      .sort(),
  }
}

t.test('versions 4 to 12 and 20 are read, and others are not', async t => {
  for (const version of [4, 7, 10, 12, 20])
    t.ok(await reduceArtifacts({ manifest: manifest([], {}, version) }), `v${version}`)
  for (const [given, why] of [
    [manifest([], {}, 3), /version 3 .* 4 .* to 12 .* and 20/],
    [manifest([], {}, 13), /version 13/],
    [{}, /names no manifest/],
    [[], /must be the object/],
    [{ ...manifest([]), nodes: [] }, /has entries by their ids/],
    [{ ...manifest([]), nodes: { x: 1 } }, /has fields/],
  ] as const)
    await t.rejects(reduceArtifacts({ manifest: given }), why)
  await t.rejects(reduceArtifacts({ manifest: manifest([]), run_results: {} }), /with its results/)
  await t.rejects(reduceArtifacts({ manifest: manifest([]), catalog: 3 }), /catalog.json/)
})

t.test('the graph passes through what has no table, and leaves out what is disabled', async t => {
  const source = {
    'source.jaffle_shop.raw.payments': node('source', 'payments', { identifier: 'pay', schema: 'raw' })[1],
  }
  const { shown, relations, exposures } = await readGraph(
    manifest(
      [
        node('model', 'stage', {
          dependsOn: [Object.keys(source)[0]!],
          config: { materialized: 'ephemeral' },
        }),
        node('model', 'orders', { dependsOn: [model('stage'), model('off')] }),
        node('model', 'off', { config: { enabled: false } }),
        node('seed', 'countries', { alias: 'land' }),
        node('snapshot', 'past', { dependsOn: [model('orders'), model('past')] }),
        node('analysis', 'look', { dependsOn: [model('orders')] }),
        notNull('orders', 'id'),
      ],
      {
        sources: source,
        metrics: {
          'metric.jaffle_shop.revenue': node('metric', 'revenue', { dependsOn: [model('orders')] })[1],
        },
        exposures: {
          'exposure.jaffle_shop.board': {
            ...{ name: 'board', label: 'The board', type: 'dashboard', url: 'https://bi.example.com/1' },
            ...{ owner: { name: 'Ann', email: ['ann@example.com', 'b@example.com'] } },
            depends_on: { nodes: ['metric.jaffle_shop.revenue', 'seed.jaffle_shop.countries'] },
          },
          'exposure.jaffle_shop.evil': { name: 'evil', type: 'thing', url: 'javascript:alert(1)' },
        },
      },
    ),
  )
  t.strictSame(shown, [
    'm.orders > e.board',
    'm.orders > s.past',
    's.countries > e.board',
    's.raw.payments > m.orders',
  ])
  t.strictSame([...relations.keys()].map(id => id.split('.').at(-1)).sort(), [
    'countries',
    'orders',
    'past',
    'payments',
  ])
  t.match(relations.get('source.jaffle_shop.raw.payments'), { place: { schema: 'raw', name: 'pay' } })
  t.match(relations.get('seed.jaffle_shop.countries'), { place: { database: 'shop', name: 'land' } })
  t.match(exposures.get('exposure.jaffle_shop.board'), {
    ...{ kind: 'dashboard', name: 'The board', url: 'https://bi.example.com/1' },
    owners: [
      { name: 'Ann', email: 'ann@example.com' },
      { name: 'Ann', email: 'b@example.com' },
    ],
  })
  t.match(exposures.get('exposure.jaffle_shop.evil'), { kind: 'application', url: null })
})

t.test('catalog.json says how names are spelled', async t => {
  const place = { metadata: { database: 'SHOP', schema: 'PUBLIC', name: 'ORDERS' }, columns: {} }
  const { relations } = await readGraph(manifest([node('model', 'orders')]), {
    nodes: { [model('orders')]: place },
    sources: {},
  })
  t.strictSame(relations.get(model('orders'))?.place, place.metadata)
})

t.test('owners come from meta and from groups', async t => {
  const { relations } = await readGraph(
    manifest(
      [
        node('model', 'orders', {
          config: { meta: { owner: '@finance' }, group: 'core' },
          meta: { owner: '@finance' },
        }),
      ],
      {
        groups: {
          'group.jaffle_shop.core': { name: 'core', owner: { email: 'core@example.com', slack: '#core' } },
        },
      },
    ),
  )
  t.strictSame(relations.get(model('orders'))?.owners, [{ name: '@finance' }, { email: 'core@example.com' }])
  t.strictSame(readOwners('Ann Lee <ann@example.com>, bob@example.com; data team'), [
    { name: 'Ann Lee', email: 'ann@example.com' },
    { email: 'bob@example.com' },
    { name: 'data team' },
  ])
  t.strictSame(readOwners({ slack: 3 }), [])
  t.strictSame(readOwners([['a'], { name: 'b' }, 7]), [{ name: 'a' }, { name: 'b' }])
})

t.test('a test belongs to the relation that declares it', async t => {
  const relation = (kwargs: object, extra: object = {}) =>
    node('test', 'r', {
      dependsOn: [model('customers'), model('orders')],
      test_metadata: { name: 'relationships', kwargs },
      ...extra,
    })
  const nodes = [node('model', 'orders'), node('model', 'customers')]
  const findTested = async (test: readonly [string, object]) => {
    const artifacts = await reduceArtifacts({ manifest: manifest([...nodes, test], {}, 4) })
    return listTests(artifacts, readProject(artifacts))[0]?.relation
  }
  const ref = `{{ get_where_subquery(ref('orders')) }}`
  t.equal(await findTested(relation({ model: ref })), model('orders'))
  t.equal(await findTested(relation({}, { attached_node: model('orders') })), model('orders'))
  t.equal(await findTested(relation({})), model('customers'))
  t.equal(await findTested(node('test', 'single', { dependsOn: [] })), null)
})

t.test('a test is on no other table than the one that it names', async t => {
  const place = { schema: 'public' }
  const raw = 'source.jaffle_shop.raw.visits'
  const twin = (packageName: string) =>
    [`model.${packageName}.twin`, { resource_type: 'model', name: 'twin', ...place }] as const
  const version = (number: number) =>
    [
      `${model('dim')}.v${number}`,
      { ...node('model', 'dim', { alias: `dim_v${number}`, latest_version: 2 })[1], version: number },
    ] as const
  const nodes = [
    node('model', 'visits'),
    node('model', 'customers'),
    node('model', 'staged', { config: { materialized: 'ephemeral' } }),
    ...[version(1), version(2), version(3)],
    ...[twin('p'), twin('q')],
  ]
  const sources = { [raw]: { resource_type: 'source', name: 'visits', identifier: 'raw_visits', ...place } }
  const findTested = async (named: string, dependsOn: string[], fields: object = {}) => {
    const test = node('test', 'r', {
      dependsOn,
      test_metadata: { name: 'relationships', kwargs: { model: `{{ get_where_subquery(${named}) }}` } },
      ...fields,
    })
    const artifacts = await reduceArtifacts({ manifest: manifest([...nodes, test], { sources }) })
    const again = await reduceArtifacts(artifacts as never)
    t.strictSame(again, artifacts, 'as the command line sends it')
    return listTests(again, readProject(again))[0]?.relation
  }
  const [v1, v2, v3] = [1, 2, 3].map(number => version(number)[0]) as [string, string, string]
  const attached = { attached_node: model('staged') }
  t.equal(await findTested(`ref('staged')`, [model('customers'), model('staged')], attached), null)
  t.equal(await findTested(`ref('staged')`, [model('customers'), model('staged')]), null)
  t.equal(await findTested(`ref('dim', v='1')`, [v2, v1]), v1)
  t.equal(await findTested(`ref('dim', version=1)`, [v2, v1]), v1)
  t.equal(await findTested(`ref('dim', v=2)`, [v1, v2]), v2)
  t.equal(await findTested(`ref('dim')`, [v1, v3, v2]), v2, 'the latest version')
  t.equal(await findTested(`source('raw', 'visits')`, [model('visits'), raw]), raw)
  t.equal(await findTested(`ref('visits')`, [raw, model('visits')]), model('visits'))
  t.equal(await findTested(`ref('q', 'twin')`, ['model.p.twin', 'model.q.twin']), 'model.q.twin')
  t.equal(
    await findTested(`ref('twin')`, ['model.p.twin', 'model.q.twin'], { package_name: 'q' }),
    'model.q.twin',
  )
  t.equal(await findTested(`ref('twin')`, ['model.p.twin', 'model.q.twin']), null, 'either of two')
})

t.test('artifacts that were reduced stay as they are', async t => {
  const test = notNull('orders', 'id')
  const whole = {
    manifest: manifest([node('model', 'orders', { description: 'x'.repeat(5_000) }), test]),
    catalog: {
      nodes: { [model('orders')]: { metadata: { database: 'a', schema: 'b', name: 'c' } } },
      sources: {},
    },
    run_results: runResults('2026-05-04T10:00:00Z', { [test[0]]: 'fail', x: { status: 5 } }),
  }
  const once = await reduceArtifacts(whole)
  t.strictSame(await reduceArtifacts(once as never), once)
  t.notMatch(JSON.stringify(once), /compiled_code|macro/)
  t.match(listTests(once, readProject(once)), [
    {
      column: 'id',
      severity: 'error',
      result: { status: 'fail', failures: 3, at: new Date('2026-05-04T10:00:00Z') },
    },
  ])
})

t.test('columns are found in the compiled SQL of models, which is not sent', async t => {
  const columnsOf = (...names: string[]) =>
    Object.fromEntries(names.map((name, index) => [name, { name, index: index + 1 }]))
  const entry = (name: string, ...columns: string[]) => ({
    metadata: { database: 'shop', schema: 'public', name },
    columns: columnsOf(...columns),
  })
  const payments = 'source.jaffle_shop.raw.payments'
  // Another project declares the model as a source.
  const twin = 'source.jaffle_shop.other.orders'
  const sources = { [payments]: node('source', 'payments')[1], [twin]: node('source', 'orders')[1] }
  const written = (name: string, code: string, ...dependsOn: string[]) =>
    node('model', name, { compiled_code: code, dependsOn })
  const nodes = [
    written(
      'orders',
      `with __dbt__cte__stage as (select * from "shop"."public"."payments")
       select id, amount / 100 as total from __dbt__cte__stage where paid
         and id > (select max(id) from "shop"."public"."orders")`,
      payments,
    ),
    written('customers', 'select * from "SHOP"."Public"."orders"', model('orders')),
    written('python', 'def model(dbt, session): return dbt.ref("orders")', model('orders')),
    // It is not built yet: its own columns are those of its query.
    written('unbuilt', 'select id from shop.public.orders', model('orders')),
    // The table has its columns in another order, and catalog.json lacks one of them.
    written('moved', 'select total, id from public.orders', model('orders')),
    written('newer', 'select o.id, o.region from public.orders o', model('orders')),
    written('through_source', 'select total from public.orders', twin),
  ]
  const catalog = {
    nodes: {
      [model('orders')]: entry('orders', 'id', 'total'),
      [model('customers')]: entry('customers', 'id', 'total'),
      [model('python')]: entry('python', 'id'),
      [model('moved')]: entry('moved', 'id', 'total'),
    },
    sources: {
      [payments]: entry('payments', 'id', 'paid', 'amount'),
      [twin]: entry('orders', 'id', 'total'),
    },
  }
  const edgesOf = async (adapter: string, given: object = catalog) => {
    const project = manifest(nodes, { sources })
    const metadata = { ...project.metadata, adapter_type: adapter }
    const reduced = await reduceArtifacts({ manifest: { ...project, metadata }, catalog: given })
    t.notMatch(JSON.stringify(reduced), /select|__dbt__/i)
    t.strictSame(await reduceArtifacts(reduced as never), reduced, 'and stay when they are reduced again')
    return readProject(reduced).edges.map(({ upstream, downstream, columns }) => ({
      edge: `${upstream.split('.').at(-1)} > ${downstream.split('.').at(-1)}`,
      columns: columns?.map(each => `${each.upstream} ${each.downstream} ${each.kind}`).sort(),
    }))
  }
  for (const adapter of ['postgres', 'redshift'])
    t.strictSame(await edgesOf(adapter), [
      {
        edge: 'payments > orders',
        columns: ['amount total direct', 'id * indirect', 'id id direct', 'paid * indirect'],
      },
      { edge: 'orders > customers', columns: ['id id direct', 'total total direct'] },
      { edge: 'orders > python', columns: undefined },
      { edge: 'orders > unbuilt', columns: ['id id direct'] },
      { edge: 'orders > moved', columns: ['id id direct', 'total total direct'] },
      { edge: 'orders > newer', columns: undefined },
      { edge: 'orders > through_source', columns: ['total total direct'] },
    ])
  const unknown = (edges: Awaited<ReturnType<typeof edgesOf>>) =>
    edges.every(({ columns }) => columns === undefined)
  t.ok(unknown(await edgesOf('snowflake')), 'another grammar')
  t.ok(unknown(await edgesOf('postgres', {})), 'no columns are known')
})

t.test('SQL that would fill the memory is given up, and other models keep their columns', async t => {
  const relation = (name: string) => ({
    metadata: { database: 'shop', schema: 'public', name },
    columns: { id: { name: 'id', index: 1 } },
  })
  const doubled = Array.from({ length: 40 }, (_, n) => {
    const before = n === 0 ? 'public.raw' : `a${n - 1}`
    return `a${n} as (select x.*, y.* from ${before} x, ${before} y)`
  })
  const nodes = [
    node('model', 'huge', { compiled_code: `with ${doubled.join(', ')} select * from a39` }),
    node('model', 'joined', {
      compiled_code: `select * from ${Array.from({ length: 2_000 }, (_, n) => `(public.raw r${n}`).join(' cross join ')}${')'.repeat(2_000)}`,
    }),
    node('model', 'deep', {
      compiled_code: `select ${'('.repeat(50_000)}id${')'.repeat(50_000)} from public.raw`,
    }),
    node('model', 'nested', {
      compiled_code: Array.from({ length: 25 }).reduce<string>(
        inner => `with recursive r as (select * from (${inner}) q union all select 1) select * from r`,
        'select id from public.raw',
      ),
    }),
    node('model', 'plain', { compiled_code: 'select id from public.raw' }),
    node('model', 'raw'),
  ]
  const catalog = {
    nodes: Object.fromEntries(nodes.map(([id, { name }]) => [id, relation(String(name))])),
    sources: {},
  }
  const { manifest: reduced } = await reduceArtifacts({ manifest: manifest(nodes), catalog })
  const known = Object.entries(reduced.nodes).filter(
    ([, { upstream_columns: columns = {} }]) => Object.keys(columns).length > 0,
  )
  t.strictSame(
    known.map(([id]) => id.split('.').at(-1)),
    ['plain'],
  )
})

t.test('odd columns in artifacts are left out', async t => {
  const [id, orders] = node('model', 'orders', {
    ...{ dependsOn: ['constructor', '__proto__', model('raw')], compiled_code: null },
    upstream_columns: {
      [model('raw')]: [
        ['a', 'b'],
        ['', 'b', 'direct'],
        ['x'.repeat(301), 'b'],
        ['a', 3],
        'a',
        null,
        ['c', 'd', 'indirect'],
      ],
      constructor: 5,
    },
  })
  const catalog = {
    nodes: {
      [id]: {
        metadata: { schema: 'public', name: 'orders' },
        columns: { a: { index: { toString: 1 } }, b: null },
      },
      odd: { metadata: { schema: 1, name: [] }, columns: {} },
      ['__proto__']: 7,
    },
  }
  const given = manifest([
    [id, orders],
    node('model', 'raw'),
    ['constructor', { name: 'constructor', resource_type: 'model', schema: 'public' }],
  ])
  const { edges } = readProject(await reduceArtifacts({ manifest: given, catalog }))
  t.match(edges.find(({ upstream }) => upstream === model('raw'))?.columns, [
    { upstream: 'a', downstream: 'b', kind: 'direct' },
    { upstream: 'c', downstream: 'd', kind: 'indirect' },
  ])
  t.equal(edges.find(({ upstream }) => upstream === model('raw'))?.columns?.length, 2)
})
