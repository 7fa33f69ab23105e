import { randomUUID } from 'node:crypto'
import t from 'tap'
import { makeStage } from '../../../helpers/world.ts'
import { addSource } from '../world.ts'

const { app, tenant } = await makeStage(t)

const AIRFLOW = 'https://github.com/apache/airflow/tree/providers-openlineage/2.7.3'

const dataset = (name: string) => ({ namespace: 's3://lake', name })

function runOf(job: string, event: object = {}) {
  return {
    eventType: 'COMPLETE',
    eventTime: '2026-05-04T10:00:00.000Z',
    producer: AIRFLOW,
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
    run: { runId: randomUUID(), facets: {} },
    job: { namespace: 'airflow', name: job },
    ...event,
  }
}

async function send(event: object) {
  const { status, body } = await app.ask('POST', '/api/v1/lineage', event, tenant.key)
  if (status !== 201) throw new Error(JSON.stringify(body))
}

const feeds = async (key = tenant.key) =>
  (await app.ask('GET', '/api/v1/sdk/lineage/feeds', undefined, key)).body.data.feeds as object[]

t.test('nothing has arrived before something was sent', async t => {
  t.strictSame(await feeds(), [])
})

t.test('each producer is listed with its runs, its edges and its last failed run', async t => {
  await send(runOf('load', { inputs: [dataset('raw')], outputs: [dataset('orders'), dataset('returns')] }))
  await send(runOf('load', { inputs: [dataset('raw')], outputs: [dataset('orders')] }))
  const failed = {
    eventType: 'FAIL',
    eventTime: '2026-05-04T11:00:00.000Z',
    run: {
      runId: randomUUID(),
      facets: { errorMessage: { message: 'no such file', programmingLanguage: 'PYTHON' } },
    },
  }
  await send(runOf('export', failed))
  await send(runOf('clean', { eventTime: '2026-05-04T09:00:00.000Z', producer: 'https://example.com/own' }))
  t.strictSame(await feeds(), [
    {
      ...{ producer: AIRFLOW, tool: 'airflow', jobs: 2, runs: 3, failed_runs: 1, edges: 2 },
      last_event_at: '2026-05-04T11:00:00.000Z',
      last_failure: { job: 'export', message: 'no such file', at: '2026-05-04T11:00:00.000Z' },
    },
    {
      ...{ producer: 'https://example.com/own', tool: 'other', jobs: 1, runs: 1, failed_runs: 0, edges: 0 },
      last_event_at: '2026-05-04T09:00:00.000Z',
      last_failure: null,
    },
  ])
})

t.test('edges by hand and of a dbt project are feeds too, also without a run', async t => {
  const { name, ids } = await addSource(app, tenant, ['orders', 'sales'])
  const edge = {
    upstream: ids.get('orders'),
    downstream_external: { kind: 'dashboard', namespace: 'looker', name: 'Weekly sales' },
  }
  t.equal((await app.ask('POST', '/api/v1/sdk/lineage/edges', edge, tenant.key)).status, 201)
  const node = (table: string, on: string[] = []) => ({
    ...{ resource_type: 'model', name: table, alias: table, database: 'main', schema: 'main' },
    depends_on: { nodes: on },
  })
  const manifest = {
    metadata: {
      dbt_schema_version: 'https://schemas.getdbt.com/dbt/manifest/v12.json',
      project_name: 'shop',
    },
    nodes: { 'model.shop.orders': node('orders'), 'model.shop.sales': node('sales', ['model.shop.orders']) },
    sources: {},
  }
  const sent = await app.ask('POST', '/api/v1/sdk/lineage/dbt', { source: name, manifest }, tenant.key)
  t.equal(sent.status, 200)
  const found = await feeds()
  t.match(
    found.filter(feed => 'tool' in feed && (feed.tool === 'dbt' || feed.tool === 'manual')),
    new Set([
      { producer: 'manual', tool: 'manual', runs: 0, edges: 1, last_failure: null },
      { producer: 'dbt', tool: 'dbt', runs: 0, edges: 1, last_failure: null },
    ]),
  )
})

t.test('what another company sent is not listed', async t => {
  const other = await app.signUp('Others')
  t.strictSame(await feeds(other.key), [])
})
