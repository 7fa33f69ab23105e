import { randomUUID } from 'node:crypto'
import { DateTime } from 'luxon'
import t from 'tap'
import type { AlertEvent } from '../../../../plugins/alerts/api.ts'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld, type World } from '../world.ts'

const app = await startServer({ teardown: down => t.teardown(down) }, { settings: { ROLE: 'web' } })
const ZONE = 'Pacific/Auckland'
const today = DateTime.now().setZone(ZONE).startOf('day')
const ask = async (world: World, query = '') =>
  (await world.ask('GET', `${ALERTS}/trends?timezone=${ZONE}${query}`)).body.data

interface Times {
  opened: DateTime
  acknowledged?: DateTime[]
  closed?: { at: DateTime; as: 'resolved' | 'dismissed' }
  occurrences?: number
}

/** Puts an alert and its moves where the times say. */
async function place(world: World, event: Partial<AlertEvent>, times: Times): Promise<void> {
  const { alertId } = await world.raise(event)
  await app.query(
    `update alerts set created_at = $2, resolved_at = $3, status = $4, occurrences = $5 where id = $1`,
    [
      alertId,
      times.opened.toJSDate(),
      times.closed?.at.toJSDate(),
      times.closed?.as ?? 'acknowledged',
      times.occurrences ?? 1,
    ],
  )
  for (const at of times.acknowledged ?? [])
    await app.query(
      `insert into alert_history (company_id, alert_id, from_status, to_status, actor, at)
       values ($1, $2, 'triggered', 'acknowledged', 'key:1', $3)`,
      [world.companyId, alertId, at.toJSDate()],
    )
}

t.test('trends count what came and went by the days of a zone, and how long people took', async t => {
  const [world, theirs] = [await makeWorld(app), await makeWorld(app)]
  await theirs.raise()
  const customers = { id: randomUUID(), qualifiedName: 'shop.shop.public.customers', assetType: 'table' }
  const yesterday = today.minus({ days: 1 })
  // Opened in the last second of a day of Auckland, and in the first of the next.
  await place(
    world,
    { cause: '1' },
    {
      opened: today.minus({ seconds: 1 }),
      acknowledged: [today.plus({ seconds: 599 }), today.plus({ seconds: 1_000 })],
      closed: { at: today.plus({ seconds: 1_799 }), as: 'resolved' },
      occurrences: 5,
    },
  )
  await place(world, { cause: '2', severity: 'critical', asset: customers }, { opened: yesterday })
  await place(
    world,
    { cause: '2', severity: 'critical', type: 'metric_anomaly', asset: customers },
    {
      opened: yesterday.plus({ hours: 1 }),
      acknowledged: [yesterday.plus({ hours: 1, minutes: 20 })],
      closed: { at: yesterday.plus({ hours: 2 }), as: 'dismissed' },
    },
  )
  // Before the days that are asked for, but for its end.
  await place(
    world,
    { cause: '3', severity: 'info' },
    {
      opened: yesterday.minus({ minutes: 60 }),
      acknowledged: [yesterday.minus({ minutes: 50 }), yesterday.plus({ minutes: 50 })],
      closed: { at: yesterday, as: 'resolved' },
    },
  )
  await world.raise({ type: 'discovery_complete', cause: 'job:1', severity: 'info', isNews: true })

  const none = { opened: 0, resolved: 0, dismissed: 0 }
  const days = [
    { opened: 3, resolved: 1, dismissed: 1, opened_by_severity: { info: 0, warning: 1, critical: 2 } },
    { opened: 0, resolved: 1, dismissed: 0, opened_by_severity: { info: 0, warning: 0, critical: 0 } },
  ]
  const trends = await ask(world, '&days=2')
  t.strictSame(trends, {
    since: yesterday.toUTC().toISO(),
    until: today.plus({ days: 1 }).toUTC().toISO(),
    timezone: ZONE,
    period: '2d',
    trends: [
      { timestamp: yesterday.toUTC().toISO(), ...days[0] },
      { timestamp: today.toUTC().toISO(), ...days[1] },
    ],
    opened: 3,
    resolved: 2,
    dismissed: 1,
    mean_minutes_to_acknowledge: 15,
    mean_minutes_to_resolve: 45,
    by_severity: {
      info: { ...none, resolved: 1 },
      warning: { ...none, opened: 1, resolved: 1 },
      critical: { ...none, opened: 2, dismissed: 1 },
    },
    by_event_type: {
      schema_change: none,
      freshness_violation: none,
      connection_failed: none,
      contract_violation: none,
      external_check_failed: none,
      validity_failure: { opened: 2, resolved: 2, dismissed: 0 },
      metric_anomaly: { opened: 1, resolved: 0, dismissed: 1 },
      part_mismatch: none,
      referential_failure: none,
      comparison_failure: none,
      destination_disabled: none,
    },
    by_day: [
      { date: yesterday.toISODate(), ...days[0] },
      { date: today.toISODate(), ...days[1] },
    ],
    noisiest_assets: [
      {
        id: customers.id,
        qualified_name: customers.qualifiedName,
        asset_type: 'table',
        alerts: 2,
        occurrences: 2,
      },
      {
        id: world.event().asset.id,
        qualified_name: 'shop.shop.public.orders',
        asset_type: 'table',
        alerts: 1,
        occurrences: 5,
      },
    ],
    noisiest_rules: [
      { rule_name: 'Total is positive', event_type: 'validity_failure', alerts: 1, occurrences: 5 },
      { rule_name: 'Total is positive', event_type: 'metric_anomaly', alerts: 1, occurrences: 1 },
      { rule_name: 'Total is positive', event_type: 'validity_failure', alerts: 1, occurrences: 1 },
    ],
  })
  t.match(await ask(world, `&days=2&asset_id=${customers.id}`), {
    opened: 2,
    resolved: 0,
    mean_minutes_to_acknowledge: 20,
    mean_minutes_to_resolve: null,
    noisiest_assets: [{ id: customers.id }],
  })
  t.equal((await ask(world, `&days=2&asset_id=${world.sourceId}`)).opened, 3)
})

t.test('each day of a year has its row, whatever clocks do', async t => {
  const world = await makeWorld(app)
  for (const zone of ['Africa/Cairo', 'America/Santiago', 'Europe/Berlin', 'UTC']) {
    const { by_day: days, since } = (await world.ask('GET', `${ALERTS}/trends?days=365&timezone=${zone}`))
      .body.data as { by_day: { date: string }[]; since: string }
    const first = DateTime.fromISO(since).setZone(zone)
    const expected = Array.from({ length: 365 }, (_, day) => first.plus({ days: day }).toISODate())
    t.strictSame(
      days.map(({ date }) => date),
      expected,
      zone,
    )
  }
})

t.test('without a word it is thirty days by the zone of the setting', async t => {
  const world = await makeWorld(app)
  await world.raise()
  const { data } = (await world.ask('GET', `${ALERTS}/trends`)).body
  t.match(data, { timezone: 'UTC', opened: 1, by_day: { length: 30 }, mean_minutes_to_acknowledge: null })
  const bad = [
    ['days=0', 'days'],
    ['days=366', 'days'],
    ['timezone=Mars/Base', 'timezone'],
  ] as const
  for (const [query, field] of bad) {
    const expected = { status: 400, body: { error: { details: { field } } } }
    t.match(await world.ask('GET', `${ALERTS}/trends?${query}`), expected, query)
  }
  t.match(await world.ask('GET', `${ALERTS}/trends?asset_id=x`), {
    status: 404,
    body: { error: { code: 'ASSET_NOT_FOUND' } },
  })
})
