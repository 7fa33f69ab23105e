/** Text of customers' databases and of pipelines that is made to hold the service up. */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { ViewDefinition } from '../../connectors/connector.ts'
import { discover, makeWorld } from '../helpers/world.ts'
import { manifest, node } from '../plugins/lineage/feeds/dbt-project.ts'
import { attack, MAX_P99_MS } from './attack.ts'
import { slowProject, sendBytes } from './dbt-projects.ts'
import { MAX_DELAY_MS } from './event-loop.ts'
import type { Tenant } from '../helpers/server.ts'

const UNIONS = 1_500
const COLUMNS = 40

const columnsOf = (prefix = '', suffix = '') =>
  Array.from({ length: COLUMNS }, (_, index) => `${prefix}column_${index}${suffix}`).join(', ')

const world = await makeWorld(t, [
  'create table orders (id int primary key, total numeric)',
  `create table wide (${columnsOf('', ' int')})`,
  'create view totals as select total from orders',
  'create view hostile as select id from orders',
])
const { app, tenant, source, asset } = world
const { server, query } = app
const other = await app.signUp('Other')

t.beforeEach(() => query('delete from rate_windows'))

/** In place of the definition that the database has of the view `hostile`, which no statement of a test could make. */
let hostile: string | undefined
const connector = server.connectors.get('postgresql')
const { connect } = connector
connector.connect = async (config, options) => {
  const connection = await connect(config, options)
  const replace = (view: ViewDefinition) =>
    hostile !== undefined && view.name === 'hostile' ? { ...view, definition: hostile } : view
  return {
    ...connection,
    viewDefinitions: async some => (await connection.viewDefinitions!(some)).map(replace),
  }
}
t.teardown(() => (connector.connect = connect))

/** The edges into views, with how many pairs of columns each has. */
async function edges() {
  const found = await query(
    `select u.name || ' > ' || d.name as edge,
            (select count(*)::int from lineage_column_edges c
              where c.upstream_id = e.upstream_id and c.downstream_id = e.downstream_id) as columns
       from lineage_edge_origins e join tables u on u.id = e.upstream_id join tables d on d.id = e.downstream_id
      where e.origin = 'view' order by 1`,
  )
  return found.map(({ edge, columns }) => `${String(edge)} ${String(columns)}`)
}

/** A discovery of what a database says of the view, while another company asks for something. */
async function discoverWith(definition: string, name = 'a view') {
  hostile = definition
  await query('delete from rate_windows')
  let status: unknown
  const { delayMs } = await attack(t, {
    route: 'discovery',
    attack: name,
    bystander: other,
    async work() {
      status = (await discover(world)).status
    },
  })
  return { status, delayMs }
}

const BLANKS = `select 'as${' '.repeat(300_000)}x'::text as id from orders`

/** Definitions that a parser or an expression of ours takes long for, and what is known of their tables after. */
const DEFINITIONS: [what: string, definition: string, edge: string][] = [
  ['300,000 blanks after "as"', BLANKS, 'orders > hostile 0'],
  [
    '300,000 blanks in what is not in the grammar',
    `create view hostile as${' '.repeat(300_000)}x from orders`,
    'orders > hostile 0',
  ],
  [
    '100,000 parentheses',
    `select ${'('.repeat(100_000)}id${')'.repeat(100_000)} from orders`,
    'orders > hostile 0',
  ],
  ['180,000 additions', `select id${' + id'.repeat(180_000)} from orders`, 'orders > hostile 0'],
  ['200,000 comments inside comments', `select id from orders ${'/*'.repeat(200_000)}`, 'orders > hostile 0'],
  ['brackets that never end', `select id from orders ${'['.repeat(300_000)}`, 'orders > hostile 0'],
  [
    '1,500 unions of 40 columns',
    Array.from({ length: UNIONS }, () => `select ${columnsOf('w.')} from wide w`).join(' union all '),
    'wide > hostile 40',
  ],
]

t.test(
  'a definition that takes long to read keeps no other view from being read, and holds no other company up',
  async t => {
    for (const [what, definition, edge] of DEFINITIONS) {
      // Other views change with it, so that they are read beside it.
      await source.query(
        `create or replace view totals as select total${' + 0'.repeat(definition.length % 7)} as total from orders`,
      )
      const { status, delayMs } = await discoverWith(definition, what)
      t.equal(status, 'completed', what)
      t.ok(delayMs <= MAX_DELAY_MS, `${what}: ${delayMs} ms`)
      t.strictSame(await edges(), [edge, 'orders > totals 1'].sort(), what)
    }
  },
)

t.test('a definition that took too much is not read again until it changes', async t => {
  const read = async () =>
    (
      await query(
        `select v.xmin::text from lineage_views v join tables t on t.id = v.table_id where t.name = 'hostile'`,
      )
    )[0]
  await discoverWith(`select id from orders ${'/*'.repeat(200_001)}`)
  const before = await read()
  await discoverWith(hostile!)
  t.strictSame(await read(), before)
})

const send = (to: Pick<Tenant, 'key'>, path: string, payload: string | Buffer) =>
  sendBytes(server, to, path, payload)

const DBT = '/api/v1/sdk/lineage/dbt'
const EVENT = '/api/v1/lineage'
const SMALL = JSON.stringify({ source: 'none', manifest: manifest([node('model', 'orders')]) })

t.test(
  'large dbt projects of a company keep no other from importing, and hold no other company up',
  async t => {
    // Each has its own, since bytes are moved to the thread.
    const bodies = Array.from({ length: 5 }, () => Buffer.from(slowProject(asset.id, 20)))
    const replies: Promise<{ status: number }>[] = []
    const { delayMs, p99Ms } = await attack(t, {
      route: `POST ${DBT}`,
      attack: 'five bodies of 20 MiB',
      bystander: other,
      async work() {
        for (const body of bodies) {
          replies.push(send(tenant, DBT, body))
          // Over a network, no two bodies arrive in one turn.
          await setImmediate()
        }
        // The source is none of B's: what counts is that its body was read.
        t.match(await send(other, DBT, SMALL), { status: 404 }, 'at once')
        t.match(
          await send(other, DBT, JSON.stringify({ ...JSON.parse(SMALL), catalog: {} })),
          { status: 404 },
          'with SQL, in a thread',
        )
        await Promise.all(replies)
      },
    })
    const statuses = (await Promise.all(replies)).map(({ status }) => status)
    // Few of them wait, and on a slow machine they take too long to be read.
    t.ok(
      statuses.every(status => [200, 413, 503].includes(status)),
      statuses.join(),
    )
    t.ok(delayMs <= MAX_DELAY_MS, `${delayMs} ms`)
    t.ok(p99Ms <= MAX_P99_MS, `${p99Ms} ms`)
  },
)

t.test('what a project has too much of is 413 with the number', async t => {
  const models = Array.from(
    { length: 50_001 },
    (_, index) => [`model.p.m${index}`, { resource_type: 'model', schema: 's', name: `m${index}` }] as const,
  )
  const { status, body } = await send(
    tenant,
    DBT,
    JSON.stringify({ source: asset.id, manifest: manifest(models) }),
  )
  t.match({ status, body }, { status: 413, body: /50001 relations; 50000 are the most/ })
})

t.test('bodies that are nested too deeply are refused', async t => {
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const project = JSON.stringify({
    source: asset.id,
    manifest: manifest([node('model', 'm', { owner: 'NESTED', meta: { owner: 'NESTED' } })]),
  })
  t.match(await send(tenant, DBT, project.replaceAll('"NESTED"', nested)), {
    status: 400,
    body: /nested too deeply/,
  })
  t.match(await send(tenant, EVENT, nested), { status: 422 })
})

const EVENT_HEAD = {
  eventTime: new Date().toISOString(),
  producer: 'test',
  eventType: 'COMPLETE',
  job: { namespace: 'n', name: 'j' },
}
const dataset = (name: string, more: object = {}) => ({ namespace: 'lake', name, ...more })
const datasets = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => dataset(`${prefix}${index}`))

/** Events at their limits: edges, names, pairs of columns between two datasets. */
const EVENTS: [what: string, event: object][] = [
  ['140 inputs and 140 outputs', { inputs: datasets('i', 140), outputs: datasets('o', 140) }],
  [
    '18,000 other names',
    {
      inputs: datasets('i', 1),
      outputs: [
        dataset('o', { facets: { symlinks: { identifiers: datasets('s', 1_000) } } }),
        ...datasets('p', 17).map(each => ({
          ...each,
          facets: { symlinks: { identifiers: datasets(`${each.name}s`, 1_000) } },
        })),
      ],
    },
  ],
  [
    '90,000 pairs of columns',
    {
      outputs: [
        dataset('wide', {
          facets: {
            columnLineage: {
              fields: Object.fromEntries(
                Array.from({ length: 300 }, (_, to) => [
                  `c${to}`,
                  {
                    inputFields: Array.from({ length: 300 }, (__, from) => ({
                      ...dataset('from'),
                      field: `f${from}`,
                    })),
                  },
                ]),
              ),
            },
          },
        }),
      ],
    },
  ],
]

t.test('an event at its limits holds no other company up', async t => {
  for (const [what, event] of EVENTS) {
    const payload = JSON.stringify({ ...EVENT_HEAD, run: { runId: randomUUID() }, ...event })
    let status = 0
    const { delayMs } = await attack(t, {
      route: `POST ${EVENT}`,
      attack: what,
      bystander: other,
      async work() {
        status = (await send(tenant, EVENT, payload)).status
      },
    })
    t.equal(status, 201, what)
    t.ok(delayMs <= MAX_DELAY_MS, `${what}: ${delayMs} ms`)
  }
})
