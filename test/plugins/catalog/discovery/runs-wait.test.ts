import t from 'tap'
import { MAX_WAIT_SECONDS, preferredWait } from '../../../../server/http/run-accepted.ts'
import { makeWorld } from '../../../helpers/world.ts'

const { app, tenant, asset, source } = await makeWorld(t, [
  'create table orders (id int primary key, updated_at timestamptz not null default now())',
  'insert into orders values (1)',
])

const ask = async (path: string, prefer?: string, payload?: object) => {
  const response = await app.server.inject({
    method: 'POST',
    url: `/api/v1${path}`,
    headers: { authorization: `Bearer ${tenant.key}`, ...(prefer !== undefined && { prefer }) },
    ...(payload && { payload }),
  })
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(response.payload) }
}

t.test('a caller that waits gets the finished job, of whatever it started', async t => {
  const discovery = await ask(`/sdk/assets/${asset.id}/discover`, 'wait=30')
  t.equal(discovery.status, 200)
  t.match(discovery.body.data, {
    status: 'completed',
    workflow_name: 'discovery',
    result: { table_count: 1 },
  })
  t.equal(discovery.headers['preference-applied'], 'wait=30')

  await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}`, {
    rule_type: 'NOT_NULL',
    table_path: 'orders',
    column_name: 'updated_at',
  })
  const check = await ask(`/sdk/assets/${asset.id}/check`, 'respond-async, wait=30')
  t.equal(check.status, 200)
  t.match(check.body.data, {
    status: 'completed',
    workflow_name: 'asset_check',
    result: { passed: 1, failed: 0 },
  })

  await tenant.ask('POST', '/api/v1/sdk/freshness/schedules', {
    asset_id: asset.id,
    table_path: 'orders',
    sla_threshold: '24h',
    monitoring_mode: 'explicit',
  })
  const refresh = await ask(`/sdk/freshness/${asset.id}/refresh`, 'wait=30')
  t.equal(refresh.status, 200)
  t.match(refresh.body.data, {
    status: 'completed',
    workflow_name: 'freshness_refresh',
    result: { fresh: 1 },
  })
})

t.test('a failed job is answered as a failed job, not as a failed request', async t => {
  const { body } = await tenant.ask('POST', '/api/v1/sdk/assets', {
    name: 'away',
    source_type: 'postgresql',
    connection_config: { ...source.config, database: 'not_there' },
  })
  const discovery = await ask(`/sdk/assets/${body.data.id}/discover`, 'wait=30')
  t.equal(discovery.status, 200)
  t.match(discovery.body.data, { status: 'failed', error: { code: 'missing_object' } })
})

t.test(
  'without the preference, and when the time is over before the job is, it is 202 with the job',
  async t => {
    const without = await ask(`/sdk/assets/${asset.id}/discover`)
    t.equal(without.status, 202)
    t.notOk('preference-applied' in without.headers)

    // Nothing can be read from a table that is locked, so that the job cannot end.
    await source.query('begin')
    await source.query('lock table orders in access exclusive mode')
    const late = await ask(`/sdk/freshness/${asset.id}/refresh`, 'wait=1')
    await source.query('commit')
    t.equal(late.status, 202)
    t.equal(late.headers['preference-applied'], 'wait=1')
    t.match(late.body.data, { message: /follow it at GET \/api\/v1\/sdk\/jobs\// })
  },
)

t.test('the preference is read as RFC 7240 writes it, and ignored when it is malformed', async t => {
  for (const [prefer, seconds] of [
    ['wait=10', 10],
    ['respond-async, wait=10', 10],
    ['wait="10"; x=1', 10],
    ['WAIT = 10', 10],
    ['wait=3600', MAX_WAIT_SECONDS],
    ['wait=0', 0],
    ['wait=-1', 0],
    ['wait=soon', 0],
    ['wait', 0],
    ['await=10', 0],
    ['', 0],
    [undefined, 0],
  ] as const)
    t.equal(
      preferredWait({ headers: { ...(prefer !== undefined && { prefer }) } }),
      seconds,
      prefer ?? 'none',
    )
})
