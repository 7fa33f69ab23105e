import t from 'tap'
import { scanJob } from '../../../plugins/checks/jobs.ts'
import { discover, makeWorld } from '../../helpers/world.ts'

const { app, tenant, asset } = await makeWorld(t, [
  'create table orders (id int primary key)',
  'insert into orders values (1)',
]).then(async world => {
  await discover(world)
  return world
})

async function make(more: object = {}): Promise<string> {
  const body = { table_path: 'orders', metric_type: 'row_count', ...more }
  const made = await tenant.ask('POST', `/api/v1/sdk/metrics/${asset.id}`, body)
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return made.body.data.id as string
}

const nextRun = async (id: string) =>
  (await app.query('select next_run_at from checks where uuid = $1', [id.slice(2)]))[0]?.next_run_at as Date

async function sweep() {
  await app.server.plugins.checks.dispatch()
  await app.server.jobs.settled(scanJob, () => true)
}

t.test('a check that is made later is measured together with the older ones of its table', async t => {
  const oldest = await make()
  await sweep()
  // As if it had been made seven hours ago.
  await app.query(`update checks set next_run_at = next_run_at - interval '7 hours'`)
  const due = await nextRun(oldest)

  const swept = await make({ metric_type: 'null_percent', column_name: 'id' })
  await sweep()
  t.same(await nextRun(swept), due, 'after its first run by the sweep')

  const byHand = await make({ metric_type: 'distinct_count', column_name: 'id' })
  await tenant.ask('POST', `/api/v1/sdk/metrics/${asset.id}/${byHand}/capture`)
  t.same(await nextRun(byHand), due, 'after its first run by hand')

  const hourly = await make({ metric_type: 'max_value', column_name: 'id', capture_interval: 'hourly' })
  await sweep()
  const next = await nextRun(hourly)
  t.equal(
    (due.getTime() - next.getTime()) % 3_600_000,
    0,
    'an hourly one is due in the hour of the daily ones, too',
  )
  t.ok(next < due)
})
