import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { running } from '../../helpers/source.ts'
import { discover, makeStage } from '../../helpers/world.ts'
import { metricWorld } from '../metrics/world.ts'

/** One server for all tests of this file, which have a source each. */
const stage = await makeStage(t)

const REASON = 'It is no longer watched'

const TABLES = [
  'create table customers (id int primary key)',
  'insert into customers values (1)',
  `create table sales (id int, customer_id int, email text, at timestamptz)`,
  `insert into sales values (1, 1, 'ann@x.org', '2024-01-01')`,
  // Each row takes a while, so that a scan is there to be seen.
  'create view slow as select s.*, nullif(pg_sleep(0.5) is null, false) as waited from sales s',
]

const FRESHNESS = '/api/v1/sdk/freshness/schedules'

/** Where an alert stands. */
interface AlertStanding {
  kind: string
  status: string
  severity: string
  reason: string | null
}

/** A table with a check of every kind, each of which has failed. */
async function failing(t: Parameters<typeof metricWorld>[0]) {
  const world = await metricWorld(t, stage, TABLES, { metric_type: 'row_count', sensitivity: 4 })
  const { tenant, asset, app, source } = world
  const make = async (path: string, body: object) => {
    const made = await tenant.ask('POST', path, body)
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    return made.body.data as { id: string; uuid: string }
  }
  for (let day = 1; day < 10; day++) await world.capture(day)
  const rules = `/api/v1/sdk/validity/${asset.id}`
  const references = `/api/v1/sdk/referential/${asset.id}`
  const rule = await make(rules, { rule_type: 'NOT_NULL', table_path: 'sales', column_name: 'email' })
  const reference = await make(references, {
    child_table_path: 'sales',
    child_column_name: 'customer_id',
    parent_table_path: 'customers',
    parent_column_name: 'id',
  })
  await source.query(`insert into sales select 2, 7, null, '2024-01-01' from generate_series(1, 1000)`)
  await world.capture(10)
  const schedule = await make(FRESHNESS, {
    asset_id: asset.id,
    table_path: 'sales',
    freshness_column: 'at',
    sla_threshold: '1h',
  })
  return {
    ...world,
    /** The paths of what was made, by the kind of the alert that it raises. */
    paths: {
      validity_failure: `${rules}/${rule.uuid}`,
      metric_anomaly: world.path,
      referential_failure: `${references}/${reference.id}`,
      freshness_violation: `${FRESHNESS}/${schedule.id}`,
    },
    make,
    change: (body: object) => tenant.ask('PATCH', `/api/v1/sdk/assets/${asset.id}`, body),
    /** The alerts of the source but for news, as their history ends, oldest first. */
    async readAlerts(): Promise<AlertStanding[]> {
      const found = await app.query(
        `select kind, status, severity,
           (select reason from alert_history where alert_id = a.id order by id desc limit 1) as reason
         from alerts a where source_id = $1 and kind <> 'discovery_complete' order by kind, created_at`,
        [asset.id],
      )
      return found as unknown as AlertStanding[]
    },
  }
}

const ALL = ['freshness_violation', 'metric_anomaly', 'referential_failure', 'validity_failure'] as const
const open = ALL.map(kind => ({ kind, status: 'triggered' }))
const closed = ALL.map(kind => ({ kind, status: 'resolved', reason: REASON }))

t.test('a check that is switched off leaves no alert open', async t => {
  const { readAlerts, tenant, paths } = await failing(t)
  t.match(await readAlerts(), open)
  for (const kind of ALL) t.equal((await tenant.ask('PATCH', paths[kind], { is_active: false })).status, 200)
  t.match(await readAlerts(), closed)
  for (const [kind, action] of [
    ['validity_failure', 'check'],
    ['metric_anomaly', 'capture'],
    ['referential_failure', 'execute'],
  ] as const)
    t.equal((await tenant.ask('POST', `${paths[kind]}/${action}`)).status, 200, kind)
  t.equal((await readAlerts()).length, 4, 'one that is run by hand while it is off opens none')
})

t.test('a check that is removed leaves no alert open', async t => {
  const { readAlerts, tenant, paths } = await failing(t)
  for (const kind of ALL) t.equal((await tenant.ask('DELETE', paths[kind])).status, 200)
  t.match(await readAlerts(), closed)
})

t.test('a source that is switched off leaves open only what can be closed without it', async t => {
  const { readAlerts, change, capture, source, asset, tenant, app } = await failing(t)
  await source.query('alter table sales add column spare text')
  await discover({ app, tenant, asset })
  const drift = { kind: 'schema_change', status: 'triggered' }
  const withDrift = (others: readonly object[]) => [...others.slice(0, 3), drift, ...others.slice(3)]
  t.match(await readAlerts(), withDrift(open))
  t.equal((await change({ is_active: false })).status, 200)
  t.match(await readAlerts(), withDrift(closed))

  await change({ connection_config: { ...source.config, password: 'wrong' } })
  const test = await tenant.ask('POST', `/api/v1/sdk/assets/${asset.id}/test-connection`)
  t.match(test.body.data, { success: false })
  t.equal((await readAlerts()).length, 5, 'a test of it that fails opens none')

  await change({ connection_config: source.config, is_active: true })
  await capture(11)
  t.match(
    (await readAlerts()).filter(({ kind }) => kind === 'validity_failure'),
    [{ status: 'resolved' }, { status: 'triggered' }],
    'what still fails alerts again once it is on',
  )
})

t.test('switching off a source that cannot be reached resolves its alert', async t => {
  const { readAlerts, change, source, asset, tenant, app } = await failing(t)
  await change({ connection_config: { ...source.config, password: 'wrong' } })
  await discover({ app, tenant, asset })
  const found = async () => (await readAlerts()).filter(({ kind }) => kind === 'connection_failed')
  t.match(await found(), [{ status: 'triggered' }])
  await change({ is_active: false })
  t.match(await found(), [{ status: 'resolved', reason: REASON }])
})

t.test('removing a source resolves its alerts and notifies the same destinations', async t => {
  const { body } = await stage.tenant.ask('POST', '/api/v1/sdk/alerts/destinations', {
    name: 'pager',
    destination_type: 'webhook',
    config: { url: 'https://receiver.invalid/hook' },
  })
  const destination = body.data
  const { readAlerts, tenant, asset, app } = await failing(t)
  t.teardown(() => tenant.ask('DELETE', `/api/v1/sdk/alerts/destinations/${destination.id}`))
  t.equal((await tenant.ask('DELETE', `/api/v1/sdk/assets/${asset.id}`)).status, 200)
  t.match(await readAlerts(), closed)
  const sent = await app.query(
    `select a.kind, d.event_type from deliveries d join alerts a on a.id = d.alert_id
      where d.destination_id = $1 and d.event_type = 'alert.resolved' order by a.kind`,
    [destination.id],
  )
  t.match(
    sent.filter(({ kind }) => kind !== 'metric_anomaly'),
    ALL.filter(kind => kind !== 'metric_anomaly').map(kind => ({ kind, event_type: 'alert.resolved' })),
  )
  const [alert] = await app.query('select id from alerts where source_id = $1', [asset.id])
  const shown = await tenant.ask('GET', `/api/v1/sdk/alerts/${String(alert?.id)}`)
  t.match(shown.status, 200, 'they can still be read')
})

t.test('a table that is gone, or that patterns no longer name, leaves no alert of its data open', async t => {
  const { readAlerts, change, capture, source, ...world } = await failing(t)
  await source.query('drop view slow')
  await source.query('alter table sales rename to sold')
  await discover(world)
  const ofData = async () => (await readAlerts()).filter(({ kind }) => kind !== 'schema_change')
  t.match(await ofData(), closed)
  await source.query('alter table sold rename to sales')
  await discover(world)
  await capture(11)
  const rules = async () => (await readAlerts()).filter(({ kind }) => kind === 'validity_failure')
  t.match(await rules(), [{ status: 'resolved' }, { status: 'triggered' }], 'it alerts again when it is back')
  await change({ exclude_patterns: ['*.sales'] })
  await discover(world)
  t.match(await rules(), [
    { status: 'resolved', reason: REASON },
    { status: 'resolved', reason: REASON },
  ])
  t.notOk((await ofData()).some(({ status }) => status !== 'resolved'))
})

t.test('a referential check whose parent is gone leaves no alert open', async t => {
  const { readAlerts, capture, source, ...world } = await failing(t)
  await source.query('drop table customers')
  await discover(world)
  await capture(11)
  t.match(
    (await readAlerts()).filter(({ kind }) => kind !== 'schema_change'),
    [open[0], open[1], closed[2], open[3]],
  )
})

t.test('a scan that finds its source switched off, or its table retired, opens no alert', async t => {
  const { readAlerts, make, change, tenant, source, asset, app } = await failing(t)
  const rules = `/api/v1/sdk/validity/${asset.id}`
  const slow = await make(rules, { rule_type: 'NOT_NULL', table_path: 'slow', column_name: 'waited' })
  await source.query('delete from sales where id = 2')
  const during = async (work: () => Promise<unknown>) => {
    const checking = tenant.ask('POST', `${rules}/${slow.uuid}/check`)
    while ((await running(source)) === 0) await wait(10)
    await work()
    return checking
  }
  const ofRule = async () =>
    app.query(`select status from alerts where cause = $1 order by created_at`, [slow.uuid])
  const off = await during(() => change({ is_active: false }))
  t.match([off.status, off.body.error?.code], [409, 'CONFLICT'])
  t.same(await ofRule(), [])
  t.match(await readAlerts(), closed)
  await change({ is_active: true })
  t.match((await during(async () => undefined)).body.data, { status: 'fail' })
  t.match(await ofRule(), [{ status: 'triggered' }])
  await source.query(`insert into sales select 3, 1, 'bob@x.org', now() from generate_series(1, 3)`)
  const retired = await during(async () => {
    await change({ exclude_patterns: ['*.slow'] })
    await discover({ app, tenant, asset })
  })
  t.match(retired.body.data, { status: 'error', error_message: /patterns .* no longer name/ })
  t.match(await ofRule(), [{ status: 'resolved' }])
})

t.test('the next alert has the severity that its check has been given', async t => {
  const { readAlerts, tenant, paths, capture, source } = await failing(t)
  const kinds = ['validity_failure', 'referential_failure'] as const
  const severe = async (severity: string, day: number) => {
    for (const kind of kinds) await tenant.ask('PATCH', paths[kind], { severity })
    await capture(day)
  }
  const severities = async () => {
    const all = Map.groupBy(await readAlerts(), ({ kind }) => kind)
    return kinds.map(kind => all.get(kind)?.map(({ severity, status }) => `${severity} ${status}`))
  }
  t.same(await severities(), [['warning triggered'], ['warning triggered']])
  await severe('critical', 11)
  const worse = ['warning resolved', 'critical triggered']
  t.same(await severities(), [worse, worse], 'one that is open and got worse is opened anew')
  await severe('info', 12)
  t.same(await severities(), [worse, worse], 'one that is open and got better keeps its severity')
  await source.query('create table kept as select * from sales where id = 2')
  await source.query('delete from sales where id = 2')
  await capture(13)
  await source.query('insert into sales select * from kept')
  await capture(14)
  const over = ['warning resolved', 'critical resolved', 'info triggered']
  t.same(await severities(), [over, over])
})
