import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { passTime, sweepStep } from '../time.ts'
import { ALERTS, makeWorld, type World } from '../world.ts'
import { fromNow, listSent, mute, wait, WINDOWS } from './world.ts'

const app = await startServer(t, { settings: { ROLE: 'web' } })
const url = 'https://127.0.0.1:9/hook'

t.beforeEach(() => app.query('delete from rate_windows'))

async function makeMuted(filters: object = {}): Promise<World & { destinationId: string; windowId: string }> {
  const world = await makeWorld(app)
  const { id: destinationId } = await world.addDestination({ url })
  return { ...world, destinationId, windowId: await mute(world.ask, filters) }
}

t.test('an alert in a mute window is shown and not sent, until the window ends', async t => {
  const { raise, ask, destinationId, companyId } = await makeMuted()
  const { alertId } = await raise()
  const { body } = await ask('GET', `${ALERTS}/${alertId}`)
  t.match(body.data, { status: 'triggered' })
  t.ok(Date.parse(body.data.muted_until) > Date.now())
  t.strictSame(await listSent(app, destinationId), [])
  t.equal(await wait(app, companyId, 30), 0)
  t.strictSame(await listSent(app, destinationId), [])
  t.equal(await wait(app, companyId, 31), 1)
  t.equal(await wait(app, companyId, 1), 0, 'once')
  t.strictSame(await listSent(app, destinationId), ['alert.triggered'])
  t.match((await ask('GET', `${ALERTS}/${alertId}`)).body.data, { muted_until: null })
})

t.test('what came and went in a window is not sent, and neither is its end', async t => {
  const { raise, recover, destinationId, companyId } = await makeMuted()
  await raise()
  await recover()
  await wait(app, companyId, 61)
  t.strictSame(await listSent(app, destinationId), [])
})

t.test('the end of an alert that was sent before the window is sent at once', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  await world.raise()
  await mute(world.ask)
  await world.recover()
  t.equal((await world.deliveries(id)).length, 2)
  t.match(await world.deliveries(id), [{ event_type: 'alert.resolved' }, { event_type: 'alert.triggered' }])
})

t.test('an alert that gets worse in a window waits as well', async t => {
  const { raise, destinationId, companyId } = await makeMuted()
  await raise()
  await raise({ severity: 'critical' })
  t.strictSame(await listSent(app, destinationId), [])
  t.equal(await wait(app, companyId, 61), 1)
  t.strictSame(await listSent(app, destinationId), ['alert.triggered'])
})

t.test('windows select by source, table, schema and tag, all of which must match', async t => {
  const world = await makeWorld(app)
  const { alertId } = await world.raise()
  const { sourceId } = world
  const other = await world.addSource('other')
  const isMuted = async (filters: object) => {
    const id = await mute(world.ask, filters)
    const { body } = await world.ask('GET', `${ALERTS}/${alertId}`)
    await world.ask('DELETE', `${WINDOWS}/${id}`)
    return body.data.muted_until !== null
  }
  t.equal(await isMuted({}), true)
  t.equal(await isMuted({ asset_ids: [sourceId] }), true)
  t.equal(await isMuted({ asset_ids: [other] }), false)
  t.equal(await isMuted({ schemas: ['shop.shop.public'] }), true)
  t.equal(await isMuted({ schemas: ['shop.shop.pub'] }), false)
  t.equal(await isMuted({ tags: ['money', 'other'] }), true)
  t.equal(await isMuted({ tags: ['other'] }), false)
  t.equal(await isMuted({ asset_ids: [sourceId], tags: ['other'] }), false)
  t.equal(await isMuted({ is_active: false }), false)
})

t.test('a window can be ended, and prolonged, while it is open', async t => {
  const { raise, ask, destinationId, windowId, companyId } = await makeMuted()
  await raise()
  await ask('PATCH', `${WINDOWS}/${windowId}`, { ends_at: fromNow(120) })
  t.equal(await wait(app, companyId, 61), 0, 'the new end holds for what waited already')
  t.strictSame(await listSent(app, destinationId), [])
  await ask('PATCH', `${WINDOWS}/${windowId}`, { is_active: false })
  t.equal(await sweepStep(app.server, 'postponed'), 1)
  t.strictSame(await listSent(app, destinationId), ['alert.triggered'])
})

t.test('a deleted window sends what waited for its end', async t => {
  const { raise, ask, destinationId, windowId } = await makeMuted()
  await raise()
  await ask('DELETE', `${WINDOWS}/${windowId}`)
  t.equal(await sweepStep(app.server, 'postponed'), 1)
  t.strictSame(await listSent(app, destinationId), ['alert.triggered'])
})

t.test('a snooze that ends in a window reminds once, when the window ends', async t => {
  const world = await makeWorld(app)
  const { id } = await world.addDestination({ url })
  const { alertId } = await world.raise()
  await mute(world.ask, {}, 180)
  for (const _ of [1, 2]) {
    await world.ask('POST', `${ALERTS}/${alertId}/snooze`, { duration_minutes: 10 })
    await app.query(
      `update deliveries set status = 'delivered', completed_at = now() where job_id is not null and destination_id = $1`,
      [id],
    )
    await passTime(app, world.companyId, 11)
    await sweepStep(app.server, 'woken')
  }
  t.strictSame(await listSent(app, id), ['alert.triggered'])
  await app.query('update mute_windows set ends_at = now() where company_id = $1', [world.companyId])
  await passTime(app, world.companyId, 200)
  t.equal(await sweepStep(app.server, 'postponed'), 1)
  const messages = await app.query('select body from deliveries where destination_id = $1 order by id', [id])
  t.equal(messages.length, 2)
  t.ok(JSON.parse(String(messages[1]?.body)).alert.reminded_at)
})

t.test('the times of a window are checked', async t => {
  const { ask } = await makeWorld(app)
  const hours = [{ days: [1], start: '22:00', end: '06:00' }]
  const weekly = { name: 'Night', timezone: 'Europe/Berlin', rules: hours }
  const refused = async (body: object, field: string) =>
    t.match(await ask('POST', WINDOWS, { name: 'x', ...body }), {
      status: 400,
      body: { error: { details: { errors: [{ field }] } } },
    })
  await refused({}, 'ends_at')
  await refused({ starts_at: fromNow(2), ends_at: fromNow(1) }, 'ends_at')
  await refused({ ends_at: fromNow(600_000) }, 'ends_at')
  await refused({ rules: hours }, 'timezone')
  await refused({ ...weekly, ends_at: fromNow(1) }, 'ends_at')
  await refused({ timezone: 'Europe/Berlin', ends_at: fromNow(1) }, 'timezone')
  const { status, body } = await ask('POST', WINDOWS, weekly)
  t.match({ status, body }, { status: 201, body: { data: { rules: hours, starts_at: null, ends_at: null } } })
  const path = `${WINDOWS}/${body.data.id}`
  t.match(await ask('PATCH', path, { timezone: null }), { status: 400 })
  const changed = { timezone: null, rules: null, ends_at: fromNow(5) }
  t.match((await ask('PATCH', path, changed)).body.data, { timezone: null, muted_until: changed.ends_at })
  t.match((await ask('GET', WINDOWS)).body.data, { mute_windows: [{ id: body.data.id }] })
  const missing = await ask('GET', `${WINDOWS}/${randomUUID()}`)
  t.match(missing, { status: 404, body: { error: { code: 'NOT_FOUND' } } })
  t.match(await ask('POST', WINDOWS, { name: 'x', ends_at: fromNow(1), asset_ids: [randomUUID()] }), {
    status: 404,
    body: { error: { code: 'ASSET_NOT_FOUND' } },
  })
})
