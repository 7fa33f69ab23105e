import t from 'tap'
import { makeFaultyWorld } from '../helpers/faulty-world.ts'
import { discover } from '../helpers/world.ts'

const { app, tenant, addSource, logged } = await makeFaultyWorld(t)

const sentence = (what: string, name: string) =>
  new RegExp(`Unknown ${what} "${name}"; known are .*sqlite: add .* to EXTENSIONS$`)
const UNKNOWN = sentence('connector', 'goneengine')

t.test('what no extension provides any more is named at the start, and wherever it is used', async t => {
  const source = await addSource()
  const { id } = source.asset
  const base = `/api/v1/sdk/assets/${id}`
  await discover(source)
  const made = {
    rule: { rule_type: 'NOT_NULL', table_path: 'orders', column_name: 'total' },
    metric: { metric_type: 'badmetric', table_path: 'orders' },
  }
  const rule = (await tenant.ask('POST', `/api/v1/sdk/validity/${id}`, made.rule)).body.data
  const metric = (await tenant.ask('POST', `/api/v1/sdk/metrics/${id}`, made.metric)).body.data
  await tenant.ask('POST', '/api/v1/sdk/alerts/destinations', {
    ...{ name: 'd', destination_type: 'badhook', config: { to: 'x' } },
  })
  logged()
  await (await app.startTwin()).stop()
  t.notMatch(logged(), 'no extension provides')

  // As if their extension had been removed.
  await app.query(`update checks set type = 'gone_metric' where kind = 'metric'`)
  await app.query(`update destinations set destination_type = 'gonehook'`)
  await app.query(`update sources set source_type = 'goneengine'`)
  await (await app.startTwin()).stop()
  const line = logged()
    .split('\n')
    .find(text => text.includes('no extension provides'))
  t.match(
    JSON.parse(line ?? '{}'),
    {
      level: 40,
      missing: { connector: ['goneengine'], 'check type': ['gone_metric'], 'destination type': ['gonehook'] },
      msg: 'no extension provides destination type gonehook; connector goneengine; check type gone_metric, which are in use: add it to EXTENSIONS',
    },
    'one warning',
  )

  t.match((await tenant.ask('GET', base)).body.data, {
    connection_status: 'unavailable',
    connection_message: UNKNOWN,
  })
  const checked = await tenant.ask('POST', `/api/v1/sdk/validity/${id}/${rule.id}/check`)
  t.match(checked, { status: 200, body: { data: { status: 'error', error_message: UNKNOWN } } })
  const captured = await tenant.ask('POST', `/api/v1/sdk/metrics/${id}/${metric.id}/capture`)
  t.match(captured.body.data, {
    snapshots: [
      {
        status: 'ERROR',
        error_message: 'No extension provides the check type gone_metric: add it to EXTENSIONS',
      },
    ],
  })
  for (const [method, path, body] of [
    ['POST', `/api/v1/sdk/validity/${id}`, { ...made.rule, rule_type: 'UNIQUE' }],
    ['POST', '/api/v1/sdk/validity/dry-run', { ...made.rule, asset_id: id }],
    ['PATCH', base, { connection_config: { path: '/x' } }],
    ['POST', `${base}/test-connection`, undefined],
    ['POST', `${base}/discover`, undefined],
    ['POST', `${base}/preview-tables`, {}],
  ] as const) {
    const reply = await tenant.ask(method, path, body)
    t.match(
      reply,
      { status: 409, body: { error: { code: 'CONFLICT', message: UNKNOWN } } },
      `${method} ${path}`,
    )
  }
  for (const path of [
    base,
    `/api/v1/sdk/check-types?asset_id=${id}`,
    '/api/v1/sdk/assets',
    `/api/v1/sdk/validity/${id}`,
    `/api/v1/sdk/metrics/${id}`,
  ])
    t.equal((await tenant.ask('GET', path)).status, 200, path)
  t.equal((await tenant.ask('DELETE', base)).status, 200)
})
