import { randomUUID } from 'node:crypto'
import t from 'tap'
import { sweepJob } from '../../../plugins/alerts/jobs.ts'
import { startServer } from '../../helpers/server.ts'
import { workOf } from '../../helpers/job-context.ts'
import { ALERTS, makeWorld } from './world.ts'

// Nothing is delivered here, so that only what the tests do changes anything.
const app = await startServer({ teardown: down => t.teardown(down) }, { settings: { ROLE: 'web' } })
const url = 'https://127.0.0.1:9/hook'
const refused = (field: string) => ({
  status: 400,
  body: { error: { code: 'VALIDATION_ERROR', details: { field } } },
})

t.test(
  'lists take several values of a filter, any of which will do, and filters that all must hold',
  async t => {
    const world = await makeWorld(app)
    const { alertId: late } = await world.raise({
      type: 'freshness_violation',
      cause: 'table:1',
      severity: 'critical',
      title: 'Invoices are LATE by 2 hours',
    })
    const { alertId: invalid } = await world.raise()
    const { alertId: odd } = await world.raise({
      type: 'metric_anomaly',
      cause: 'metric:1',
      severity: 'info',
      ruleName: 'Rows of 100%_of orders',
    })
    await world.ask('POST', `${ALERTS}/${odd}/dismiss`)
    await world.ask('POST', `${ALERTS}/${late}/acknowledge`)
    await app.query(`update alerts set created_at = '2026-03-01T12:00:00Z' where id = $1`, [late])
    await app.query(`update alerts set delivery_failed = true where id = $1`, [invalid])
    const ids = async (path: string, at = 'data') => {
      const reply = await world.ask('GET', `${ALERTS}${path}`)
      t.equal(reply.status, 200, path)
      return reply.body.data[at].map(({ id }: { id: string }) => id).toSorted()
    }
    const expected: [string, string[]][] = [
      ['', [late, invalid, odd]],
      ['status=triggered,acknowledged', [late, invalid]],
      ['status=triggered,%20dismissed,triggered', [invalid, odd]],
      ['severity=critical,info', [late, odd]],
      ['event_type=metric_anomaly,validity_failure', [invalid, odd]],
      ['event_type=metric_anomaly,validity_failure&severity=warning', [invalid]],
      ['search=late%20by', [late]],
      ['search=100%25_OF', [odd]],
      ['search=%25', [odd]],
      ['search=public.ORDERS', [late, invalid, odd]],
      ['search=nowhere', []],
      ['since=2026-03-01T12:00:00Z', [late, invalid, odd]],
      ['since=2026-03-01T12:00:01Z', [invalid, odd]],
      ['until=2026-03-01T12:00:00Z', []],
      ['until=2026-03-01T13:00:01%2B01:00', [late]],
      ['delivery_failed=true', [invalid]],
      [`asset_id=${world.sourceId.toUpperCase()}`, [late, invalid, odd]],
    ]
    for (const [query, those] of expected) t.strictSame(await ids(`?${query}`), those.toSorted(), query)
    t.strictSame(await ids('/inbox', 'alerts'), [late, invalid].toSorted())
    t.strictSame(await ids('/inbox?status=acknowledged', 'alerts'), [late])
    t.strictSame(await ids('/inbox?search=invalid&delivery_failed=true', 'alerts'), [invalid])
    const bad = [
      'status=triggered,open',
      'severity=',
      'event_type=validity_failure,',
      'since=soon',
      'until=1e99',
    ]
    for (const query of bad)
      t.match(await world.ask('GET', `${ALERTS}?${query}`), refused(query.split('=')[0]!), query)
    t.match(await world.ask('GET', `${ALERTS}/inbox?status=resolved`), refused('status'))
    t.match(
      (await world.ask('GET', `${ALERTS}?status=open`)).body.error.message,
      /one or more of triggered, .*not "open"; separate several by commas/,
    )
  },
)

t.test('the history of an alert holds each of its moves, with who made it and why', async t => {
  const world = await makeWorld(app)
  const { alertId } = await world.raise()
  const move = (verb: string, body?: object) => world.ask('POST', `${ALERTS}/${alertId}/${verb}`, body)
  await move('snooze', { duration_minutes: 5, reason: 'a release' })
  await app.query('update alerts set snoozed_until = now() where id = $1', [alertId])
  await workOf(app.server, sweepJob)({}, { server: app.server } as never)
  await move('acknowledge', { reason: 'looking' })
  const { alertId: worse } = await world.raise({ severity: 'critical' })
  const moves = async (id: string) => (await world.ask('GET', `${ALERTS}/${id}/history`)).body.data.data
  t.match(await moves(alertId), [
    { from_status: 'acknowledged', to_status: 'resolved', actor: 'system', reason: /worse/ },
    { from_status: 'triggered', to_status: 'acknowledged', actor: /^key:/, reason: 'looking' },
    { from_status: 'snoozed', to_status: 'triggered', actor: 'system', reason: 'The snooze is over' },
    {
      from_status: 'triggered',
      to_status: 'snoozed',
      actor: /^key:/,
      reason: 'a release',
      snoozed_until: String,
    },
    { from_status: null, to_status: 'triggered', actor: 'system' },
  ])
  await world.recover()
  t.match(await moves(worse), [
    { from_status: 'triggered', to_status: 'resolved', actor: 'system', reason: 'It recovered' },
    { from_status: null, to_status: 'triggered', actor: 'system' },
  ])
  const page = (await world.ask('GET', `${ALERTS}/${alertId}/history?limit=2&offset=1`)).body.data
  t.match(page, { data: { length: 2 }, pagination: { total: 5, has_more: true } })
})

t.test('every message about an alert is listed with its attempts, also to a deleted destination', async t => {
  const world = await makeWorld(app)
  const [stays, goes] = [
    await world.addDestination({ url }),
    await world.addDestination({ url }, { name: 'Gone' }),
  ]
  const { alertId } = await world.raise()
  const { alertId: other } = await world.raise({ cause: 'rule:2' })
  await world.recover()
  const [delivery] = await app.query(
    `update deliveries set status = 'failed', attempt = 2, completed_at = now(), next_attempt_at = null
      where alert_id = $1 and destination_id = $2 and event_type = 'alert.triggered' returning id, company_id`,
    [alertId, stays.id],
  )
  for (const n of [2, 1])
    await app.query(
      `insert into delivery_attempts (delivery_id, n, company_id, trigger, started_at, ended_at, status_code, latency_ms, response_body)
       values ($1, $2, $3, 'automatic', now(), now(), 500, 12, repeat('x', 5000))`,
      [delivery?.id, n, delivery?.company_id],
    )
  await world.ask('DELETE', `${ALERTS}/destinations/${goes.id}`)
  const ask = async (query = '') =>
    (await world.ask('GET', `${ALERTS}/${alertId}/deliveries${query}`)).body.data
  const { data, pagination } = await ask()
  t.match(pagination, { total: 4, has_more: false })
  t.ok(data.every((each: { alert_id: string }) => each.alert_id === alertId))
  t.match(await ask('?status=failed'), {
    data: [
      {
        id: delivery?.id,
        destination_id: stays.id,
        destination_name: 'Receiver',
        destination_type: 'webhook',
        event_type: 'alert.triggered',
        trigger: 'automatic',
        attempts: [
          { n: 1, status_code: 500, response_body: 'x'.repeat(2_000) },
          { n: 2, status_code: 500 },
        ],
      },
    ],
    pagination: { total: 1 },
  })
  t.match((await ask('?status=stopped,failed&event_type=alert.resolved')).data, [
    {
      destination_name: 'Gone',
      status: 'stopped',
      stopped_reason: 'The destination was deleted',
      attempts: [],
    },
  ])
  t.match((await ask('?limit=1&offset=3')).data, [{ event_type: 'alert.triggered' }])
  t.equal((await world.ask('GET', `${ALERTS}/${other}/deliveries`)).body.data.pagination.total, 2)
  t.match(await world.ask('GET', `${ALERTS}/${randomUUID()}/deliveries`), {
    status: 404,
    body: { error: { code: 'ALERT_NOT_FOUND' } },
  })
  t.match(await world.ask('GET', `${ALERTS}/${alertId}/deliveries?status=lost`), refused('status'))
})

t.test('a destination shows its last message and the counts of the last day', async t => {
  const world = await makeWorld(app)
  const none = { pending: 0, delivered: 0, failed: 0, stopped: 0 }
  const made = await world.addDestination({ url })
  t.match(made, { last_delivery: null, last_24_hours: none, failing_since: null })
  const quiet = await world.addDestination({ url }, { is_active: false })
  for (const cause of ['1', '2', '3', '4']) await world.raise({ cause })
  await app.query(
    `with numbered as (select id, row_number() over (order by id) as n from deliveries where destination_id = $1)
     update deliveries d set
       status = (array['delivered', 'delivered', 'failed', 'pending'])[n],
       created_at = case n when 1 then now() - interval '25 hours' else now() - make_interval(mins => 10 - n::int) end
     from numbered where numbered.id = d.id`,
    [made.id],
  )
  await app.query(`update destinations set failing_since = now() where id = $1`, [made.id])
  const expected = {
    id: made.id,
    failing_since: String,
    last_delivery: { status: 'pending', event_type: 'alert.triggered', completed_at: null },
    last_24_hours: { pending: 1, delivered: 1, failed: 1, stopped: 0 },
  }
  const list = async (query = '') =>
    (await world.ask('GET', `${ALERTS}/destinations${query}`)).body.data.destinations
  t.match((await world.ask('GET', `${ALERTS}/destinations/${made.id}`)).body.data, expected)
  t.match(await list(), [{ id: quiet.id, last_delivery: null, last_24_hours: none }, expected])
  t.match(await list('?is_active=true'), [{ id: made.id }])
  t.match(await list('?is_failing=false&destination_type=webhook'), [{ id: quiet.id }])
  t.strictSame(await list('?destination_type=slack'), [])
  t.match(await world.ask('GET', `${ALERTS}/destinations?destination_type=slak`), {
    status: 400,
    body: { error: { message: /destination_type .*slak.*did you mean `slack`/ } },
  })
  const renamed = await world.ask('PATCH', `${ALERTS}/destinations/${made.id}`, { name: 'Renamed' })
  t.match(renamed.body.data, { ...expected, name: 'Renamed' })
})
