import { randomUUID } from 'node:crypto'
import t from 'tap'
import { futureTime } from '../../server/cli/option-values.ts'
import { readTime } from '../../server/times/read-time.ts'
import { makeStage } from '../helpers/world.ts'
import { manifest, model, node, notNull, runResults } from '../plugins/lineage/feeds/dbt-project.ts'

// Before anything reads a clock: the zone of the process is none that a request means.
process.env.TZ = 'America/New_York'

const { app, tenant } = await makeStage(t, { settings: { TIMEZONE: 'Asia/Tokyo' } })
const { query } = app

t.test('a time without an offset is in the given zone, and another has its own', async t => {
  t.equal(
    new Date('2026-05-04T10:00:00').toISOString(),
    '2026-05-04T14:00:00.000Z',
    'the process is elsewhere',
  )
  for (const [text, at] of [
    ['2026-05-04T10:00:00', '2026-05-04T08:00:00.000Z'],
    ['2026-01-04 10:00:00.123456', '2026-01-04T09:00:00.123Z'],
    ['2026-05-04', '2026-05-03T22:00:00.000Z'],
    ['2026-05-04T10:00:00Z', '2026-05-04T10:00:00.000Z'],
    ['2026-05-04T10:00:00+0530', '2026-05-04T04:30:00.000Z'],
    ['2026-05-04 10:00:00+00', '2026-05-04T10:00:00.000Z'],
    ['2026-05-04 10:00:00 UTC', '2026-05-04T10:00:00.000Z'],
    ['Mon, 04 May 2026 10:00:00 GMT', '2026-05-04T10:00:00.000Z'],
    ['May 4, 2026 10:00', undefined],
    ['10:00', undefined],
    ['', undefined],
    [`2026-05-04T10:00:00${'0'.repeat(100_000)}`, undefined],
  ] as const)
    t.equal(readTime(text, 'Europe/Berlin')?.toISOString(), at, text.slice(0, 40))
})

t.test('times of requests without an offset are in the zone of the service', async t => {
  const made = await tenant.ask('POST', '/api/v1/api-keys', {
    ...{ name: 'soon', scope: 'read-only' },
    expires_at: '2099-05-04T10:00:00',
  })
  t.match(made, { status: 201, body: { data: { expires_at: '2099-05-04T01:00:00.000Z' } } })
  const own = await tenant.ask('POST', '/api/v1/api-keys', {
    ...{ name: 'own', scope: 'read-only' },
    expires_at: '2099-05-04T10:00:00+02:00',
  })
  t.match(own, { status: 201, body: { data: { expires_at: '2099-05-04T08:00:00.000Z' } } })
  const summary = await tenant.ask('GET', '/api/v1/sdk/health/summary?since=2026-05-04T10:00:00')
  t.match(summary.body.data.since, { at: '2026-05-04T01:00:00.000Z' })
  for (const path of ['/api/v1/sdk/health/summary?since=yesterday', '/api/v1/sdk/alerts?since=10:00'])
    t.equal((await tenant.ask('GET', path)).status, 400, path)
})

t.test('times of events and of dbt without an offset are in the zone of the service', async t => {
  const facets = { nominalTime: { nominalStartTime: '2026-05-04T09:00:00' } }
  const reply = await tenant.ask('POST', '/api/v1/lineage', {
    ...{ eventType: 'COMPLETE', eventTime: '2026-05-04T10:00:00' },
    ...{ run: { runId: randomUUID(), facets }, job: { namespace: 'airflow', name: 'daily' } },
  })
  t.equal(reply.status, 201)
  t.strictSame(await query('select ended_at::text, nominal_start_at::text from lineage_runs'), [
    { ended_at: '2026-05-04 01:00:00+00', nominal_start_at: '2026-05-04 00:00:00+00' },
  ])
  await query(
    `insert into sources (id, company_id, name, source_type, config)
     values (gen_random_uuid(), $1, 'shop', 'postgresql', '{}')`,
    [tenant.companyId],
  )
  const test = notNull('orders', 'id')
  const results = { [test[0]]: 'pass', [model('orders')]: 'success' }
  const sent = await tenant.ask('POST', '/api/v1/sdk/lineage/dbt', {
    ...{ source: 'shop', manifest: manifest([node('model', 'orders'), test]) },
    run_results: runResults('2026-05-04T10:00:00.5', results),
  })
  t.match(sent, { status: 200, body: { data: { test_results: 1 } } })
  t.strictSame(await query('select run_at::text from external_checks'), [
    { run_at: '2026-05-04 01:00:00.5+00' },
  ])
})

t.test('an option of a command without an offset is in the setting TIMEZONE', t => {
  t.teardown(() => delete process.env.TIMEZONE)
  process.env.TIMEZONE = 'Asia/Tokyo'
  t.equal(futureTime('2099-05-04T10:00:00').toISOString(), '2099-05-04T01:00:00.000Z')
  t.throws(() => futureTime('soon'), /Give a time before the year 10000, such as/)
  t.end()
})
