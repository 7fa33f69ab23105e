import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { AlertEvent } from '../../../../plugins/alerts/api.ts'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld, type World } from '../world.ts'

const app = await startServer({ teardown: down => t.teardown(down) }, { settings: { ROLE: 'web' } })
const url = 'https://127.0.0.1:9/hook'
const ask = async (world: World, body: object) =>
  (await world.ask('POST', `${ALERTS}/preview`, { limit: 100, ...body })).body.data
const idsOf = (alerts: { id: string }[]) => alerts.map(({ id }) => id).toSorted()

/** Opens an alert some minutes ago that was over after some more; it is open still if it lasts until now. */
async function raisedAgo(
  world: World,
  minutes: number,
  { lasting = 1, ...changes }: Partial<AlertEvent> & { lasting?: number } = {},
): Promise<string> {
  const { alertId } = await world.raise(changes)
  await app.query(
    `update alerts set created_at = now() - make_interval(mins => $2),
            status = case when $3::int >= $2::int then status else 'resolved' end,
            resolved_at = case when $3::int < $2::int then now() - make_interval(mins => $2 - $3) end
      where id = $1`,
    [alertId, minutes, lasting],
  )
  return alertId
}

t.test('a preview lists what the rule sends', async t => {
  const world = await makeWorld(app)
  const other = await world.addSource('other')
  const asset = { id: randomUUID(), qualifiedName: 'other.a.b.c', assetType: 'table' }
  const events: Partial<AlertEvent>[] = [
    { cause: '1' },
    { cause: '2', severity: 'critical', sourceId: other, asset: { ...asset, tags: ['people'] } },
    { cause: '3', type: 'metric_anomaly', asset: { ...asset, tags: ['money', 'people'] } },
    { cause: '4', type: 'freshness_violation', severity: 'info', sourceId: other, asset },
    { cause: '5', type: 'discovery_complete', severity: 'info', isNews: true },
  ]
  const filters: object[] = [
    {},
    { event_types: ['validity_failure'] },
    { event_types: ['discovery_complete', 'metric_anomaly'] },
    { severities: ['critical', 'info'] },
    { asset_ids: [world.sourceId] },
    { asset_ids: [other] },
    { tag_filter_mode: 'any', tag_filter_tags: ['money', 'people'] },
    { tag_filter_mode: 'all', tag_filter_tags: ['money', 'people'] },
    { tag_filter_tags: ['money'], severities: ['warning'], asset_ids: [world.sourceId], event_types: null },
  ]
  const rules: { id: string; to: string; filter: object }[] = []
  for (const [index, filter] of filters.entries()) {
    const { id: to } = await world.addDestination({ url })
    const rule = { name: String(index), destination_ids: [to], ...filter }
    rules.push({ id: (await world.ask('POST', `${ALERTS}/rules`, rule)).body.data.id, to, filter })
  }
  await world.raiseAll(events)
  for (const { id, to, filter } of rules) {
    const sent = (await app.query('select alert_id as id from deliveries where destination_id = $1', [
      to,
    ])) as {
      id: string
    }[]
    t.ok(sent.length > 0)
    const what = JSON.stringify(filter)
    const stored = await ask(world, { rule_id: id })
    t.strictSame(idsOf(stored.alerts), idsOf(sent), what)
    t.match(stored, { matched: sent.length, told: sent.length, held_back: 0, messages: sent.length })
    t.match(stored.destinations, [{ id: to, name: 'Receiver', destination_type: 'webhook', is_active: true }])
    const unstored = await ask(world, { ...filter, destination_ids: [to] })
    t.strictSame({ ...unstored, since: 0, until: 0 }, { ...stored, since: 0, until: 0 }, what)
  }
})

t.test('a preview holds back what the cooldown would have', async t => {
  const world = await makeWorld(app)
  const before = await raisedAgo(world, 24 * 60 + 20)
  // Less than an hour after the one before the span, which was sent: held back, and so it starts no cooldown of its own.
  const first = await raisedAgo(world, 24 * 60 - 20)
  const second = await raisedAgo(world, 24 * 60 - 41)
  const third = await raisedAgo(world, 60)
  const fourth = await raisedAgo(world, 2)
  const other = await raisedAgo(world, 2, { cause: 'rule:2' })
  const shown = await ask(world, { days_back: 1, cooldown_minutes: 60 })
  t.match(shown, { matched: 5, told: 3, held_back: 2, messages: 0, destinations: [] })
  const outcomes = new Map(shown.alerts.map(({ id, outcome }: Record<string, string>) => [id, outcome]))
  t.strictSame(
    [before, first, second, third, fourth, other].map(id => outcomes.get(id)),
    [undefined, 'held_back', 'told', 'told', 'held_back', 'told'],
  )
  t.match(await ask(world, { days_back: 2, cooldown_minutes: 0 }), { matched: 6, told: 6, held_back: 0 })
})

t.test('a preview shows what would have been sent when the cooldown ended', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  const raised = [
    await raisedAgo(world, 300),
    // An hour after the first it was still open: sent then, so that the next one is too early again.
    await raisedAgo(world, 290, { lasting: 60 }),
    await raisedAgo(world, 200, { lasting: 10 }),
    await raisedAgo(world, 170),
    // Worse than what was sent, and again.
    await raisedAgo(world, 160, { severity: 'critical' }),
    await raisedAgo(world, 150, { severity: 'critical' }),
    // Open still.
    await raisedAgo(world, 110, { lasting: 110 }),
  ]
  const shown = await ask(world, { days_back: 1, cooldown_minutes: 60, destination_ids: [id] })
  t.match(shown, {
    matched: 7,
    told: 3,
    postponed: 2,
    held_back: 2,
    messages: 5,
    destinations: [{ id, messages: 5 }],
  })
  const outcomes = new Map(
    shown.alerts.map(({ id: alert, outcome }: Record<string, string>) => [alert, outcome]),
  )
  t.strictSame(
    raised.map(alert => outcomes.get(alert)),
    ['told', 'postponed', 'held_back', 'told', 'told', 'held_back', 'postponed'],
  )
})

t.test('fields beside the id of a rule stand in for those of the rule, which stays as it is', async t => {
  const world = await makeWorld(app)
  const [on, off] = [
    await world.addDestination({ url }),
    await world.addDestination({ url }, { is_active: false }),
  ]
  const rule = { name: 'One', destination_ids: [on.id], severities: ['critical'], is_active: false }
  const made = (await world.ask('POST', `${ALERTS}/rules`, rule)).body.data
  await world.raise()
  await world.raise({ cause: 'rule:2', severity: 'critical' })
  t.match(await ask(world, { rule_id: made.id }), { matched: 1, messages: 1 })
  t.match(await ask(world, { rule_id: made.id, severities: null, destination_ids: [on.id, off.id] }), {
    matched: 2,
    messages: 2,
    destinations: [
      { id: on.id, is_active: true, messages: 2 },
      { id: off.id, is_active: false, messages: 0 },
    ],
  })
  t.strictSame((await world.ask('GET', `${ALERTS}/rules/${made.id}`)).body.data, made)
})

t.test(
  'however many alerts there are, each is looked at once, and a page of them is shown newest first',
  async t => {
    const world = await makeWorld(app)
    await app.query(
      `insert into alerts (id, company_id, source_id, asset_id, kind, cause, severity, status, rule_name, title, event, created_at)
     select gen_random_uuid(), $1, $2, $2, 'validity_failure', 'c' || g, 'warning', 'resolved', 'r', 't' || g,
            '{"type": "validity_failure", "asset": {"id": "x", "qualified_name": "q", "asset_type": "table", "tags": []}, "details": {}}',
            -- Several at the same moment, on either side of where reading pauses.
            now() - make_interval(mins => 1 + (g - 1) / 100)
       from generate_series(1, 10250) g`,
      [world.companyId, world.sourceId],
    )
    const shown = await ask(world, { days_back: 1, limit: 3, offset: 2 })
    t.match(shown, { matched: 10_250, told: 10_250, pagination: { total: 10_250, has_more: true } })
    t.equal(shown.alerts.length, 3)
    const all = new Set<string>()
    for (let offset = 0; offset < 10_250; offset += 2_050)
      for (const { id } of (await ask(world, { days_back: 1, limit: 100, offset })).alerts) all.add(id)
    t.equal(all.size, 500)
    t.match((await ask(world, { days_back: 1, limit: 100, offset: 10_200 })).alerts.at(-1), {
      title: /^t10[12]\d\d$/,
    })
  },
)

t.test('a preview refuses what a rule would refuse', async t => {
  const world = await makeWorld(app)
  const preview = (body: unknown) => world.ask('POST', `${ALERTS}/preview`, body)
  const refused = (field: string) => ({ status: 400, body: { error: { details: { field } } } })
  t.match(await preview({ tag_filter_mode: 'all' }), refused('tag_filter_mode'))
  t.match(await preview({ event_types: ['earthquake'] }), refused('event_types.0'))
  t.match(await preview({ days_back: 91 }), refused('days_back'))
  t.match(await preview({ name: 'x' }), refused('name'))
  t.match(await preview({ rule_id: randomUUID() }), { status: 404, body: { error: { code: 'NOT_FOUND' } } })
  t.match(await preview({}), { status: 200, body: { data: { matched: 0, alerts: [] } } })
})

t.test('a preview counts by type and severity, and looks back under another name', async t => {
  const world = await makeWorld(app)
  await world.raise({ severity: 'critical' })
  await world.raise({ cause: '2', type: 'freshness_violation' })
  const preview = (body: object) => world.ask('POST', `${ALERTS}/preview`, body)
  const { data } = (await preview({ lookback_days: 30 })).body
  t.match(data, {
    lookback_hours: 720,
    alerts_would_match: 2,
    matched: 2,
    sample_alerts: [{ asset_name: 'shop.shop.public.orders' }, { severity: 'critical' }],
  })
  t.strictSame(data.alerts_by_type, { validity_failure: 1, freshness_violation: 1 })
  t.strictSame(data.alerts_by_severity, { critical: 1, warning: 1 })
  t.match((await preview({ event_types: ['freshness_stale', 'freshness_alert'] })).body.data, {
    lookback_hours: 168,
    alerts_by_type: { freshness_violation: 1 },
  })
  t.match((await preview({ event_types: ['metric_anomaly'] })).body.data, {
    alerts_would_match: 0,
    sample_alerts: [],
    recommendation: /^No alert/,
  })
  t.equal((await preview({ lookback_days: 7, days_back: 7 })).status, 400)
  t.equal((await preview({ lookback_days: 91 })).status, 400)
})
