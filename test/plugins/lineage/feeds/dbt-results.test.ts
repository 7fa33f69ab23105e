import { randomUUID } from 'node:crypto'
import t from 'tap'
import { reduceArtifacts } from '../../../../plugins/lineage/dbt/artifacts.ts'
import { discover, makeWorld } from '../../../helpers/world.ts'
import { manifest, model, node, notNull, runResults } from './dbt-project.ts'

const world = await makeWorld(t, ['create table orders (id int, amount int)'])
const { app, tenant, source } = world
const { query } = app
await discover(world)
const database = String((source.config as { database: unknown }).database)

t.beforeEach(() => query('delete from rate_windows'))

const orders = node('model', 'orders', { database, schema: 'public' })
const test = notNull('orders', 'amount')
const [testId] = test
const whole = manifest([orders, test])

const MINUTE_MS = 60_000
let clock = Date.now() - 600 * MINUTE_MS

/** Sends results that are newer than all before. @param given statuses by unique id, or whole results */
async function send(statuses: Record<string, string | object>, parts: object = {}, sent: object = whole) {
  clock += MINUTE_MS
  const results = { ...runResults(new Date(clock).toISOString(), statuses, randomUUID()), ...parts }
  const reply = await tenant.ask('POST', '/api/v1/sdk/lineage/dbt', {
    source: 'shop',
    manifest: sent,
    run_results: results,
  })
  if (reply.status !== 200) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply.body.data
}

const alerts = () =>
  query(
    `select status, title, severity, event -> 'details' ->> 'status' as test_status from alerts
      where kind = 'external_check_failed' order by created_at`,
  )

const runs = () => query('select state from lineage_runs where company_id = $1', [tenant.companyId])

const listTests = async () =>
  (await tenant.ask('GET', '/api/v1/sdk/lineage/dbt/tests')).body.data.data as object[]

/** What dbt writes of a test, and of a model, that a command compiled and did not run. */
const COMPILED_TEST = { status: 'success', failures: null, message: null, adapter_response: {} }
const COMPILED_MODEL = { status: 'success', failures: null, message: null, adapter_response: {} }

t.test('a command that runs no test changes no verdict, resolves no alert and is no run', async t => {
  t.match(await send({ [testId]: 'fail' }, { args: { which: 'build' } }), { failing_tests: 1 })
  for (const which of ['generate', 'compile', 'parse', 'list', 'show'])
    t.match(
      await send(
        {
          [testId]: { ...COMPILED_TEST, failures: 0 },
          [model('orders')]: { ...COMPILED_MODEL, message: 'OK', adapter_response: { _message: 'OK' } },
        },
        { args: { which } },
      ),
      { test_results: 0, failing_tests: 0, model_runs: 0 },
      which,
    )
  t.match(await listTests(), [{ status: 'fail', failures: 3 }])
  t.match(await alerts(), [{ status: 'triggered' }])
  t.strictSame(await runs(), [])
})

t.test('what was only compiled says nothing, where the command is not known', async t => {
  for (const parts of [{}, { args: {} }, { args: { which: 'future' } }])
    t.match(
      await send({ [testId]: COMPILED_TEST, [model('orders')]: COMPILED_MODEL }, parts),
      { test_results: 0, model_runs: 0 },
      JSON.stringify(parts),
    )
  t.match(await alerts(), [{ status: 'triggered' }])
  t.strictSame(await runs(), [])
})

t.test('the command line leaves out the same, and a test without rows is no proof', async t => {
  const reduce = async (result: object, args: object) =>
    (
      await reduceArtifacts({
        manifest: whole,
        run_results: { ...runResults('2026-05-04T10:00:00Z', { [testId]: result }), args },
      })
    ).run_results?.results.length
  t.equal(await reduce({ status: 'pass', failures: 0 }, { which: 'generate' }), 0)
  t.equal(await reduce(COMPILED_TEST, { which: 'build' }), 0)
  t.equal(await reduce({ status: 'pass', failures: 0 }, { which: 'build', empty: true }), 0)
  t.equal(await reduce({ status: 'success', failures: 0 }, { which: 'test' }), 1)
})

t.test('a model that dbt 2 built is a run, though the artifact has no answer of the engine', async t => {
  const { run_results: reduced } = await reduceArtifacts({
    manifest: manifest([orders], {}, 20),
    run_results: {
      ...runResults('2026-05-04T10:00:00Z', {
        [model('orders')]: { status: 'success', adapter_response: {} },
      }),
      args: { which: 'build' },
    },
  })
  t.match(reduced?.results, [{ unique_id: model('orders'), status: 'success' }])
})

t.test('docs generate before a build leaves the results of the build', async t => {
  t.match(
    await send(
      {
        [testId]: { status: 'pass', failures: 0 },
        [model('orders')]: {
          ...{ status: 'success', message: 'SELECT 3' },
          adapter_response: { _message: 'SELECT 3', code: 'SELECT', rows_affected: 3 },
        },
      },
      { args: { which: 'build' } },
    ),
    { test_results: 1, model_runs: 1 },
  )
  t.match(await alerts(), [{ status: 'resolved' }])
  t.match(await runs(), [{ state: 'completed' }])
})

t.test('a test that cannot run alerts by its severity, until it passes', async t => {
  await query(`delete from alerts`)
  const lastAlert = async () => (await alerts()).at(-1)
  const broken = { status: 'error', failures: null, message: 'column "amount" does not exist' }
  const build = { args: { which: 'build' } }
  t.match(await send({ [testId]: broken }, build), { test_results: 1, failing_tests: 0, test_errors: 1 })
  t.match(await lastAlert(), {
    ...{ status: 'triggered', severity: 'critical', test_status: 'error' },
    title: 'orders.amount: dbt test not_null_orders_amount could not run: column "amount" does not exist',
  })
  await send({ [testId]: broken }, build)
  t.equal((await alerts()).length, 1, 'the same again is no other alert')
  await send({ [testId]: { status: 'pass', failures: 0 } }, build)
  t.match(await lastAlert(), { status: 'resolved' })
  const mild = manifest([
    orders,
    notNull('orders', 'amount', { config: { enabled: true, severity: 'warn' } }),
  ])
  await send({ [testId]: { ...broken, status: 'runtime error' } }, build, mild)
  t.match(await lastAlert(), { status: 'triggered', severity: 'warning' })
  await send({ [testId]: { status: 'skipped', failures: null } }, build, mild)
  t.match(await lastAlert(), { status: 'triggered' }, 'a skipped test is no proof')
})
