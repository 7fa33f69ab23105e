import t from 'tap'
import { reduceArtifacts } from '../../../../plugins/lineage/dbt/artifacts.ts'
import { readOwners } from '../../../../plugins/lineage/dbt/owners.ts'
import { readProject } from '../../../../plugins/lineage/dbt/project.ts'
import { listTests } from '../../../../plugins/lineage/dbt/test-results.ts'
import { manifest, model, node, notNull, runResults } from './dbt-project.ts'

const readGraph = (given: object, catalog?: object) => {
  const project = readProject(reduceArtifacts({ manifest: given, catalog }))
  const short = (id: string) => id.replace(/^(\w)\w+\.jaffle_shop\./, '$1.')
  return {
    ...project,
    shown: project.edges
      .map(({ upstream, downstream }) => `${short(upstream)} > ${short(downstream)}`)
      .sort(),
  }
}

t.test('versions 4 to 12 are read, and others are not', async t => {
  for (const version of [4, 7, 10, 12])
    t.ok(reduceArtifacts({ manifest: manifest([], {}, version) }), `v${version}`)
  for (const [given, why] of [
    [manifest([], {}, 3), /version 3 .* 4 .* to 12/],
    [manifest([], {}, 13), /version 13/],
    [{}, /names no manifest/],
    [[], /must be the object/],
    [{ ...manifest([]), nodes: [] }, /has entries by their ids/],
    [{ ...manifest([]), nodes: { x: 1 } }, /has fields/],
  ] as const)
    t.throws(() => reduceArtifacts({ manifest: given }), why)
  t.throws(() => reduceArtifacts({ manifest: manifest([]), run_results: {} }), /with its results/)
  t.throws(() => reduceArtifacts({ manifest: manifest([]), catalog: 3 }), /catalog.json/)
})

t.test('the graph passes through what has no table, and leaves out what is disabled', async t => {
  const source = {
    'source.jaffle_shop.raw.payments': node('source', 'payments', { identifier: 'pay', schema: 'raw' })[1],
  }
  const { shown, relations, exposures } = readGraph(
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
  const { relations } = readGraph(manifest([node('model', 'orders')]), {
    nodes: { [model('orders')]: place },
    sources: {},
  })
  t.strictSame(relations.get(model('orders'))?.place, place.metadata)
})

t.test('owners come from meta and from groups', async t => {
  const { relations } = readGraph(
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
  const findTested = (test: readonly [string, object]) => {
    const artifacts = reduceArtifacts({ manifest: manifest([...nodes, test], {}, 4) })
    return listTests(artifacts, readProject(artifacts))[0]?.relation
  }
  const ref = `{{ get_where_subquery(ref('orders')) }}`
  t.equal(findTested(relation({ model: ref })), model('orders'))
  t.equal(findTested(relation({}, { attached_node: model('orders') })), model('orders'))
  t.equal(findTested(relation({})), model('customers'))
  t.equal(findTested(node('test', 'single', { dependsOn: [] })), null)
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
  const once = reduceArtifacts(whole)
  t.strictSame(reduceArtifacts(once as never), once)
  t.notMatch(JSON.stringify(once), /compiled_code|macro/)
  t.match(listTests(once, readProject(once)), [
    {
      column: 'id',
      severity: 'error',
      result: { status: 'fail', failures: 3, at: new Date('2026-05-04T10:00:00Z') },
    },
  ])
})
