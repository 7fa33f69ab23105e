import t from 'tap'
import { pruneJob } from '../../../../plugins/alerts/prune.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld } from '../world.ts'

const receiver = await startReceiver(t)
const app = await startServer(t)
const { query, server } = app

/** What is left of alerts, and of what hangs on them. */
const counts = async () =>
  (
    await query(
      `select (select count(*) from alerts)::int as alerts, (select count(*) from alert_history)::int as moves,
              (select count(*) from deliveries)::int as deliveries,
              (select count(*) from delivery_attempts)::int as attempts`,
    )
  )[0]

t.test('alerts that have been over for 400 days go, with all that was sent of them', async t => {
  const worlds = [await makeWorld(app), await makeWorld(app)]
  for (const world of worlds) {
    const { id } = await world.addDestination({ url: receiver.url })
    await world.ask('POST', `${ALERTS}/destinations/${id}/test`)
    await world.raiseAll(['old', 'young', 'open'].map(cause => ({ cause })))
    await world.recoverAll(['old', 'young'])
  }
  await receiver.received(2 * (1 + 3 + 2))
  const pending = () => query(`select 1 from deliveries where status = 'pending'`)
  while ((await pending()).length > 0) await new Promise(resolve => setTimeout(resolve, 20))
  t.strictSame(await counts(), { alerts: 6, moves: 10, deliveries: 12, attempts: 12 })

  const work = () => pruneJob.work({}, { server, signal: new AbortController().signal } as never)
  await query(
    `update alerts set created_at = now() - interval '600 days',
            resolved_at = case cause when 'old' then now() - interval '401 days' else resolved_at - interval '399 days' end`,
  )
  t.strictSame(await work(), { alerts: 2 }, 'of all companies')
  t.strictSame(await counts(), { alerts: 4, moves: 6, deliveries: 8, attempts: 8 })
  const left = await query('select distinct cause from alerts order by 1')
  t.strictSame(left, [{ cause: 'open' }, { cause: 'young' }], 'what is open stays, however old it is')
})

t.test('a dismissal that lasts stays, so that the failure that it is for raises no alert', async t => {
  const world = await makeWorld(app)
  const { alertId } = await world.raise()
  await world.ask('POST', `${ALERTS}/${alertId}/dismiss`)
  const prune = async () => {
    await query(`update alerts set resolved_at = now() - interval '401 days' where id = $1`, [alertId])
    return pruneJob.work({}, { server, signal: new AbortController().signal } as never)
  }
  t.strictSame(await prune(), { alerts: 0 })
  t.strictSame(await world.raise(), { alertId, isNew: false })
  await world.recover()
  t.strictSame(await prune(), { alerts: 1 })
})

t.test('the deliveries of a removed source can still be read', async t => {
  const world = await makeWorld(app)
  const { id: destinationId } = await world.addDestination({ url: receiver.url })
  const rule = await world.ask('POST', `${ALERTS}/rules`, {
    name: 'Of the shop',
    asset_ids: [world.sourceId],
    destination_ids: [destinationId],
  })
  const path = `${ALERTS}/rules/${rule.body.data.id}`
  const { alertId } = await world.raise()
  t.ok((await world.ask('DELETE', `/api/v1/sdk/assets/${world.sourceId}`)).status < 300)

  const history = await world.ask('GET', `${ALERTS}/${alertId}/history`)
  t.match(history.body.data.data, [{ to_status: 'resolved', reason: 'It is no longer watched' }, {}])
  const listed = await world.ask('GET', `${ALERTS}?asset_id=${world.sourceId}`)
  t.match(listed.body.data.data, [{ id: alertId, status: 'resolved' }])
  const deliveries = await world.ask('GET', `${ALERTS}/${alertId}/deliveries`)
  t.match(
    deliveries.body.data.data.map((delivery: { event_type: string }) => delivery.event_type).toSorted(),
    ['alert.resolved', 'alert.triggered'],
    'its end is sent too',
  )
  const trends = await world.ask('GET', `${ALERTS}/trends?asset_id=${world.sourceId}`)
  t.match(trends.body.data, { opened: 1, resolved: 1, noisiest_assets: [{ alerts: 1 }] })
  const preview = await world.ask('POST', `${ALERTS}/preview`, { rule_id: rule.body.data.id, days_back: 1 })
  t.match(preview.body.data, { matched: 0, told: 0 }, 'its rule names no asset any more')
  t.equal((await world.ask('PATCH', path, { name: 'Of what was the shop' })).status, 200)
  t.match((await world.ask('GET', path)).body.data, { asset_ids: [], is_active: false }, 'it named no other')
  t.equal((await world.ask('PATCH', path, { asset_ids: [world.sourceId] })).status, 404)
})
