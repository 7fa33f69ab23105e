import t from 'tap'
import { discover, makeStage, makeWorldOn } from '../../helpers/world.ts'

const stage = await makeStage(t)

/** A table with a metric and a manual rule that alert at the second failure in a row. */
async function waitingWorld(t: Parameters<typeof makeWorldOn>[0]) {
  const world = await makeWorldOn(t, stage, [
    `create table sales as select n as id, 'x' as note from generate_series(1, 10) n`,
  ])
  await discover(world)
  const { app, tenant, asset, source } = world
  const make = async (kind: string, body: object) => {
    const path = `/api/v1/sdk/${kind}/${asset.id}`
    const made = await tenant.ask('POST', path, { table_path: 'sales', consecutive: 2, ...body })
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    return `${path}/${made.body.data.uuid ?? made.body.data.id}`
  }
  const metric = await make('metrics', { metric_type: 'row_count', min: 5 })
  const rule = await make('validity', { rule_type: 'NOT_NULL', column_name: 'note' })
  const alerts = () =>
    app.query(
      `select kind, status, occurrences from alerts
       where company_id = $1 and kind in ('metric_anomaly', 'validity_failure') order by kind, created_at`,
      [tenant.companyId],
    )
  return {
    ...{ tenant, source, metric, rule, app, asset },
    /** Alerts so far, after one more run of both. */
    async run(): Promise<string[]> {
      await tenant.ask('POST', `${metric}/capture`)
      await tenant.ask('POST', `${rule}/check`)
      return (await alerts()).map(({ kind, status, occurrences }) => `${kind} ${status} ${occurrences}`)
    },
    failingRuns: async () => {
      const [first, second] = [await tenant.ask('GET', metric), await tenant.ask('GET', rule)]
      return [first.body.data.failing_runs, second.body.data.failing_runs]
    },
  }
}

const TRIGGERED = ['metric_anomaly triggered 1', 'validity_failure triggered 1']

t.test('an alert waits for as many failing runs in a row as the check says; each run has failed', async t => {
  const { run, source, failingRuns, tenant, metric, rule } = await waitingWorld(t)
  await source.query('delete from sales where id > 3; update sales set note = null')
  t.same(await run(), [])
  t.same(await failingRuns(), [1, 1])
  t.same(await run(), TRIGGERED)
  t.same(await failingRuns(), [2, 2])
  const last = async (path: string) => (await tenant.ask('GET', path)).body.data.items
  t.match(await last(`${metric}/snapshots`), [
    { status: 'FAIL', failing_run: 2 },
    { status: 'FAIL', failing_run: 1 },
  ])
  t.match(await last(`${rule}/results`), [
    { status: 'fail', failing_run: 2 },
    { status: 'fail', failing_run: 1 },
  ])
})

t.test('a pass begins the count anew, an error neither counts nor ends it', async t => {
  const { run, source, failingRuns } = await waitingWorld(t)
  await source.query(
    `create table kept as select * from sales; delete from sales; insert into sales values (1, null)`,
  )
  t.same(await run(), [])
  await source.query(`delete from sales; insert into sales select * from kept`)
  t.same(await run(), [])
  t.same(await failingRuns(), [0, 0])
  await source.query(`delete from sales; insert into sales values (1, null)`)
  t.same(await run(), [])
  await source.query('alter table sales rename to elsewhere')
  t.same(await run(), [], 'a run that could not take place')
  t.same(await failingRuns(), [1, 1])
  await source.query('alter table elsewhere rename to sales')
  t.same(await run(), TRIGGERED)
})

t.test('a check that is switched off begins anew when it is switched on', async t => {
  const { run, source, failingRuns, tenant, metric, rule } = await waitingWorld(t)
  await source.query(`delete from sales where id > 3; update sales set note = null`)
  t.same(await run(), [])
  for (const path of [metric, rule])
    for (const is_active of [false, true]) await tenant.ask('PATCH', path, { is_active })
  t.same(await failingRuns(), [0, 0])
  t.same(await run(), [])
  t.same(await run(), TRIGGERED)
})
