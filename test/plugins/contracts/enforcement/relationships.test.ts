import t from 'tap'
import { listClauses } from '../../../../plugins/contracts/enforcement/clauses.ts'
import { makeStage, makeWorldOn } from '../../../helpers/world.ts'
import { contract } from './contracts.ts'
import { contractsOf } from './world.ts'

const stage = await makeStage(t)

const TABLES = [
  'create table people (number int primary key, name text)',
  'create table orders (id int, person int, friend int)',
  `insert into people select n, 'p' || n from generate_series(1, 5) n`,
  'insert into orders select n, n % 5 + 1, null from generate_series(1, 20) n',
]

/** The names of the contract differ from those of the database. */
const SCHEMA = [
  {
    ...{ name: 'customers', id: 'c', physicalName: 'public.people' },
    properties: [{ name: 'id', id: 'key', physicalName: 'number' }, { name: 'name' }],
  },
  {
    name: 'orders',
    physicalName: 'public.orders',
    properties: [
      { name: 'id' },
      { name: 'customer', physicalName: 'person', relationships: [{ to: 'customers.id' }] },
      { name: 'friend', relationships: [{ to: 'schema/c/properties/key', type: 'foreignKey' }] },
    ],
    relationships: [{ from: ['orders.customer'], to: ['customers.id'] }],
  },
]

t.test('references to columns of the contract are checked by referential checks', async t => {
  const world = await makeWorldOn(t, stage, TABLES)
  const { put, ask, clauses, rediscover, runChecks, alerts } = contractsOf(world)
  await rediscover()
  t.equal((await put('orders', { schema: SCHEMA })).status, 201)
  const keys = ['public.orders/person/relationship', 'public.orders/friend/relationship']
  const made = await clauses('orders')
  for (const key of keys) t.match(made.get(key), { status: 'pending', check_kind: 'referential' }, key)
  t.match(made.get(`${keys[0]}#2`), { title: 'public.orders.person refers to customers.id' }, 'of the table')
  await runChecks()
  for (const key of keys) t.match((await clauses('orders')).get(key), { status: 'passing' }, key)
  const listed = await ask('GET', `/api/v1/sdk/checks/${world.asset.id}?kind=referential`)
  t.match(listed.body.data.items, Array(3).fill({ managed_by: { file: 'the contract orders' } }))

  await world.source.query('update orders set person = 77 where id in (3, 4)')
  await runChecks()
  t.match((await clauses('orders')).get(keys[0]!), {
    status: 'failing',
    reason: /2 of 20 rows without a match/,
  })
  t.match(await alerts(), [
    { details: { contracts: [{ clause: 'public.orders.person refers to customers.id' }] } },
  ])

  const tested = await world.app.server.plugins.contracts.test(
    world.tenant.companyId,
    { source: 'shop', text: JSON.stringify(contract({ schema: SCHEMA })), extraColumns: 'allow' },
    new AbortController().signal,
  )
  const found = new Map(
    (tested as { clauses: { key: string; status: string; reason: string }[] }).clauses.map(each => [
      each.key,
      each,
    ]),
  )
  t.match(found.get(keys[0]!), { status: 'failing', reason: '2 of 20 rows without a match' })
  t.match(found.get(keys[1]!), { status: 'passing' })

  await put('orders', { schema: SCHEMA.slice(0, 1) })
  const left = await world.app.query(
    `select count(*)::int as n from checks where kind = 'referential' and source_id = $1`,
    [world.asset.id],
  )
  t.strictSame(left, [{ n: 0 }], 'checks go with their clauses')
})

t.test('what cannot be checked says what to do', async t => {
  const of = (relationship: object) => {
    const schema = [
      SCHEMA[0],
      { name: 'orders', properties: [{ name: 'customer' }], relationships: [relationship] },
    ]
    const [clause] = listClauses(contract({ schema }), 'allow').filter(({ kind }) => kind === 'relationship')
    return clause?.demand.of === 'nothing' ? clause.demand.reason : clause?.demand
  }
  const pair = { from: ['orders.a', 'orders.b'], to: ['customers.id', 'customers.name'] }
  t.match(of(pair), /several columns are not checked: use a rule of type sql/)
  t.match(of({ from: 'orders.customer', to: 'other.yaml#/schema/a/properties/b' }), /another contract/)
  t.match(of({ from: 'orders.customer', to: 'customers.nothing' }), /no column customers\.nothing/)
  t.match(of({ from: 'customers.id', to: 'orders.customer' }), /begins at public\.people/)
  t.strictSame(of({ from: 'orders.customer', to: '/schema/c/properties/key' }), {
    of: 'reference',
    parentTable: 'public.people',
    parentColumn: 'number',
  })
})
