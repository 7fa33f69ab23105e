/** The main job end to end, as a client would do it, on a real PostgreSQL and a real HTTPS receiver. */
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { startReceiver } from './helpers/receiver.ts'
import { discover, makeWorld } from './helpers/world.ts'

t.test('from a connection to a signed webhook', async t => {
  const receiver = await startReceiver(t)
  const world = await makeWorld(t, [
    `create table orders (id int primary key, email text, total numeric(10,2), updated_at timestamptz not null default now())`,
    `insert into orders (id, email, total) select n, 'c' || n || '@x.org', n from generate_series(1, 50) n`,
  ])
  const { tenant, asset, source } = world
  const sdk = '/api/v1/sdk'

  const tested = await tenant.ask('POST', `${sdk}/assets/${asset.id}/test-connection`)
  t.match(tested.body.data, { success: true })
  t.equal((await discover(world)).status, 'completed')
  const name = `shop.${source.name}.public.orders`
  t.match((await tenant.ask('GET', `/api/v1/assets/${asset.id}`)).body, {
    asset_type: 'source',
    table_count: 1,
    connection_status: 'connected',
  })

  const destination = await tenant.ask('POST', `${sdk}/alerts/destinations`, {
    name: 'pipeline',
    destination_type: 'webhook',
    config: { url: `${receiver.url}/hook`, auth: { type: 'bearer', value: 'let-me-in' } },
  })
  t.equal(destination.status, 201, JSON.stringify(destination.body))
  const secret = destination.body.data.signing_secret as string

  await source.query('alter table orders drop column email')
  t.match((await discover(world)).result, { changes_detected: 1 })
  const [request] = await receiver.received(1)
  if (!request) throw new Error('no request')
  const payload = JSON.parse(request.body)
  t.match(payload, {
    event_type: 'alert.triggered',
    alert: { alert_type: 'schema', status: 'triggered' },
    event: {
      type: 'schema_change',
      change_type: 'column_removed',
      asset: { qualified_name: name, asset_type: 'table' },
      details: { column_name: 'email' },
    },
    links: { asset_url: /\/tables\// },
  })
  t.equal(request.headers.authorization, 'Bearer let-me-in')
  t.equal(
    request.headers['x-service-signature'],
    `sha256=${createHmac('sha256', secret).update(request.body).digest('hex')}`,
    'the signature is the HMAC of the raw body under the whole secret',
  )
  t.same(
    new Webhook(secret).verify(request.body, request.headers),
    payload,
    'and Standard Webhooks verifies it',
  )
  t.equal(request.headers['webhook-id'], payload.alert.id)

  const schedule = await tenant.ask('POST', `${sdk}/freshness/schedules`, {
    asset_id: asset.id,
    table_path: 'orders',
    monitoring_mode: 'explicit',
    sla_threshold: '24h',
  })
  t.equal(schedule.status, 201, JSON.stringify(schedule.body))
  t.match((await tenant.ask('GET', `/api/v1/freshness?asset=${name}`)).body, {
    success: true,
    data: {
      asset: name,
      status: 'fresh',
      sla_status: 'within_sla',
      timestamp_column: 'updated_at',
      sla_threshold: '24h',
    },
  })
  t.match((await tenant.ask('GET', `/api/v1/assets/${name}`)).body, {
    name: 'orders',
    freshness: { status: 'fresh' },
  })

  const rule = await tenant.ask('POST', `${sdk}/validity/${asset.id}`, {
    rule_type: 'RANGE',
    table_path: 'orders',
    column_name: 'total',
    rule_config: { max: 40 },
  })
  const checked = await tenant.ask('POST', `${sdk}/validity/${asset.id}/${rule.body.data.uuid}/check`)
  t.match(checked.body.data, { status: 'fail', total_rows: 50, invalid_count: 10 })
  const metric = await tenant.ask('POST', `${sdk}/metrics/${asset.id}`, {
    metric_type: 'row_count',
    table_path: 'orders',
  })
  const captured = await tenant.ask('POST', `${sdk}/metrics/${asset.id}/${metric.body.data.id}/capture`)
  t.match(captured.body.data, { snapshots: [{ value: 50 }] })

  const [, second] = await receiver.received(2)
  t.match(JSON.parse(second?.body ?? ''), {
    event: { type: 'validity_failure', details: { rule_type: 'RANGE', invalid_count: 10 } },
  })
})
