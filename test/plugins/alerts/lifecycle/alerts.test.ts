import { randomUUID } from 'node:crypto'
import t from 'tap'
import { deliverJob } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import { sweepJob } from '../../../../plugins/alerts/jobs.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld } from '../world.ts'

// Before the server: its trust is settled when it first sends.
const receiver = await startReceiver({ teardown: down => t.teardown(down) })
const app = await startServer({ teardown: down => t.teardown(down) })
const url = 'https://receiver.invalid/hook'
const conflict = { status: 409, body: { error: { code: 'CONFLICT' } } }
const missing = (code: string) => ({ status: 404, body: { error: { code } } })
const refused = (field: string) => ({
  status: 400,
  body: { error: { code: 'VALIDATION_ERROR', details: { field } } },
})

t.test('one open alert a cause: a repeat counts, a recovery resolves, the next one is new', async t => {
  const world = await makeWorld(app)
  const first = await world.raise()
  t.match(await Promise.all([world.raise(), world.raise()]), [
    { alertId: first.alertId, isNew: false },
    { alertId: first.alertId, isNew: false },
  ])
  t.match((await world.ask('GET', `${ALERTS}/${first.alertId}`)).body.data, {
    status: 'triggered',
    occurrences: 3,
    alert_type: 'validity',
    asset: { qualified_name: 'shop.shop.public.orders' },
  })
  t.equal(await world.recover(), true)
  t.equal(await world.recover(), false)
  t.match((await world.ask('GET', `${ALERTS}/${first.alertId}`)).body.data, {
    status: 'resolved',
    resolved_at: String,
  })
  const next = await world.raise()
  t.equal(next.isNew, true)
  t.match((await world.ask('GET', `${ALERTS}/${first.alertId}/history`)).body.data.data, [
    { from_status: 'triggered', to_status: 'resolved', actor: 'system' },
    { from_status: null, to_status: 'triggered', actor: 'system' },
  ])
})

t.test('a cause that got worse opens a new alert, and one that got better does not', async t => {
  const { raise, ask } = await makeWorld(app)
  const warning = await raise({ severity: 'warning' })
  const critical = await raise({ severity: 'critical' })
  t.equal(critical.isNew, true)
  t.same(await raise({ severity: 'info' }), { alertId: critical.alertId, isNew: false })
  t.match((await ask('GET', `${ALERTS}/${warning.alertId}`)).body.data, { status: 'resolved' })
  t.match((await ask('GET', `${ALERTS}/${critical.alertId}`)).body.data, {
    status: 'triggered',
    severity: 'critical',
    occurrences: 2,
  })
})

t.test('of two that raise the same cause at once, one opens it', async t => {
  const world = await makeWorld(app)
  const raised = await Promise.all(Array.from({ length: 8 }, () => world.raise()))
  t.equal(raised.filter(({ isNew }) => isNew).length, 1)
  t.equal(new Set(raised.map(({ alertId }) => alertId)).size, 1)
})

t.test('an alert, its deliveries and their jobs vanish with the transaction that is rolled back', async t => {
  const world = await makeWorld(app)
  await world.addDestination({ url })
  const count = () =>
    app.query(`select (select count(*) from pgboss.job where name = 'alerts.deliver') as jobs`)
  const before = await count()
  const failing = app.server.db.company(world.companyId, async trx => {
    await app.server.plugins.alerts.raise(trx, {
      type: 'metric_anomaly',
      cause: 'metric:1',
      severity: 'critical',
      sourceId: world.sourceId,
      asset: { id: world.sourceId, qualifiedName: 'a.b.c.d', assetType: 'table' },
      ruleName: 'r',
      title: 't',
      details: {},
    })
    throw new Error('rolled back')
  })
  await t.rejects(failing, { message: 'rolled back' })
  t.match((await world.ask('GET', ALERTS)).body.data, { data: [], pagination: { total: 0 } })
  t.strictSame(await count(), before)
})

t.test('moves follow the table, and final is final', async t => {
  const world = await makeWorld(app)
  const { alertId } = await world.raise()
  const ask = (verb: string, body?: object) => world.ask('POST', `${ALERTS}/${alertId}/${verb}`, body)
  t.match(await ask('acknowledge', { reason: 'looking' }), {
    status: 200,
    body: { data: { status: 'acknowledged' } },
  })
  t.match(await ask('acknowledge'), conflict)
  t.match(await ask('snooze'), { status: 400 })
  for (const snoozed_until of ['2001-01-01T00:00:00Z', '9999-12-31T00:00:00Z'])
    t.match(await ask('snooze', { snoozed_until }), refused('snoozed_until'))
  t.match((await ask('snooze', { duration_minutes: 60 })).body.data, {
    status: 'snoozed',
    snoozed_until: String,
  })
  t.match((await world.ask('GET', `${ALERTS}/inbox`)).body.data, { alerts: [], pagination: { total: 0 } })
  t.equal((await world.raise()).isNew, false)
  t.match((await ask('acknowledge')).body.data, { status: 'acknowledged', snoozed_until: null })
  t.match((await world.ask('GET', `${ALERTS}/inbox`)).body.data.alerts, [{ id: alertId }])
  t.match((await ask('dismiss')).body.data, { status: 'dismissed' })
  for (const verb of ['acknowledge', 'resolve', 'dismiss']) t.match(await ask(verb), conflict)
  const moves = (await world.ask('GET', `${ALERTS}/${alertId}/history`)).body.data.data
  t.match(
    moves.map((move: { to_status: string }) => move.to_status),
    ['dismissed', 'acknowledged', 'snoozed', 'acknowledged', 'triggered'],
  )
  t.match(moves.at(-2), { reason: 'looking', actor: /^key:/ })
})

t.test('a snoozed alert comes back when its time is up', async t => {
  const world = await makeWorld(app)
  const [over, waiting] = [await world.raise(), await world.raise({ cause: 'rule:2' })]
  for (const { alertId } of [over, waiting])
    await world.ask('POST', `${ALERTS}/${alertId}/snooze`, { duration_minutes: 5 })
  await app.query(`update alerts set snoozed_until = now() where id = $1`, [over.alertId])
  await app.server.jobs.send(sweepJob, {})
  await app.server.jobs.settled(sweepJob, () => true)
  t.match((await world.ask('GET', `${ALERTS}/${over.alertId}`)).body.data, {
    status: 'triggered',
    snoozed_until: null,
  })
  t.match((await world.ask('GET', `${ALERTS}/${waiting.alertId}`)).body.data, { status: 'snoozed' })
  t.match((await world.ask('GET', `${ALERTS}/${over.alertId}/history`)).body.data.data[0], {
    from_status: 'snoozed',
    actor: 'system',
  })
})

t.test('lists filter and page, and the summary counts', async t => {
  const world = await makeWorld(app)
  await world.raise()
  await world.raise({ cause: 'rule:2', severity: 'critical' })
  const { alertId } = await world.raise({ type: 'freshness_violation', cause: 'table:1' })
  await world.ask('POST', `${ALERTS}/${alertId}/resolve`)
  const total = async (query: string) =>
    (await world.ask('GET', `${ALERTS}?${query}`)).body.data.pagination.total
  t.equal(await total('status=triggered'), 2)
  t.equal(await total('severity=critical'), 1)
  t.equal(await total('event_type=freshness_violation'), 1)
  t.equal(await total(`asset_id=${world.sourceId}`), 3)
  t.equal(await total(`asset_id=${randomUUID()}`), 0)
  const { name } = (await world.ask('GET', `/api/v1/sdk/assets/${world.sourceId}`)).body.data
  t.equal(await total(`asset_id=${encodeURIComponent(name)}`), 3, 'by name')
  for (const list of ['', '/inbox', '/trends']) {
    t.equal(
      (await world.ask('GET', `${ALERTS}${list}?asset_id=${encodeURIComponent(name)}`)).status,
      200,
      list,
    )
    const unknown = await world.ask('GET', `${ALERTS}${list}?asset_id=nothing`)
    t.match([unknown.status, unknown.body.error.code], [404, 'ASSET_NOT_FOUND'], list)
  }
  const page = (await world.ask('GET', `${ALERTS}?limit=2&offset=0`)).body.data
  t.match(page, { data: [{ id: alertId }, Object], pagination: { total: 3, has_more: true } })
  t.match((await world.ask('GET', `${ALERTS}/summary`)).body.data, {
    total: 3,
    open: 2,
    by_status: { triggered: 2, resolved: 1, snoozed: 0 },
    open_by_severity: { critical: 1, warning: 1, info: 0 },
  })
  for (const query of ['limit=101', 'status=open', 'colour=red']) {
    t.match(await world.ask('GET', `${ALERTS}?${query}`), { status: 400 }, query)
  }
})

t.test(
  'without a rule warnings and critical alerts go to every destination, news and infos to none',
  async t => {
    const world = await makeWorld(app)
    const one = await world.addDestination({ url })
    const two = await world.addDestination({ url })
    const off = await world.addDestination({ url }, { is_active: false })
    await world.raise()
    await world.raise({ cause: 'rule:2', severity: 'info' })
    await world.raise({ type: 'discovery_complete', cause: 'job:1', severity: 'info', isNews: true })
    for (const { id } of [one, two]) t.equal((await world.deliveries(id)).length, 1)
    t.equal((await world.deliveries(off.id)).length, 0)
  },
)

t.test('rules choose by type, severity, asset and tag, and news only by name', async t => {
  const world = await makeWorld(app)
  const rules: [string, object, boolean][] = [
    ['everything', {}, true],
    ['type', { event_types: ['validity_failure'] }, true],
    ['another type', { event_types: ['freshness_violation', 'discovery_complete'] }, false],
    ['severity', { severities: ['warning'] }, true],
    ['another severity', { severities: ['critical'] }, false],
    ['source', { asset_ids: [world.sourceId] }, true],
    ['another asset', { asset_ids: [await world.addSource('another')] }, false],
    ['any tag', { tag_filter_mode: 'any', tag_filter_tags: ['money', 'people'] }, true],
    ['all tags', { tag_filter_mode: 'all', tag_filter_tags: ['money', 'people'] }, false],
    ['switched off', { is_active: false }, false],
  ]
  const made = []
  for (const [name, filters, expected] of rules) {
    const { id } = await world.addDestination({ url })
    const reply = await world.ask('POST', `${ALERTS}/rules`, { name, destination_ids: [id], ...filters })
    t.match(
      reply,
      { status: 201, body: { data: { id: String, name, cooldown_minutes: 0, ...filters } } },
      name,
    )
    made.push({ name, id, expected })
  }
  await world.raise()
  for (const { name, id, expected } of made)
    t.equal((await world.deliveries(id)).length, expected ? 1 : 0, name)
  const news = { type: 'discovery_complete', cause: 'job:1', severity: 'info', isNews: true } as const
  t.not((await world.raise(news)).alertId, (await world.raise(news)).alertId)
  for (const { name, id, expected } of made) {
    const count = name === 'another type' ? 2 : expected ? 1 : 0
    t.equal((await world.deliveries(id)).length, count, `${name}, news`)
  }
})

t.test('a cooldown postpones what is triggered again, and what is over by then is never sent', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  const rule = { name: 'calm', destination_ids: [id], cooldown_minutes: 30 }
  const { body } = await world.ask('POST', `${ALERTS}/rules`, rule)
  for (let round = 0; round < 2; round += 1) {
    await world.raise()
    await world.recover()
  }
  await world.raise({ cause: 'rule:2' })
  const messages = async () => (await world.deliveries(id)).filter(({ status }) => status !== 'stopped')
  t.match((await messages()).reverse(), [
    { event_type: 'alert.triggered' },
    { event_type: 'alert.resolved' },
    { event_type: 'alert.triggered' },
  ])
  t.match(await world.ask('PATCH', `${ALERTS}/rules/${body.data.id}`, { cooldown_minutes: 0 }), {
    status: 200,
  })
  await world.raise()
  t.equal((await messages()).length, 4)
})

t.test('rules are made, read, changed and deleted', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  const rule = { name: 'One', destination_ids: [id], severities: ['critical'] }
  const made = (await world.ask('POST', `${ALERTS}/rules`, rule)).body.data
  t.match((await world.ask('GET', `${ALERTS}/rules`)).body.data, { data: [made], pagination: { total: 1 } })
  t.match(
    (await world.ask('PATCH', `${ALERTS}/rules/${made.id}`, { severities: null, is_active: false })).body
      .data,
    {
      name: 'One',
      severities: null,
      is_active: false,
      destination_ids: [id],
    },
  )
  t.match(
    await world.ask('POST', `${ALERTS}/rules`, { ...rule, destination_ids: [randomUUID()] }),
    missing('DESTINATION_NOT_FOUND'),
  )
  t.match(
    await world.ask('POST', `${ALERTS}/rules`, { ...rule, event_types: ['earthquake'] }),
    refused('event_types.0'),
  )
  t.match(await world.ask('POST', `${ALERTS}/rules`, { ...rule, colour: 'red' }), refused('colour'))
  t.match(await world.ask('DELETE', `${ALERTS}/rules/${made.id}`), {
    status: 200,
    body: { data: { success: true } },
  })
  t.match(await world.ask('GET', `${ALERTS}/rules/${made.id}`), missing('NOT_FOUND'))
})

t.test('a bad destination is refused with the field and what to do', async t => {
  const world = await makeWorld(app)
  const make = (config: object, type = 'webhook') =>
    world.ask('POST', `${ALERTS}/destinations`, { name: 'x', destination_type: type, config })
  t.match(await make({ url }, 'pigeon'), refused('destination_type'))
  t.match((await make({ url }, 'pigeon')).body.error.message, /webhook/)
  t.match((await make({ url: 'http://example.com/' })).body.error, { message: /must start with https:\/\// })
  const auth = (value: unknown) => ({ url, auth: { type: 'bearer', value } })
  const bad: [object, string][] = [
    [{ url: 'http://example.com/' }, 'config.url'],
    [{ url: 'https://user:pass@example.com/' }, 'config.url'],
    [{ url: 'example.com' }, 'config.url'],
    [{ url: 'https://10.0.0.1/' }, 'config.url'],
    [{ url: 'https://169.254.169.254/' }, 'config.url'],
    [{}, 'config.url'],
    [{ url, insecure: true }, 'config.insecure'],
    [auth('a\r\nx: y'), 'config.auth.value'],
    [auth(undefined), 'config.auth.value'],
    [{ url, headers: { 'X-A': 'b\nc: d' } }, 'config.headers.X-A'],
    [{ url, headers: { Host: 'inner' } }, 'config.headers.Host'],
    [{ url, headers: { 'Content-Length': '0' } }, 'config.headers.Content-Length'],
    [{ url, headers: { 'X-Service-Signature': 'sha256=0' } }, 'config.headers.X-Service-Signature'],
    [{ url, headers: { 'webhook-id': '1' } }, 'config.headers.webhook-id'],
    [{ url, headers: { 'Transfer-Encoding': 'chunked' } }, 'config.headers.Transfer-Encoding'],
    [{ url, headers: { 'a b': 'c' } }, 'config.headers.a b'],
  ]
  for (const [config, field] of bad) t.match(await make(config), refused(field), JSON.stringify(config))
  t.equal((await make({ ...auth('a'), headers: { Authorization: 'b' } })).status, 400)
})

t.test('secrets are shown as placeholders, kept when left out, and merged', async t => {
  const world = await makeWorld(app)
  const headers = { 'X-One': 'first', 'X-Two': 'second' }
  const made = await world.addDestination({
    url: `${receiver.url}/first`,
    auth: { type: 'bearer', value: 'theirs' },
    headers,
  })
  const path = `${ALERTS}/destinations/${made.id}`
  const shown = (await world.ask('GET', path)).body.data
  t.notOk('signing_secret' in shown)
  t.match(shown.config, {
    url: `${receiver.url}/first`,
    auth: { type: 'bearer', value: '********' },
    headers: { 'X-One': '********' },
  })
  t.match((await world.ask('GET', `${ALERTS}/destinations`)).body.data.destinations, [shown])

  // A client that sends back what it read, with its change, keeps the secrets.
  const config = {
    ...shown.config,
    url: receiver.url,
    headers: { 'X-One': '********', 'X-Two': null, 'X-Three': 'third' },
  }
  t.match(await world.ask('PATCH', path, { name: 'Renamed', config }), {
    status: 200,
    body: { data: { name: 'Renamed' } },
  })
  t.match(await world.ask('POST', `${path}/test`), { body: { data: { success: true } } })
  t.match(receiver.requests[0]?.headers, {
    authorization: 'Bearer theirs',
    'x-one': 'first',
    'x-three': 'third',
  })
  t.notOk('x-two' in (receiver.requests[0]?.headers ?? {}))

  await world.ask('PATCH', path, { config: { auth: { type: 'none' } } })
  await world.ask('POST', `${path}/test`)
  t.notOk('authorization' in (receiver.requests[1]?.headers ?? {}))
  t.match((await world.ask('GET', path)).body.data.config, { auth: { type: 'none' } })
  t.match(await world.ask('PATCH', path, { config: { url: null } }), refused('config.url'))
})

t.test("another company's alerts, rules, destinations and deliveries are not there", async t => {
  const [mine, theirs] = [await makeWorld(app, 'Mine'), await makeWorld(app, 'Theirs')]
  const { id } = await mine.addDestination({ url })
  const rule = (await mine.ask('POST', `${ALERTS}/rules`, { name: 'r', destination_ids: [id] })).body.data
  const { alertId } = await mine.raise()
  const [delivery] = await mine.deliveries(id)
  await app.server.jobs.settled(deliverJob, data => data.delivery_id === delivery?.id)
  const paths: [string, string, string][] = [
    ['GET', `${ALERTS}/${alertId}`, 'ALERT_NOT_FOUND'],
    ['GET', `${ALERTS}/${alertId}/history`, 'ALERT_NOT_FOUND'],
    ['POST', `${ALERTS}/${alertId}/resolve`, 'ALERT_NOT_FOUND'],
    ['GET', `${ALERTS}/rules/${rule.id}`, 'NOT_FOUND'],
    ['DELETE', `${ALERTS}/rules/${rule.id}`, 'NOT_FOUND'],
    ['GET', `${ALERTS}/destinations/${id}`, 'DESTINATION_NOT_FOUND'],
    ['GET', `${ALERTS}/destinations/${id}/deliveries`, 'DESTINATION_NOT_FOUND'],
    ['POST', `${ALERTS}/destinations/${id}/test`, 'DESTINATION_NOT_FOUND'],
    ['POST', `${ALERTS}/destinations/${id}/rotate-secret`, 'DESTINATION_NOT_FOUND'],
    ['DELETE', `${ALERTS}/destinations/${id}`, 'DESTINATION_NOT_FOUND'],
    ['POST', `${ALERTS}/deliveries/${delivery?.id}/redeliver`, 'DELIVERY_NOT_FOUND'],
  ]
  for (const [method, path, code] of paths)
    t.match(await theirs.ask(method, path), missing(code), `${method} ${path}`)
  t.match((await theirs.ask('GET', ALERTS)).body.data.data, [])
  t.match((await theirs.ask('GET', `${ALERTS}/destinations`)).body.data.destinations, [])
  t.match(
    await theirs.ask('POST', `${ALERTS}/rules`, { name: 'r', destination_ids: [id] }),
    missing('DESTINATION_NOT_FOUND'),
  )
  t.equal((await theirs.raise()).isNew, true)
  t.equal((await mine.deliveries(id)).length, 1)
  t.equal(await theirs.recover(), true)
  t.match((await mine.ask('GET', `${ALERTS}/${alertId}`)).body.data, { status: 'triggered' })
  await mine.raise({ cause: 'rule:2' })
  t.match(await mine.ask('GET', `${ALERTS}/not-a-uuid`), missing('ALERT_NOT_FOUND'))
})

t.test('reading needs no more than read-only, changing needs read-write', async t => {
  const world = await makeWorld(app)
  const { alertId } = await world.raise()
  const { key: reader } = await app.server.plugins.auth.createKey({
    companyId: world.companyId,
    name: 'reader',
    scope: 'read-only',
  })
  t.equal((await app.ask('GET', `${ALERTS}/${alertId}`, undefined, reader)).status, 200)
  const posts = [`${ALERTS}/${alertId}/resolve`, `${ALERTS}/rules`, `${ALERTS}/destinations`]
  for (const path of posts) {
    t.match(await app.ask('POST', path, {}, reader), {
      status: 403,
      body: { error: { details: { required_scope: 'read-write' } } },
    })
  }
})
