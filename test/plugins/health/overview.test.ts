import { DateTime } from 'luxon'
import t from 'tap'
import type { AlertEvent } from '../../../plugins/alerts/api.ts'
import { readOverview } from '../../../plugins/health/overview.ts'
import { explicit, startWorlds } from '../freshness/worlds.ts'

const { server, tenant, stranger, world, query } = await startWorlds(t)
const ZONE = 'Pacific/Auckland'
const DAYS = 3
const today = DateTime.now().setZone(ZONE).startOf('day')

const overview = async (who = tenant, search = '') => {
  const path = `/api/v1/sdk/health/overview?timezone=${ZONE}&days=${DAYS}${search}`
  return (await who.ask('GET', path)).body.data
}
const NO_ALERTS = { alerts: 0, severity: null }

/** A source whose tables are watched, and a function that raises alerts about them. */
async function watchedWorld(t: Parameters<typeof world>[0], tables: readonly string[]) {
  const made = await world(t, tables.map(name => `create table ${name} (ts timestamptz)`).join(';'))
  const { source } = made
  const ids = new Map<string, string>()
  for (const name of tables) {
    await made.watch(name, explicit('1d'))
    const [found] = await query('select id from tables where source_id = $1 and name = $2', [source.id, name])
    ids.set(name, String(found?.id))
  }
  await query('delete from check_results')
  // Watched for longer than the days that are asked for.
  await query(`update checks set created_at = now() - interval '10 days' where source_id = $1`, [source.id])
  /** @param open from when until when; without an end it is open still */
  async function raise(table: string, event: Partial<AlertEvent>, open: [DateTime, DateTime?]) {
    const { alertId } = await server.db.company(tenant.companyId, trx =>
      server.plugins.alerts.raise(trx, {
        ...{
          type: 'validity_failure',
          cause: `${table} ${event.type}`,
          severity: 'warning',
          sourceId: source.id,
        },
        asset: { id: ids.get(table)!, qualifiedName: `${source.name}.${table}`, assetType: 'table' },
        ...{ ruleName: table, title: `${table} is wrong`, details: {} },
        ...event,
      }),
    )
    await query('update alerts set created_at = $2, resolved_at = $3, status = $4 where id = $1', [
      ...[alertId, open[0].toJSDate(), open[1]?.toJSDate() ?? null, open[1] ? 'resolved' : 'triggered'],
    ])
    return alertId
  }
  return { ...made, ids, raise }
}

t.afterEach(() => query('delete from alerts; delete from sources'))

t.test('a company without sources has no score, no trend and no incident', async t => {
  t.match(await overview(stranger), {
    ...{ score: null, scores: [null, null, null], watched_tables: 0, affected_tables: 0 },
    ...{ sources: [], teams: [], tags: [], incidents: [], total_incidents: 0, changes: [] },
    trend: [{ opened: { freshness: 0 } }, { date: today.minus({ days: 1 }).toISODate() }, {}],
  })
})

t.test('the score is the share of days of watched tables without an open alert', async t => {
  const { raise, source } = await watchedWorld(t, ['orders', 'items'])
  t.match(await overview(), { score: 100, scores: [100, 100, 100], watched_tables: 2 })
  const twoDaysAgo = today.minus({ days: 2 })
  await raise('orders', {}, [twoDaysAgo.minus({ hours: 1 }), twoDaysAgo.plus({ hours: 1 })])
  // A second one on the same day does not count twice.
  await raise('orders', { type: 'freshness_violation' }, [twoDaysAgo, twoDaysAgo.plus({ minutes: 1 })])
  await raise('items', { severity: 'info' }, [twoDaysAgo])
  t.match(await overview(), { score: 83.3, scores: [50, 100, 100], affected_tables: 0 })
  const open = await raise('items', { severity: 'critical' }, [today])
  const found = await overview()
  t.match(found, { score: 66.6, scores: [50, 100, 50], affected_tables: 1 })
  t.match(found.sources, [{ name: source.name, table_count: 2, watched_tables: 2, score: 66.6 }])
  await query(`update alerts set status = 'dismissed', resolved_at = now() where id = $1`, [open])
  t.match(await overview(), { scores: [50, 100, 100] }, 'a dismissed one was no problem')
  t.match(await overview(stranger), { score: null, sources: [] })
})

t.test('a table counts from when a check of it first ran', async t => {
  const { source, check } = await watchedWorld(t, ['orders'])
  await query(`update checks set created_at = now() where source_id = $1`, [source.id])
  t.match(await overview(), { score: null, watched_tables: 0 })
  await check()
  t.match(await overview(), { scores: [null, null, Number], watched_tables: 1 })
  await query('update check_results set is_backfilled = true')
  t.match(await overview(), { watched_tables: 0 }, 'no alert came of a past that was computed')
})

t.test('scores are given by tag and by team', async t => {
  const { raise, ids } = await watchedWorld(t, ['orders', 'items'])
  await query(`update tables set tags = '{finance}' where id = $1`, [ids.get('orders')])
  const team = await tenant.ask('POST', '/api/v1/sdk/teams', { name: 'Sales data' })
  t.equal(team.status, 201)
  const owners = { asset_id: ids.get('items'), owners: ['Sales data'] }
  t.equal((await tenant.ask('PUT', '/api/v1/sdk/owners', owners)).status, 200)
  await raise('orders', {}, [today])
  t.match(await overview(), {
    tags: [{ name: 'finance', watched_tables: 1, scores: [100, 100, 0] }],
    teams: [{ name: 'Sales data', watched_tables: 1, score: 100 }],
  })
})

t.test('alerts are counted by day and by source, by what they are about, and so they are listed', async t => {
  const { raise, source } = await watchedWorld(t, ['orders', 'items'])
  const yesterday = today.minus({ days: 1 })
  const contracts = [{ contract: 'items', clause: 'items.id is required' }]
  const metric = { type: 'metric_anomaly', details: { metric_type: 'row_count' } }
  await raise('orders', metric, [yesterday])
  await raise('items', { ...metric, details: { metric_type: 'null_count', contracts } }, [today])
  await raise('orders', { type: 'freshness_violation', severity: 'critical' }, [today])
  await raise('items', { type: 'freshness_violation', severity: 'info' }, [today])
  await raise('orders', { type: 'schema_change' }, [today])
  await raise('orders', { type: 'contract_violation' }, [today, today.plus({ seconds: 1 })])
  const found = await overview()
  const none = { freshness: 0, volume: 0, schema: 0, validity: 0, contracts: 0, pipelines: 0 }
  t.strictSame(
    found.trend.map(({ opened }: { opened: object }) => opened),
    [
      none,
      { ...none, volume: 1 },
      { freshness: 2, volume: 0, schema: 1, validity: 1, contracts: 1, pipelines: 0 },
    ],
  )
  t.strictSame(found.sources[0].open, {
    freshness: { alerts: 2, severity: 'critical' },
    ...{ volume: { alerts: 1, severity: 'warning' }, schema: { alerts: 1, severity: 'warning' } },
    ...{ validity: { alerts: 1, severity: 'warning' }, pipelines: NO_ALERTS },
    // The alert of a check that a contract relies on: the contract raises none of its own.
    contracts: { alerts: 1, severity: 'warning' },
  })
  for (const [dimension, count] of Object.entries({ freshness: 2, volume: 1, contracts: 2, pipelines: 0 })) {
    const listed = await tenant.ask('GET', `/api/v1/sdk/alerts?asset_id=${source.id}&dimension=${dimension}`)
    t.equal(listed.body.data.pagination.total, count, dimension)
  }
})

t.test('open incidents come with the worst first, their reach, owners and assignee', async t => {
  const { raise, ids, source } = await watchedWorld(t, ['orders', 'items', 'sales'])
  const idOf = (name: string) => ids.get(name)!
  await server.db.company(tenant.companyId, trx =>
    server.plugins.lineage.recordEdges(trx, {
      origin: 'dbt',
      sourceId: null,
      isComplete: false,
      edges: [
        [idOf('orders'), idOf('items')],
        [idOf('items'), idOf('sales')],
      ].map(([upstream, downstream]) => ({
        ...{ upstream: { tableId: upstream! }, downstream: { tableId: downstream! }, detail: 'shop' },
      })),
    }),
  )
  const first = await raise('orders', { severity: 'critical' }, [today])
  const later = await raise('sales', { severity: 'warning' }, [today.plus({ seconds: 5 })])
  for (const id of [first, later])
    await server.db.company(tenant.companyId, trx => server.plugins.alerts.incidents.update(trx, [id]))
  const { incidents, total_incidents: total } = await overview(tenant, `&asset_id=${source.id}`)
  t.equal(total, 1)
  t.match(incidents[0], { severity: 'critical', assignee: null, owners: [], alert_count: Number })
  t.equal(incidents[0].downstream_count, incidents[0].asset_count === 2 ? 1 : 2)
  t.match(await overview(stranger), { incidents: [], total_incidents: 0 })
  const before = { minutes_to_detect: null, minutes_to_acknowledge: null, minutes_to_resolve: null }
  t.match(await overview(), before, 'no person did anything yet')
  await query(`update incidents set acknowledged_at = created_at + interval '10 minutes', status = 'resolved',
    resolved_at = created_at + interval '1 hour'`)
  t.match(await overview(), { incidents: [], minutes_to_acknowledge: 10, minutes_to_resolve: 60 })
})

t.test('the number of statements does not depend on the number of tables', async t => {
  const count = () =>
    server.db.company(tenant.companyId, async trx => {
      let sent = 0
      trx.on('query', () => sent++)
      await readOverview(server.plugins, trx, { days: 30, timezone: 'UTC' })
      return sent
    })
  await watchedWorld(t, ['orders'])
  const one = await count()
  await watchedWorld(
    t,
    Array.from({ length: 12 }, (_, n) => `table_${n}`),
  )
  t.equal(await count(), one)
})

t.test('an overview of what is not there is refused', async t => {
  const missing = await tenant.ask('GET', '/api/v1/sdk/health/overview?asset_id=nowhere')
  t.match(missing, { status: 404, body: { error: { code: 'ASSET_NOT_FOUND' } } })
  t.equal((await tenant.ask('GET', '/api/v1/sdk/health/overview?days=91')).status, 400)
})
