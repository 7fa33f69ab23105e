import t from 'tap'
import { makeStage } from '../../helpers/world.ts'
import { untilBlocked } from '../../helpers/lock-waits.ts'
import { metricWorld, type MetricWorld } from './world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const SALES = [
  `create table sales (id int, region text, amount numeric(12,2))`,
  `insert into sales select n, case when n % 2 = 0 then 'north' else 'south' end, n from generate_series(1, 10) n`,
]

/** Fourteen days of a mean that hardly moves. */
async function learned(t: Parameters<typeof metricWorld>[0], body: object = {}): Promise<MetricWorld> {
  const world = await metricWorld(t, stage, SALES, {
    metric_type: 'mean',
    column_name: 'amount',
    sensitivity: 3,
    ...body,
  })
  for (let day = 1; day <= 14; day++) {
    await world.source.query(`update sales set amount = id + ${(day * 7) % 5} * 0.02`)
    await world.capture(day)
  }
  return world
}

const jump = ({ source }: MetricWorld) => source.query('update sales set amount = id * 40')
const dismiss = ({ tenant }: MetricWorld, id: string, reason: string) =>
  tenant.ask('POST', `/api/v1/sdk/alerts/${id}/dismiss`, { reason })
const snapshots = async ({ tenant, path }: MetricWorld, limit: number) =>
  (await tenant.ask('GET', `${path}/snapshots?limit=${limit}`)).body.data.items
const states = ({ app }: MetricWorld) =>
  app.query('select series, md5(state::text) as state, run from check_states order by series')

t.test(
  'an alert has an explanation and the values compared; the snapshots that counted name the alert',
  async t => {
    const world = await learned(t)
    await jump(world)
    await world.capture(15)
    await world.capture(16)
    const alerts = await world.alerts()
    t.match(alerts, [{ status: 'triggered', occurrences: 2, change: null }])
    const { title, details } = alerts[0]!
    t.match(details.explanation, /^Compared with 14 earlier values; z = \d+$/)
    t.match(title, /^sales\.amount: mean 220, expected \d.* times as much\)$/)
    t.equal(details.history.length, 14)
    const [oldest, ...later] = (await snapshots(world, 100)).toReversed()
    t.match(oldest.explanation, /too few earlier values to compare with$/)
    t.ok(
      later.some(({ explanation }: { explanation: string }) =>
        explanation.startsWith(title.slice('sales.amount: '.length)),
      ),
      'each past value has the sentence that its alert has',
    )
    await world.app.query(`update check_results set details = details - 'basis'`)
    t.match(
      (await snapshots(world, 1))[0].explanation,
      /^mean 220, expected [\d.]+ to [\d.]+ /,
      'one that an earlier version stored has a shorter sentence',
    )
    const past = (await snapshots(world, 100)).toReversed().slice(0, 14)
    t.same(
      details.history,
      past.map(({ captured_at, value }: Record<string, unknown>) => ({ captured_at, value })),
      'the fourteen values before',
    )
    t.same(
      await world.app.query(
        'select at::date::text as day from check_results where alert_id = $1 order by 1',
        [alerts[0]!.id],
      ),
      [{ day: '2024-06-16' }, { day: '2024-06-17' }],
    )
  },
)

t.test('a value confirmed as expected no longer alerts, and lies in the band', async t => {
  const world = await learned(t)
  await jump(world)
  await world.capture(15)
  const [alert] = await world.alerts()
  const said = await dismiss(world, alert!.id, 'expected')
  t.match([said.status, said.body.data.status], [200, 'dismissed'])
  t.match(await snapshots(world, 2), [
    { value: 220, is_anomaly: true, is_confirmed: true },
    { is_anomaly: false, is_confirmed: false },
  ])
  await world.capture(16)
  const [again] = await snapshots(world, 1)
  t.match(again, { value: 220, is_anomaly: false, status: 'PASS' })
  t.ok(again.expected_range_low <= 220 && again.expected_range_high >= 220)
  t.equal((await world.alerts()).length, 1)
  await world.source.query('update sales set amount = id * 4000')
  await world.capture(17)
  t.match(await world.alerts(), [{ status: 'dismissed' }, { status: 'triggered' }], 'far more is still news')
})

t.test('any other reason leaves what is expected as it was', async t => {
  const world = await learned(t)
  await jump(world)
  await world.capture(15)
  const before = await states(world)
  const [alert] = await world.alerts()
  t.equal((await dismiss(world, alert!.id, 'we know')).status, 200)
  t.same(await states(world), before)
  t.match(await snapshots(world, 1), [{ is_confirmed: false }])
  await world.capture(16)
  t.match(await world.alerts(), [{ status: 'dismissed' }], 'the dismissal lasts as long as it fails')
  t.equal((await world.alerts()).length, 1)
})

t.test('nothing is learned of an alert that is over, or that is another company’s', async t => {
  const world = await learned(t)
  await jump(world)
  await world.capture(15)
  const before = await states(world)
  const [alert] = await world.alerts()
  const other = await world.app.signUp('Other')
  const stranger = await other.ask('POST', `/api/v1/sdk/alerts/${alert!.id}/dismiss`, { reason: 'expected' })
  t.match(stranger, { status: 404, body: { error: { code: 'ALERT_NOT_FOUND' } } })
  await world.tenant.ask('POST', `/api/v1/sdk/alerts/${alert!.id}/resolve`)
  t.match(await dismiss(world, alert!.id, ' EXPECTED '), {
    status: 409,
    body: { error: { code: 'CONFLICT' } },
  })
  t.same(await states(world), before)
  t.match(await snapshots(world, 1), [{ is_confirmed: false }])
})

t.test('only the groups that an alert spoke of are read again, and they stay known', async t => {
  const world = await learned(t, { group_by_columns: ['region'] })
  await world.source.query(`update sales set amount = id * 40 where region = 'north'`)
  await world.capture(15)
  const before = await states(world)
  const [alert] = await world.alerts()
  t.match(alert, {
    title: /^sales\.amount, region north: mean 240, /,
    details: { group_values: { region: 'north' }, anomalous_groups: 1 },
  })
  t.equal(alert!.details.history.length, 14, 'values of that group alone')
  await dismiss(world, alert!.id, 'Expected')
  const after = await states(world)
  t.not(after[0]!.state, before[0]!.state)
  t.same(after[1], before[1])
  t.match(after, [{ run: 15 }, { run: 15 }])
  await world.capture(16)
  t.match(await snapshots(world, 2), [{ is_anomaly: false }, { is_anomaly: false }])
  t.match(await world.alerts(), [{ status: 'dismissed' }], 'no group is new')
})

t.test('a dismissal and a scan of the same metric wait for each other in one order', async t => {
  const world = await learned(t)
  const { app } = world
  await jump(world)
  await world.capture(15)
  const [alert] = await world.alerts()
  // Holding the alert keeps the scan, which has locked the metric, from going on.
  await app.query('begin')
  await app.query('select 1 from alerts where id = $1 for update', [alert!.id])
  const scan = world.capture(16)
  await untilBlocked(app)
  const dismissal = dismiss(world, alert!.id, 'expected')
  await untilBlocked(app, 2)
  await app.query('commit')
  await scan
  t.match(await dismissal, { status: 200, body: { data: { status: 'dismissed', occurrences: 2 } } })
  t.match(await snapshots(world, 2), [{ is_confirmed: true }, { is_confirmed: true }], 'both counted on it')
  await world.capture(17)
  t.match(await snapshots(world, 1), [{ value: 220, is_anomaly: false }])
})

t.test('an alert of a metric that is gone can be dismissed as expected', async t => {
  const world = await learned(t)
  await jump(world)
  await world.capture(15)
  await world.app.query('delete from checks')
  const [alert] = await world.alerts()
  t.equal((await dismiss(world, alert!.id, 'expected')).status, 200)
})

t.test('a change of a metric that is removed meanwhile finds none', async t => {
  const { app, tenant, path } = await learned(t)
  await app.query('begin')
  await app.query('delete from checks')
  const change = tenant.ask('PATCH', path, { capture_interval: 'weekly' })
  await untilBlocked(app)
  await app.query('commit')
  t.match(await change, { status: 404, body: { error: { code: 'METRIC_NOT_FOUND' } } })
})

t.test('a metric that is switched off can be captured, and opens no alert', async t => {
  const world = await learned(t)
  const capture = async () => (await world.tenant.ask('POST', `${world.path}/capture`)).body.data.snapshots
  await world.tenant.ask('PATCH', world.path, { is_active: false })
  await jump(world)
  t.match(await capture(), [{ value: 220, is_anomaly: true, status: 'FAIL' }])
  t.same(await world.alerts(), [])
})

t.test('another sensitivity needs no history, another interval reads it again', async t => {
  const world = await learned(t)
  const { app, tenant, path } = world
  const before = await states(world)
  await tenant.ask('PATCH', path, { sensitivity: 2 })
  t.same(await states(world), before)
  await tenant.ask('PATCH', path, { capture_interval: 'weekly' })
  await world.capture(15)
  t.match(
    await app.query(`select state -> 'options' ->> 'interval' as interval, state -> 'count' as count, run
      from check_states`),
    [{ interval: 'weekly', count: 15, run: 15 }],
  )
  t.match(await snapshots(world, 1), [{ learning: false }])
})
