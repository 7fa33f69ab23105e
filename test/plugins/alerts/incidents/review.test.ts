import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { addRun, makePipeline, type Pipeline } from './world.ts'

const app = await startServer(t, { settings: { INCIDENT_DELAY_SECONDS: '0' } })
const TABLES = ['raw', 'orders', 'sales', 'other']

t.beforeEach(() => app.query('delete from rate_windows'))

/** Makes edges such as `raw > orders` the lineage of a pipeline, and reviews its incidents. */
async function learn({ tenant, ids }: Pipeline, edges: readonly string[]): Promise<void> {
  const { lineage, alerts } = app.server.plugins
  await app.server.db.company(tenant.companyId, trx =>
    lineage.recordEdges(trx, {
      ...{ origin: 'dbt', sourceId: null, isComplete: true },
      edges: edges.map(edge => {
        const [from, to] = edge.split(' > ')
        return { upstream: { tableId: ids.get(from!)! }, downstream: { tableId: ids.get(to!)! }, detail: 'x' }
      }),
    }),
  )
  await app.server.db.company(tenant.companyId, trx => alerts.incidents.review(trx))
}

t.test('lineage that arrives later makes incidents one', async t => {
  const pipeline = await makePipeline(app, TABLES, [])
  await pipeline.raise('raw stale')
  await pipeline.raise('orders stale')
  await pipeline.raise('sales quality')
  await pipeline.raise('other quality')
  t.equal((await pipeline.show('?status=open')).length, 4)
  await learn(pipeline, ['raw > orders', 'orders > sales'])
  t.strictSame(await pipeline.show('?status=open'), [
    'open critical raw: orders stale, raw stale, sales quality',
    'open warning other: other quality',
  ])
})

t.test(
  'an incident is split where lineage shows that its alerts have nothing to do with each other',
  async t => {
    const pipeline = await makePipeline(app, TABLES, [])
    await learn(pipeline, ['raw > orders', 'orders > sales', 'raw > other'])
    await pipeline.raise('raw stale')
    await pipeline.raise('orders stale', 'other quality')
    await pipeline.raise('sales quality')
    t.equal((await pipeline.show()).length, 1)
    await learn(pipeline, ['raw > other', 'orders > sales'])
    t.strictSame((await pipeline.show()).sort(), [
      'open critical orders: orders stale, sales quality',
      'open critical raw: other quality, raw stale',
    ])
    const { activities } = await pipeline.get()
    t.match(activities.at(-1), { activity_type: 'split', actor_type: 'system', metadata: { alert_count: 2 } })
  },
)

t.test('a review without new lineage changes nothing', async t => {
  const pipeline = await makePipeline(app, TABLES, [])
  await learn(pipeline, ['raw > orders', 'orders > sales', 'raw > other'])
  await pipeline.raise('raw drift', 'sales drift', 'other drift')
  await pipeline.raise('orders quality', 'other volume')
  await pipeline.raise('sales stale')
  const before = await pipeline.show()
  await app.server.db.company(pipeline.tenant.companyId, trx =>
    app.server.plugins.alerts.incidents.review(trx),
  )
  t.strictSame(await pipeline.show(), before)
})

t.test('lineage that arrives later joins what a failed run has caused', async t => {
  const pipeline = await makePipeline(app, TABLES, [])
  await learn(pipeline, ['raw > orders'])
  await addRun(app, pipeline, { table: 'raw', state: 'failed', minutesAgo: 5 })
  await pipeline.raise('orders stale')
  await pipeline.raise('sales stale')
  t.equal((await pipeline.show('?status=open')).length, 2)
  await learn(pipeline, ['raw > orders', 'raw > sales'])
  t.strictSame(await pipeline.show('?status=open'), ['open critical raw: orders stale, sales stale'])
})
