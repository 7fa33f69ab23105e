import t from 'tap'
import { makeStage, makeWorldOn } from '../../../helpers/world.ts'
import { ORDERS } from './contracts.ts'
import { contractsOf } from './world.ts'

const stage = await makeStage(t)

const TABLES = [
  `create table orders (id bigint primary key, amount numeric(10,2) not null, status text, code text unique)`,
  `insert into orders select n, n, 'open', 'c' || n from generate_series(1, 10) n`,
]
const TEAM = { team: { name: 'sales' } }

t.test('a contract that holds passes, by the catalog and by its checks', async t => {
  const { put, ask, path, clauses, rediscover, runChecks, alerts } = contractsOf(
    await makeWorldOn(t, stage, TABLES),
  )
  await rediscover()
  const made = await put('orders', { schema: [ORDERS], ...TEAM })
  t.match(made, { status: 201, body: { data: { status: 'pending', owner: 'sales', version: '1.0.0' } } })
  const open = await clauses('orders')
  t.match(open.get('public.orders/table'), { status: 'passing', reason: null })
  t.match(open.get('public.orders/primary_key'), { status: 'passing', check_id: null })
  t.match(open.get('public.orders/amount/required'), { status: 'passing', check_id: null })
  t.match(open.get('public.orders/status/option/maxLength'), { status: 'pending', check_kind: 'validity' })
  await runChecks()
  const { data } = (await ask('GET', path('orders'))).body
  t.match(data, { status: 'passing', counts: { passing: 12, failing: 0, pending: 0, not_enforced: 0 } })
  t.match((await ask('GET', '/api/v1/sdk/contracts')).body.data, {
    contracts: [{ name: 'orders', status: 'passing', source_name: 'shop' }],
    pagination: { total: 1 },
  })
  t.strictSame(await alerts(), [])
})

t.test(
  'dropped, retyped and added columns break clauses at the next discovery, and mended ones resolve',
  async t => {
    const world = await makeWorldOn(t, stage, TABLES)
    const { put, ask, path, clauses, rediscover, alerts } = contractsOf(world)
    await rediscover()
    await put('orders', { schema: [ORDERS], ...TEAM }, { extra_columns: 'fail' })
    t.match((await clauses('orders')).get('public.orders/extra_columns'), { status: 'passing' })

    await rediscover(
      'alter table orders drop column code',
      'alter table orders alter column amount type text',
      'alter table orders add column note text',
    )
    const broken = await clauses('orders')
    t.match(broken.get('public.orders/code/column'), {
      status: 'failing',
      reason: 'there is no column code in public.orders',
    })
    t.match(broken.get('public.orders/code/unique'), {
      status: 'failing',
      reason: 'the column code is missing',
    })
    t.match(broken.get('public.orders/amount/type'), {
      status: 'failing',
      reason: 'it is text, not a type of number',
    })
    t.match(broken.get('public.orders/extra_columns'), {
      status: 'failing',
      reason: 'the contract does not have note',
    })
    const raised = await alerts()
    t.strictSame(
      raised.map(({ status, severity }) => [status, severity]),
      Array.from({ length: 3 }, () => ['triggered', 'critical']),
    )
    t.match(
      raised.find(({ details }) => details.clause_kind === 'type'),
      {
        title: 'orders.amount: breaks contract orders: it is text, not a type of number',
        details: { contract: 'orders', owner: 'sales', clause_key: 'public.orders/amount/type' },
      },
    )
    const inbox = await ask('GET', '/api/v1/sdk/alerts?event_type=contract_violation')
    t.equal(inbox.body.data.data.length, 3)

    await rediscover(
      'alter table orders add column code text unique',
      'alter table orders alter column amount type numeric(10,2) using amount::numeric',
      'alter table orders drop column note',
    )
    t.match(
      [...(await clauses('orders')).values()].filter(({ status }) => status === 'failing'),
      [],
    )
    t.strictSame(
      (await alerts()).map(({ status }) => status),
      ['resolved', 'resolved', 'resolved'],
    )
    const history = (await ask('GET', `${path('orders')}/history`)).body.data.events as Record<
      string,
      unknown
    >[]
    t.match(
      history.filter(({ clause_key: key }) => key === 'public.orders/amount/type'),
      [
        { event: 'status', from_status: 'failing', to_status: 'passing', actor: 'system' },
        { event: 'status', from_status: 'passing', to_status: 'failing', reason: /it is text/ },
      ],
    )
  },
)

t.test('a table that is gone fails alone, and what was known of it waits', async t => {
  const { put, clauses, rediscover, alerts } = contractsOf(await makeWorldOn(t, stage, TABLES))
  await rediscover()
  await put('orders', { schema: [ORDERS] })
  await rediscover('alter table orders rename to former')
  const all = [...(await clauses('orders')).values()]
  t.match(
    all.filter(({ status }) => status === 'failing'),
    [{ key: 'public.orders/table' }],
  )
  t.match(new Set(all.slice(1).map(({ status }) => status)), new Set(['pending']))
  t.equal((await alerts()).length, 1)
  await rediscover('alter table former rename to orders')
  t.match((await clauses('orders')).get('public.orders/table'), { status: 'passing' })
  t.strictSame(
    (await alerts()).map(({ status }) => status),
    ['resolved'],
  )
})

t.test('keys that the catalog does not guarantee are checked in the data', async t => {
  const { put, clauses, rediscover, runChecks, alerts } = contractsOf(
    await makeWorldOn(t, stage, [
      'create table lines (order_id int, line int, sku text)',
      `insert into lines values (1, 1, 'a'), (1, 2, 'b'), (2, 1, null)`,
    ]),
  )
  await rediscover()
  const properties = [
    { name: 'order_id', primaryKey: true, primaryKeyPosition: 1 },
    { name: 'line', primaryKey: true, primaryKeyPosition: 2 },
    { name: 'sku', required: true, unique: true },
  ]
  await put('lines', { schema: [{ name: 'lines', properties }] })
  await runChecks()
  const found = await clauses('lines')
  t.match(found.get('lines/primary_key'), { status: 'passing', check_kind: 'validity', reason: null })
  t.match(found.get('lines/sku/required'), { status: 'failing', reason: '1 row without a value (33 %)' })
  t.match(found.get('lines/sku/unique'), { status: 'passing' })
  const [raised, ...more] = await alerts()
  t.match(raised, {
    kind: 'validity_failure',
    details: { contracts: [{ contract: 'lines', clause: 'lines.sku is never null' }] },
  })
  t.strictSame(more, [], 'the clause has no alert beside that of its check')

  await rediscover(
    `update lines set sku = 'c' where sku is null`,
    'alter table lines alter column sku set not null',
  )
  t.match((await clauses('lines')).get('lines/sku/required'), { status: 'passing', check_id: null })
  t.match(await alerts(), [{ status: 'resolved' }])
  await rediscover('insert into lines values (2, 1, 0)')
  await runChecks()
  t.match((await clauses('lines')).get('lines/primary_key'), { status: 'failing' })
  await rediscover('alter table lines add column id serial primary key')
  t.match((await clauses('lines')).get('lines/primary_key'), {
    status: 'failing',
    reason: 'its primary key is id',
    check_id: null,
  })
})

t.test('replacing a contract changes its checks, and removing it removes them', async t => {
  const world = await makeWorldOn(t, stage, TABLES)
  const { put, ask, path, clauses, rediscover, alerts, runChecks } = contractsOf(world)
  const rules = async () =>
    (await ask('GET', `/api/v1/sdk/validity/${world.asset.id}`)).body.data.items as Record<string, unknown>[]
  await rediscover()
  const rule = { metric: 'invalidValues', arguments: { validValues: ['open', 'paid'] }, mustBe: 0 }
  const withRule = (quality: object) => ({
    schema: [{ name: 'orders', properties: [{ name: 'status', quality: [quality] }] }],
  })
  await put('orders', withRule({ ...rule, severity: 'low', name: 'known statuses' }))
  const [before] = await rules()
  t.match(before, { rule_type: 'ENUM', severity: 'info', name: 'orders: known statuses' })
  await put('orders', withRule({ ...rule, severity: 'high', name: 'known statuses' }))
  const [changed, ...others] = await rules()
  t.match(changed, { uuid: before?.uuid, severity: 'critical' }, 'it is changed, not made anew')
  t.strictSame(others, [])
  const read = await ask('GET', `/api/v1/sdk/validity/${world.asset.id}/${String(changed?.uuid)}`)
  t.match(read.body.data.managed_by, {
    file: 'the contract orders',
    key: 'orders/status/quality/known statuses',
  })

  const stricter = { ...rule, arguments: { validValues: ['paid'] }, name: 'known statuses' }
  await put('orders', withRule(stricter))
  const [other, ...more] = await rules()
  t.not(other?.uuid, before?.uuid, 'another config is another check')
  t.strictSame(more, [])
  await runChecks()
  t.match((await clauses('orders')).get('orders/status/quality/known statuses'), { status: 'failing' })
  t.match(await alerts(), [{ status: 'triggered', severity: 'warning' }])

  t.match(await ask('DELETE', path('orders')), { status: 200, body: { data: { success: true } } })
  t.strictSame(await rules(), [])
  t.match(await alerts(), [{ status: 'resolved' }])
  t.equal((await ask('GET', path('orders'))).status, 404)
  t.equal((await ask('DELETE', path('orders'))).status, 404)
})

t.test('a failure of a check of a contract is sent once to a destination', async t => {
  const world = await makeWorldOn(t, stage, [
    'create table parts (sku text)',
    'insert into parts values (null)',
  ])
  const { put, ask, rediscover, runChecks, alerts } = contractsOf(world)
  await rediscover()
  const destinations = '/api/v1/sdk/alerts/destinations'
  const make = async (name: string) => {
    const config = { url: `https://${name}.invalid/hook` }
    return String(
      (await ask('POST', destinations, { name, destination_type: 'webhook', config })).body.data.id,
    )
  }
  const [all, contracts] = [await make('all'), await make('contracts')]
  const rule = (name: string, id: string, ...types: string[]) =>
    ask('POST', '/api/v1/sdk/alerts/rules', { name, destination_ids: [id], event_types: types })
  t.match(await rule('all', all, 'validity_failure', 'contract_violation'), { status: 201 })
  t.match(await rule('contracts', contracts, 'contract_violation'), { status: 201 })
  await put('parts', { schema: [{ name: 'parts', properties: [{ name: 'sku', required: true }] }] })
  await runChecks()
  t.equal((await alerts()).length, 1, 'the failure has one alert')
  const sent = await world.app.query(
    `select a.kind, d.destination_id from deliveries d join alerts a on a.id = d.alert_id
     where d.destination_id in ($1, $2) order by 1`,
    [all, contracts],
  )
  t.strictSame(
    sent.map(row => [row.kind, row.destination_id]).toSorted(),
    [all, contracts].map(id => ['validity_failure', id]).toSorted(),
    'a rule for contracts takes the alert of a check that names one',
  )
  const previewed = await ask('POST', '/api/v1/sdk/alerts/preview', {
    event_types: ['contract_violation'],
    destination_ids: [contracts],
  })
  t.match(previewed.body.data, { matched: 1 })
  t.match((await ask('GET', '/api/v1/sdk/contracts?limit=1')).body.data.summary, { failing_clauses: Number })
  for (const id of [all, contracts]) await ask('DELETE', `${destinations}/${id}`)
})
