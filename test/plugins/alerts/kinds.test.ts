import t from 'tap'
import { openApi } from '../../../server/openapi/openapi.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { startServer } from '../../helpers/server.ts'
import { slackPlace } from './fake-receivers.ts'
import { ALERTS, makeWorld } from './world.ts'

t.test('an extension adds a kind of alert, which is listed, described, selected and sent', async t => {
  const app = await startServer(t, { settings: { EXTENSIONS: './test/helpers/extensions/alert-kind.ts' } })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  receiver.answer(slackPlace)
  const { id } = await world.addDestination(
    { webhook_url: `${receiver.url}/s3cret` },
    { destination_type: 'slack' },
  )
  const type = 'acme_quota_exceeded'
  const rule = { name: 'Quota', event_types: [type], destination_ids: [id] }
  t.equal((await world.ask('POST', `${ALERTS}/rules`, rule)).status, 201)

  await world.raise({ type, cause: 'disk', details: { used: 12, allowed: 10 } })
  const [request] = await receiver.received(1)
  t.match(request!.body, '12 of 10 GB')
  const { body } = await world.ask('GET', `${ALERTS}?event_type=${type}`)
  t.match(body.data.data, [{ event_type: type, alert_type: 'quota' }])
  t.match((await world.ask('GET', `${ALERTS}/trends`)).body.data.by_event_type[type], { opened: 1 })
  t.match(JSON.stringify(openApi(app.server, '/')), type)
  const { body: rules } = await world.ask('GET', `${ALERTS}/rules?limit=1`)
  const listed = rules.data.event_types.find((kind: { event_type: string }) => kind.event_type === type)
  t.strictSame(listed, { event_type: type, alert_type: 'quota', label: 'acme quota exceeded' })

  await t.rejects(world.raise({ type: 'unheard_of' }), /Unknown alert kind "unheard_of"; known are/)
  t.throws(() => app.server.plugins.alerts.addKind({ name: 'late', label: 'late' }), /the server has started/)
})
