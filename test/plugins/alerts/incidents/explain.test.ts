import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { addRun, makePipeline } from './world.ts'

const app = await startServer(t, { settings: { INCIDENT_DELAY_SECONDS: '0' } })
const TABLES = ['raw', 'orders', 'report', 'other']
const FLOW = ['raw > orders', 'orders > report']
const INVESTIGATIONS = '/api/v1/sdk/alerts/investigations'

t.beforeEach(() => app.query('delete from rate_windows'))

t.test('a run that failed is named as the cause of what is late because of it', async t => {
  const pipeline = await makePipeline(app, TABLES, FLOW)
  await addRun(app, pipeline, { table: 'raw', state: 'failed', minutesAgo: 90 })
  await addRun(app, pipeline, { table: 'orders', state: 'failed', minutesAgo: 60 })
  await addRun(app, pipeline, { table: 'other', state: 'failed', minutesAgo: 90 })
  await pipeline.raise('orders stale')
  const incident = await pipeline.get()
  t.match(incident, {
    event_type: 'failed_run',
    root_cause: { symptom: 'failed_run', asset_id: pipeline.ids.get('raw'), alert_id: null },
  })
  t.match(incident.title, /^The job load_raw, which writes \S+\.raw, failed: Disk full$/)
  t.equal(Math.floor(incident.minutes_to_detect), 90)
})

t.test('one that ran well since is not', async t => {
  const pipeline = await makePipeline(app, TABLES, FLOW)
  await addRun(app, pipeline, { table: 'orders', state: 'failed', minutesAgo: 90 })
  await addRun(app, pipeline, { table: 'orders', state: 'completed', minutesAgo: 30 })
  await pipeline.raise('orders stale')
  t.match(await pipeline.get(), { event_type: 'freshness_violation' })
})

t.test('a table is explained by what is wrong above it', async t => {
  const { raise, ask, ids } = await makePipeline(app, TABLES, FLOW)
  const [, report = ''] = await raise('raw stale', 'report quality')
  await raise('other drift')
  const { status, body } = await ask('POST', `${INVESTIGATIONS}/explain`, {
    asset_id: ids.get('report'),
    question: 'Why?',
  })
  t.equal(status, 200)
  const { data } = body
  t.equal(data.question, 'Why?')
  t.match(data.root_cause_hypothesis, /raw, which lies upstream, had a problem first: raw stale$/)
  t.match(data.suggested_fix, /^See why .*raw was not loaded/)
  t.strictSame(data.triggers.map((each: { summary: string }) => each.summary).sort(), [
    'raw stale',
    'report quality',
  ])
  t.strictSame(
    data.consequences.map((each: { source_id: string }) => each.source_id),
    [ids.get('report'), ids.get('orders')],
  )
  const again = await ask('POST', `${INVESTIGATIONS}/explain`, {
    asset_id: ids.get('report'),
    question: 'Why?',
  })
  t.strictSame(again.body.data.triggers, data.triggers, 'the same facts give the same reply')
  const asked = await ask('POST', `${INVESTIGATIONS}/explain`, {
    asset_id: ids.get('report'),
    event_type: 'schema_change',
  })
  t.match(asked.body.data, { root_cause_hypothesis: null, triggers: [], confidence: null })
  t.ok(asked.body.data.open_questions.length > 0)
  for (const id of [report, ids.get('report')!]) {
    const found = await ask('GET', `${INVESTIGATIONS}/${id}`)
    t.match(found.body.data, { id, root_cause_hypothesis: data.root_cause_hypothesis })
  }
})

t.test('a source is explained by its tables, the most upstream cause first', async t => {
  const { raise, ask, ids } = await makePipeline(app, TABLES, FLOW)
  await raise('report quality', 'other quality')
  await raise('raw stale')
  const [raw] = await app.query('select source_id from tables where id = $1', [ids.get('raw')])
  const explain = async (body: object) =>
    (await ask('POST', `${INVESTIGATIONS}/explain`, { asset_id: String(raw!.source_id), ...body })).body.data
  const all = await explain({})
  t.equal(all.root_cause_hypothesis, 'raw stale')
  t.strictSame(all.triggers.map(({ summary }: { summary: string }) => summary).sort(), [
    ...['other quality', 'raw stale', 'report quality'],
  ])
  t.match(await explain({ event_type: 'schema_change' }), { root_cause_hypothesis: null, triggers: [] })
})

t.test('an incident is explained by its cause', async t => {
  const { raise, ask, get } = await makePipeline(app, TABLES, FLOW)
  await raise('raw stale', 'orders quality')
  const { id } = await get()
  const { body } = await ask('GET', `${INVESTIGATIONS}/${id}`)
  t.match(body.data, { id, root_cause_hypothesis: 'raw stale' })
  t.match(body.data.affected_downstream[0], { summary: 'orders quality', event_type: 'alert' })
  t.match(await ask('GET', `${INVESTIGATIONS}/${randomUUID()}`), { status: 404 })
  t.match(await ask('POST', `${INVESTIGATIONS}/explain`, { asset_id: 'nothing.like.it' }), { status: 404 })
  t.match(await ask('POST', `${INVESTIGATIONS}/explain`, {}), { status: 400 })
})

t.test('the briefing of the day has the incidents that go on', async t => {
  const { raise, ask, get } = await makePipeline(app, TABLES, FLOW)
  t.match((await ask('GET', '/api/v1/sdk/briefings/today')).body.data, { summary: 'No incident is open' })
  await raise('raw stale', 'orders quality')
  const { id } = await get()
  const { body } = await ask('GET', '/api/v1/sdk/briefings/today')
  t.match(body.data, { summary: '1 incident goes on; 1 critical' })
  t.match(body.data.sections[0].items, [{ text: 'raw stale (2 alerts, open)', incident_id: id }])
  t.strictSame(body.data.insights, ['2 alerts of a day came from 1 incidents'])
})

t.test('of two runs that failed the one is named that explains more', async t => {
  const pipeline = await makePipeline(
    app,
    ['left', 'right', 'both', 'alone'],
    ['left > both', 'right > both', 'right > alone'],
  )
  await addRun(app, pipeline, { table: 'left', state: 'failed', minutesAgo: 20 })
  await addRun(app, pipeline, { table: 'right', state: 'failed', minutesAgo: 10 })
  await pipeline.raise('both stale', 'alone volume')
  t.match(await pipeline.get(), { root_cause: { asset_id: pipeline.ids.get('right') } })
})
