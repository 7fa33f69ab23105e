import { readFile } from 'node:fs/promises'
import t from 'tap'
import { pageFile } from '../../../plugins/public/doc-pages.ts'
import { discover, makeWorld, type World } from '../../helpers/world.ts'

/** A group's value that is longer than titles show, cut in the middle of a character. */
const LONG = `${'a long story '.repeat(3)}😀 and more`
/** Texts that a careless program would read as something else than a text. */
const STRANGE = [
  '{"a":1}',
  `it's "quoted"`,
  '$1 :companyId ?',
  '\\u0000',
  '__proto__',
  'null',
  '42',
  '',
  LONG,
]

/** Twenty orders a day on each of sixty days; the mean of their totals hardly moves. */
const ORDERS = `create table orders as
  select n as id, 100 + n % 7 as total, date_trunc('day', now()) - make_interval(days => n / 20, hours => 1) as created_at
  from generate_series(0, 1199) n`

const world = await makeWorld(t, [
  ORDERS,
  `create table letters (id serial, kind text)`,
  `insert into letters (kind) select kind from unnest(array['${[...STRANGE, 'plain'].map(text => text.replaceAll("'", "''")).join("','")}', null]) kind`,
])
await discover(world)

const MEAN = { metric_type: 'mean', table_path: 'orders', column_name: 'total', sensitivity: 3 }

/** What a company can do with metrics of its source `shop`; every request has to succeed. */
function shopOf({ tenant }: Pick<World, 'tenant'>) {
  const base = '/api/v1/sdk/metrics/shop'
  const ask = async (method: string, path: string, payload?: object) => {
    const { status, body } = await tenant.ask(method, path, payload)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`)
    return body.data
  }
  return {
    make: async (body: object): Promise<string> => (await ask('POST', base, body)).id,
    list: async (): Promise<object[]> => (await ask('GET', base)).items,
    dryRun: (body: object) => ask('POST', '/api/v1/sdk/metrics/dry-run', { asset_id: 'shop', ...body }),
    /** The snapshots of a capture. */
    capture: async (id: string) => (await ask('POST', `${base}/${id}/capture`)).snapshots,
    snapshots: async (id: string) => (await ask('GET', `${base}/${id}/snapshots`)).items,
    alerts: async () => (await ask('GET', '/api/v1/sdk/alerts?event_type=metric_anomaly')).data,
    dismiss: (id: string, reason: string) => ask('POST', `/api/v1/sdk/alerts/${id}/dismiss`, { reason }),
  }
}

const shop = shopOf(world)

t.test(
  'a metric is tried, made with a past, reports anomalies with reasons, and learns what was expected',
  async t => {
    const tried = await shop.dryRun({ ...MEAN, lookback_days: 60 })
    t.match(tried, { status: 'PASS', is_anomaly: false, history: { source: 'timestamps' } })
    t.ok(tried.history.points >= 59, 'of each whole day that there is')
    const counts = tried.history.by_sensitivity.map(({ anomalies }: { anomalies: number }) => anomalies)
    t.same(
      counts,
      counts.toSorted((a: number, b: number) => b - a),
      'a greater sensitivity flags no more',
    )
    t.same(await shop.list(), [], 'and nothing is stored')

    const id = await shop.make({ ...MEAN, backfill_days: 60 })
    t.match(await shop.capture(id), [{ is_anomaly: false, learning: false, status: 'PASS' }])
    await world.source.query('update orders set total = total * 3')
    const [off] = await shop.capture(id)
    t.match(off, { is_anomaly: true, status: 'FAIL', learning: false })
    t.ok(off.value > off.expected_range_high)

    const [alert] = await shop.alerts()
    const { explanation, history, range } = alert.event.details
    t.equal(alert.status, 'triggered')
    t.match(explanation, / \d+ earlier values; z = \d/)
    t.match(
      alert.title,
      /^orders\.total: mean 30\d(\.\d+)?, expected 10\d(\.\d+)? to 10\d(\.\d+)? \(\+19\d %\)$/,
    )
    t.same(range, { low: off.expected_range_low, high: off.expected_range_high })
    t.equal(history.length, 14)
    t.ok(
      history.every(({ value }: { value: number }) => value < 110),
      'it shows what was usual',
    )

    t.equal((await shop.dismiss(alert.id, 'expected')).status, 'dismissed')
    t.match(await shop.capture(id), [{ is_anomaly: false, status: 'PASS' }])
    const flags = (await shop.snapshots(id)).map((one: { is_confirmed: boolean }) => one.is_confirmed)
    t.same(flags.slice(0, 3), [false, true, false], 'only the value that the alert spoke of is confirmed')
    await world.source.query('update orders set total = total * 10')
    t.match(await shop.capture(id), [{ is_anomaly: true }], 'far more of it is news')
    t.equal((await shop.alerts()).length, 2)
  },
)

t.test('another company neither sees nor changes any of it, also with a source of the same name', async t => {
  const tenant = await world.app.signUp('Another')
  const [alert] = await shop.alerts()
  const [metric] = (await shop.list()) as { id: string; internal_id: number }[]
  const refused = async (method: string, path: string, payload?: object) =>
    t.equal((await tenant.ask(method, path, payload)).status, 404, `${method} ${path}`)
  await refused('POST', `/api/v1/sdk/alerts/${alert.id}/dismiss`, { reason: 'expected' })
  await refused('GET', `/api/v1/sdk/alerts/${alert.id}`)
  await refused('GET', `/api/v1/sdk/metrics/${world.asset.id}`)

  const made = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name: 'shop',
    source_type: 'postgresql',
    connection_config: world.source.config,
  })
  await discover({ app: world.app, tenant, asset: made.body.data })
  for (const id of [metric!.id, metric!.internal_id]) {
    await refused('GET', `/api/v1/sdk/metrics/shop/${id}`)
    await refused('POST', `/api/v1/sdk/metrics/shop/${id}/capture`)
  }
  const other = shopOf({ tenant })
  t.ok((await shop.dryRun(MEAN)).existing)
  t.equal((await other.dryRun(MEAN)).existing, null, 'a dry run names checks of its own company only')
  t.same([await other.list(), await other.alerts()], [[], []])
  t.equal((await shop.alerts())[0].status, 'triggered')
})

t.test('group values of any form are reported unchanged, and missed when they are gone', async t => {
  const id = await shop.make({
    metric_type: 'row_count',
    table_path: 'letters',
    group_by_columns: ['kind'],
    sensitivity: 10,
  })
  for (let capture = 1; capture <= 7; capture++) {
    const groups = (await shop.capture(id)).map(
      (one: { group_values: { kind: string | null } }) => one.group_values.kind,
    )
    t.same(new Set(groups), new Set([...STRANGE, 'plain', null]))
  }
  await world.source.query(`delete from letters where kind is null or kind <> 'plain'`)
  t.match(await shop.capture(id), [{ group_values: { kind: 'plain' }, value: 1 }])
  const [alert] = await shop.alerts()
  t.match(alert, { status: 'triggered', event: { change_type: 'group_vanished' } })
  const { groups, group_count: count } = alert.event.details
  t.equal(count, STRANGE.length + 1)
  t.same(new Set(groups.map(({ kind }: { kind: string | null }) => kind)), new Set([...STRANGE, null]))
})

t.test('each request body of the page on detection is one that the service takes', async t => {
  // Its examples are of the demo, whose source has another name.
  const page = (await readFile(pageFile('detection.md'), 'utf8')).replaceAll('demo_shop', 'shop')
  const bodies = [...page.matchAll(/curl -s \$BASE(\S+)[^\n]*(?:\n[^\n]*)?? -d '([^']+)'/g)]
  t.equal(bodies.length, 2)
  await world.source.query('update orders set total = total * 10')
  for (const [, path = '', body = ''] of bodies) {
    const [open] = await shop.alerts()
    const { status } = await world.tenant.ask('POST', path.replace('$ALERT', open.id), JSON.parse(body))
    t.equal(status, 200, path)
  }
})
