import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { goForward, makePipeline } from './world.ts'

const app = await startServer(t, { settings: { INCIDENT_DELAY_SECONDS: '0' } })
const CHAIN = [
  ['raw', 'orders', 'sales', 'report', 'other'],
  ['raw > orders', 'orders > sales', 'sales > report'],
] as const

t.test('an alert is an incident of its own', async t => {
  const { raise, show } = await makePipeline(app, ...CHAIN)
  await raise('orders stale')
  await raise('other quality')
  t.strictSame(await show(), ['open critical orders: orders stale', 'open warning other: other quality'])
})

t.test('alerts of one table, and those downstream of it, join its incident', async t => {
  const { raise, show } = await makePipeline(app, ...CHAIN)
  await raise('orders stale')
  await raise('orders volume')
  await raise('sales quality')
  await raise('report quality')
  t.strictSame(await show(), [
    'open critical orders: orders stale, orders volume, report quality, sales quality',
  ])
})

t.test('an alert upstream that comes later becomes the cause', async t => {
  const { raise, show, get } = await makePipeline(app, ...CHAIN)
  await raise('report quality')
  await raise('orders quality')
  await raise('raw stale')
  t.strictSame(await show(), ['open critical raw: orders quality, raw stale, report quality'])
  const types = (await get()).activities.map((each: { activity_type: string }) => each.activity_type)
  t.strictSame(types, [
    'opened',
    'alerts_joined',
    'cause_changed',
    'alerts_joined',
    'cause_changed',
    'severity_raised',
  ])
})

t.test('incidents that turn out to be one become one', async t => {
  const { raise, show, get } = await makePipeline(
    app,
    ['raw', 'left', 'right'],
    ['raw > left', 'raw > right'],
  )
  await raise('left quality')
  await raise('right quality')
  t.equal((await show()).length, 2)
  await raise('raw drift')
  t.strictSame(await show(), [
    'open critical raw: left quality, raw drift, right quality',
    'resolved warning right: ',
  ])
  const merged = await get('?status=resolved')
  t.equal(merged.merged_into, (await get('?status=open')).id)
  t.match(merged.description, 'belongs to another incident')
})

t.test('what is found at once is one incident at once', async t => {
  const { raise, show } = await makePipeline(app, ...CHAIN)
  await raise('report quality', 'raw drift', 'sales volume', 'other stale')
  t.strictSame((await show()).sort(), [
    'open critical other: other stale',
    'open critical raw: raw drift, report quality, sales volume',
  ])
})

t.test('the changes that one discovery finds are one incident', async t => {
  const { raise, show } = await makePipeline(app, ...CHAIN)
  await raise('raw drift', 'other drift info')
  t.strictSame(await show(), ['open critical raw: other drift, raw drift'])
})

t.test('an addition to a schema is no cause of what another table lost', async t => {
  const { raise, show } = await makePipeline(app, ...CHAIN)
  await raise('raw drift info', 'orders drift info', 'other drift')
  t.match((await show())[0], /^open critical other: /)
})

t.test('a symptom joins only what can have caused it', async t => {
  const { raise, show } = await makePipeline(app, ...CHAIN)
  await raise('raw quality')
  await raise('orders drift')
  await raise('sales stale')
  t.strictSame(await show(), [
    'open warning raw: raw quality',
    'open critical orders: orders drift, sales stale',
  ])
})

t.test('a problem of two causes goes to the nearer one, and does not make them one', async t => {
  const { raise, show } = await makePipeline(
    app,
    ['a', 'b', 'c', 'joined'],
    ['a > c', 'c > joined', 'b > joined'],
  )
  await raise('a stale')
  await raise('b drift')
  await raise('joined quality')
  t.strictSame(await show(), ['open critical a: a stale', 'open critical b: b drift, joined quality'])
})

t.test('only alerts within the window belong together, except for causes that go on', async t => {
  const { raise, show } = await makePipeline(app, ...CHAIN)
  await raise('orders quality')
  await goForward(app, 61)
  await raise('orders volume')
  t.equal((await show()).length, 2)
  const late = await makePipeline(app, ...CHAIN)
  await late.raise('raw stale')
  await goForward(app, 24 * 60)
  await late.raise('report stale')
  t.strictSame(await late.show(), ['open critical raw: raw stale, report stale'])
})

t.test('an alert that got worse stays in its incident', async t => {
  const { raise, show } = await makePipeline(app, ...CHAIN)
  await raise('orders quality')
  await goForward(app, 61)
  await raise('orders quality critical')
  t.strictSame(await show(), ['open critical orders: orders quality, orders quality'])
})

t.test('circles have a cause too', async t => {
  const { raise, show } = await makePipeline(app, ['a', 'b'], ['a > b', 'b > a'])
  await raise('a quality')
  await raise('b quality')
  t.strictSame(await show(), ['open warning a: a quality, b quality'])
})

t.test(
  'one discovery is one incident, and does not put independent problems of its tables together',
  async t => {
    const { raise, show, list, get } = await makePipeline(
      app,
      ['customers', 'orders', 'sales', 'products', 'inventory', 'gift_cards', 'page_views'],
      ['customers > orders', 'orders > sales', 'products > inventory'],
    )
    await raise(
      ...['customers drift', 'products drift', 'gift_cards drift', 'orders drift info'],
      ...['customers volume', 'orders volume', 'products volume', 'gift_cards quality', 'page_views volume'],
    )
    await raise('sales stale')
    await raise('inventory volume')
    t.strictSame((await show()).sort(), [
      'open critical customers: customers drift, gift_cards drift, orders drift, products drift',
      'open critical customers: customers volume, orders volume, sales stale',
      'open warning gift_cards: gift_cards quality',
      'open warning page_views: page_views volume',
      'open warning products: inventory volume, products volume',
    ])
    const changes = (await list()).find(({ title }) => title === '4 schema changes found by one discovery')
    t.match(changes, {
      root_cause: { is_named: false, alert_id: null, confidence: 0, explanation: /^No cause is named/ },
      description: /none causes the others$/,
      downstream_count: 2,
    })
    await app.query('delete from rate_windows')
    const { alerts } = (await get(
      `?alert_id=${String(changes?.root_cause && (changes.root_cause as { evidence: { alert_id: string }[] }).evidence[0]?.alert_id)}`,
    )) as {
      alerts: { title: string; is_cause: boolean; reason: string; downstream_count: number }[]
    }
    t.strictSame(
      alerts
        .map(({ title, is_cause, reason, downstream_count: reach }) => [title, is_cause, reason, reach])
        .sort(),
      [
        ['customers drift', false, 'same_discovery', 2],
        ['gift_cards drift', false, 'same_discovery', 0],
        ['orders drift', false, 'same_discovery', 1],
        ['products drift', false, 'same_discovery', 1],
      ],
    )
  },
)

t.test(
  'the effects of one of several changes of a discovery are one incident, which names that change',
  async t => {
    const { raise, show } = await makePipeline(
      app,
      ['raw', 'left', 'right', 'other'],
      ['raw > left', 'raw > right'],
    )
    await raise('raw drift', 'other drift')
    await raise('left quality')
    await raise('right quality')
    t.strictSame((await show()).sort(), [
      'open critical raw: other drift, raw drift',
      'open warning raw: left quality, right quality',
    ])
    const late = await makePipeline(app, ['raw', 'left', 'right', 'other'], ['raw > left', 'raw > right'])
    await late.raise('left quality')
    await late.raise('right quality')
    await late.raise('raw drift', 'other drift')
    t.strictSame((await late.show('?status=open')).sort(), [
      'open critical raw: other drift, raw drift',
      'open warning raw: left quality, right quality',
    ])
  },
)

t.test('two causes of which data flows to one table stay two incidents', async t => {
  const { raise, show } = await makePipeline(
    app,
    ['raw', 'a', 'b', 'joined'],
    ['raw > a', 'raw > b', 'a > joined', 'b > joined'],
  )
  await raise('a quality')
  await raise('joined quality')
  await raise('b volume')
  t.strictSame(await show(), ['open warning a: a quality, joined quality', 'open warning b: b volume'])
})

t.test('foreign keys and the same minute join nothing', async t => {
  const { raise, show, ids, tenant } = await makePipeline(app, ['orders', 'customers', 'other'], [])
  await app.server.db.company(tenant.companyId, trx =>
    app.server.plugins.lineage.recordEdges(trx, {
      ...{ origin: 'foreign_key', sourceId: null, isComplete: false },
      edges: [
        {
          upstream: { tableId: ids.get('customers')! },
          downstream: { tableId: ids.get('orders')! },
          detail: 'orders_customer',
        },
      ],
    }),
  )
  await raise('orders quality', 'customers quality', 'other quality')
  t.equal((await show()).length, 3)
})

t.test(
  'an alert joins what is upstream for a day while that is open, as slow pipelines take hours',
  async t => {
    const { raise, recover, show } = await makePipeline(app, ...CHAIN)
    await raise('raw volume')
    await goForward(app, 5 * 60)
    await raise('orders volume')
    await goForward(app, 5 * 60)
    await raise('sales quality')
    t.strictSame(await show(), ['open warning raw: orders volume, raw volume, sales quality'])
    await recover('raw volume', 'orders volume', 'sales quality')
    await goForward(app, 5 * 60)
    await raise('report quality')
    t.equal((await show()).length, 2, 'what is over brings nothing about')
  },
)

t.test(
  'an alert goes with what can have caused it rather than with another problem of its table',
  async t => {
    const { raise, show } = await makePipeline(
      app,
      ['a', 'b', 'joined', 'report'],
      ['a > joined', 'b > joined', 'joined > report'],
    )
    await raise('a quality')
    await raise('joined quality')
    await raise('joined stale')
    await raise('b stale')
    await raise('report stale')
    t.strictSame(await show(), [
      'open warning a: a quality, joined quality',
      'open critical b: b stale, joined stale, report stale',
    ])
  },
)

t.test(
  'an alert of which two are the next cause goes to the one that brings it about more often',
  async t => {
    const { raise, show } = await makePipeline(app, ['a', 'b', 'joined'], ['a > joined', 'b > joined'])
    await raise('a volume')
    await raise('b quality')
    await raise('joined quality')
    t.strictSame(await show(), ['open warning a: a volume', 'open warning b: b quality, joined quality'])
  },
)

t.test('an addition to a schema is the cause of no failure', async t => {
  const { raise, show } = await makePipeline(app, ...CHAIN)
  await raise('orders quality')
  await raise('raw drift info')
  await raise('sales quality')
  t.strictSame(await show(), [
    'open warning orders: orders quality, sales quality',
    'open info raw: raw drift',
  ])
})

t.test('what another discovery finds below a changed table belongs to that change', async t => {
  const { raise, show } = await makePipeline(
    app,
    ['raw', 'left', 'right', 'other', 'next'],
    ['raw > left', 'raw > right', 'other > next', 'left > next'],
  )
  await raise('raw drift')
  await raise('left drift', 'right drift', 'other drift')
  await raise('left quality')
  t.strictSame(await show(), [
    'open critical raw: left drift, left quality, raw drift, right drift',
    'open critical other: other drift',
  ])
})

t.test('what fails while its cause is being mended belongs to that cause', async t => {
  const { raise, recover, show } = await makePipeline(app, ...CHAIN)
  await raise('raw stale')
  await raise('orders stale')
  await goForward(app, 50)
  await recover('raw stale')
  await goForward(app, 30)
  await raise('sales quality')
  t.strictSame(await show(), ['open critical raw: orders stale, raw stale, sales quality'])
})
