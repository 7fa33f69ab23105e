import t from 'tap'
import { parse, stringify } from 'yaml'
import { makeStage, makeWorldOn, type World } from '../../../helpers/world.ts'
import { contractsOf } from '../enforcement/world.ts'

const stage = await makeStage(t)

const TABLES = [
  'create table orders (id bigint primary key, status text, total numeric(10,2), note text, at timestamptz not null)',
  `insert into orders
   select n, (array['new', 'paid'])[n % 2 + 1], n, 'n', now() - make_interval(mins => n) from generate_series(1, 200) n`,
]

/** A table with checks by hand, and what tests do with them and with its contract. */
function shop(world: World) {
  const { app, asset } = world
  const contracts = contractsOf(world)
  const { ask } = contracts
  const rule = (body: object) =>
    ask('POST', `/api/v1/sdk/validity/${asset.id}`, { table_path: 'orders', ...body })
  return {
    ...contracts,
    rule,
    async watch() {
      const range = { rule_type: 'RANGE', column_name: 'total', rule_config: { min: 0, max: 1_000 } }
      const statuses = { allowed_values: ['new', 'paid'] }
      await rule({ rule_type: 'ENUM', column_name: 'status', rule_config: statuses, severity: 'critical' })
      await rule(range)
      await rule({
        rule_type: 'CUSTOM_SQL',
        rule_config: { sql_expression: 'total >= 0' },
        name: 'no debts',
      })
      await rule({ rule_type: 'NOT_NULL', column_name: 'note', alert_threshold_percent: 5 })
      const count = { table_path: 'orders', metric_type: 'row_count', min: 100 }
      await ask('POST', `/api/v1/sdk/metrics/${asset.id}`, count)
      await ask('POST', '/api/v1/sdk/freshness/schedules', {
        asset_id: 'shop',
        table_path: 'orders',
        sla_threshold: '24h',
        freshness_column: 'at',
      })
    },
    async draft(more = '') {
      const [orders] = await app.query(`select id from tables where source_id = $1 and name = 'orders'`, [
        asset.id,
      ])
      const { body } = await ask('GET', `/api/v1/sdk/assets/${String(orders!.id)}/contract-draft${more}`)
      return String(body.data.contract)
    },
    plan: async (name: string, contract: string) =>
      (await ask('POST', `/api/v1/sdk/contracts/${name}/plan`, { contract, source: 'shop' })).body.data,
    save: (name: string, contract: string) =>
      ask('PUT', `/api/v1/sdk/contracts/${name}`, { contract, source: 'shop' }),
    async checks() {
      const found = await app.query(
        `select id, owner_ref ->> 'file' as file from checks where source_id = $1 order by id`,
        [asset.id],
      )
      return found as { id: string; file: string | null }[]
    },
    async openAlerts() {
      const found = await app.query(
        `select kind, event #> '{details,contracts}' as contracts from alerts
         where source_id = $1 and status = 'triggered' order by kind`,
        [asset.id],
      )
      return found as { kind: string; contracts: { contract: string; clause: string }[] | null }[]
    },
  }
}

t.test('a contract that is drafted from a table adopts its checks and its schedule', async t => {
  const world = await makeWorldOn(t, stage, TABLES)
  const { watch, draft, plan, save, checks, clauses, runChecks, rediscover, ask, path } = shop(world)
  await rediscover()
  await watch()
  const before = await checks()
  const text = await draft()
  t.match(await plan('orders', text), {
    message: 'adopts 6 checks',
    is_new: true,
    checks: { adopted: 6, created: 0, changed: 0, removed: 0 },
  })
  t.strictSame(await checks(), before, 'a plan stores nothing')

  t.equal((await save('orders', text)).status, 201)
  const made = await checks()
  t.strictSame(
    made.map(({ id }) => id),
    before.map(({ id }) => id),
    'nothing is made twice',
  )
  t.strictSame([...new Set(made.map(({ file }) => file))], ['the contract orders'])
  const judged = [...(await clauses('orders')).values()].filter(({ check_id: id }) => id !== null)
  t.equal(new Set(judged.map(({ check_id: id }) => id)).size, 6, 'each check judges a clause')
  t.strictSame(
    [...(await clauses('orders')).values()].filter(({ status }) => status === 'not_enforced'),
    [],
    'the schedule of the table is no obstacle',
  )
  await runChecks()
  t.match((await ask('GET', path('orders'))).body.data, { status: 'passing' })

  t.match(await plan('orders', text), { message: 'keeps 6 checks', is_new: false })
  t.equal((await save('orders', text)).status, 200)
  t.match((await ask('GET', path('orders'))).body.data, { status: 'passing' }, 'what is known stays')
  t.match(await plan('orders', text.replace('maximum: 1000', 'maximum: 900')), {
    checks: { created: 2, kept: 5, released: 1 },
  })

  await ask('DELETE', path('orders'))
  const left = await checks()
  t.strictSame(left, before, 'the checks are by hand again, and none is gone')
})

t.test('an equal check is adopted without being named, and another one is made beside it', async t => {
  const world = await makeWorldOn(t, stage, TABLES)
  const { rule, draft, plan, save, rediscover, checks } = shop(world)
  await rediscover()
  const enumOf = (values: string[], more: object = {}) =>
    rule({ rule_type: 'ENUM', column_name: 'status', rule_config: { allowed_values: values }, ...more })
  await enumOf(['new', 'paid'], { treat_null_as_valid: true, severity: 'info' })
  const text = await draft('?mode=odcs-pure')
  t.match(await plan('orders', text), { message: 'adopts 1 check' })
  const stricter = text.replace('- paid', '- sent')
  t.match(await plan('orders', stricter), { message: 'creates 1 check' })
  await save('orders', stricter)
  t.equal((await checks()).length, 2)
})

t.test('a check of a contract goes to the other contract that relies on it', async t => {
  const world = await makeWorldOn(t, stage, TABLES)
  const { rule, draft, save, rediscover, checks, ask, path } = shop(world)
  await rediscover()
  await rule({
    rule_type: 'ENUM',
    column_name: 'status',
    rule_config: { allowed_values: ['new', 'paid'] },
    treat_null_as_valid: true,
  })
  const text = await draft('?mode=odcs-pure')
  const [byHand] = await checks()
  await world.app.query('delete from checks where id = $1', [byHand!.id])
  await save('one', text)
  await save('two', text)
  t.equal((await checks()).length, 1, 'two contracts make one check')
  await ask('DELETE', path('one'))
  t.match(await checks(), [{ file: 'the contract two' }])
  await ask('DELETE', path('two'))
  t.strictSame(await checks(), [], 'it goes with the last contract')
})

t.test('one fault is one alert, which names the contract', async t => {
  const world = await makeWorldOn(t, stage, TABLES)
  const { watch, draft, save, clauses, runChecks, rediscover, openAlerts, ask, path } = shop(world)
  const { source } = world
  await rediscover()
  await watch()
  await source.query(`update orders set status = 'lost' where id < 10`)
  await runChecks()
  t.match(await openAlerts(), [{ kind: 'validity_failure', contracts: null }])
  const document = parse(await draft()) as object
  await save('orders', stringify({ ...document, team: { name: 'sales' } }))
  t.match(await openAlerts(), [
    {
      kind: 'validity_failure',
      contracts: [{ contract: 'orders', clause: /ENUM|invalidValues|status/, owner: 'sales' }],
    },
  ])
  t.equal((await openAlerts()).length, 1)
  const broken = () =>
    clauses('orders').then(all => [...all.values()].filter(({ status }) => status === 'failing'))
  t.match(await broken(), [{ title: /.+/ }], 'the contract is broken at once')
  await runChecks()
  t.equal((await openAlerts()).length, 1)
  t.equal((await broken()).length, 1)
  await source.query(`update orders set total = -1 where id = 3`)
  await runChecks()
  const alerts = await openAlerts()
  t.strictSame([...new Set(alerts.map(({ kind }) => kind))], ['validity_failure'])
  t.ok(alerts.every(({ contracts }) => contracts?.[0]?.contract === 'orders'))
  await ask('DELETE', path('orders'))
  t.ok(
    (await openAlerts()).every(({ contracts }) => contracts === null),
    'and no longer when it is gone',
  )
})
