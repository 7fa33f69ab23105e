import t from 'tap'
import { startServer } from '../../../helpers/server.ts'
import { goForward, makePipeline } from '../incidents/world.ts'
import { passTime, sweepStep } from '../time.ts'
import { ALERTS } from '../world.ts'

const app = await startServer(t, { settings: { INCIDENT_DELAY_SECONDS: '0' } })
const url = 'https://127.0.0.1:9/hook'

t.test('a step is taken again for an incident that comes back after its end was sent', async t => {
  const { raise, recover, ask, tenant, list } = await makePipeline(app, ['raw'], [])
  const add = async (name: string): Promise<string> => {
    const body = { name, destination_type: 'webhook', messages: 'incidents', config: { url } }
    return (await ask('POST', `${ALERTS}/destinations`, body)).body.data.id
  }
  const [first, second] = [await add('first'), await add('second')]
  const rule = await ask('POST', `${ALERTS}/rules`, {
    ...{ name: 'All', destination_ids: [first] },
    escalation: [{ after_minutes: 30, destination_ids: [second] }],
  })
  t.equal(rule.status, 201)
  const takeStep = async () => {
    await passTime(app, tenant.companyId, 31)
    await app.query(
      `update alert_escalations set started_at = started_at - interval '31 minutes', due_at = due_at - interval '31 minutes'
        where company_id = $1`,
      [tenant.companyId],
    )
    await sweepStep(app.server, 'escalated')
  }
  const sent = async () =>
    (
      await app.query(
        `select event_type, body from deliveries where destination_id = $1 and status <> 'stopped' order by id`,
        [second],
      )
    ).map(({ body }) => JSON.parse(String(body)).event_type)
  await raise('raw stale')
  await takeStep()
  t.strictSame(await sent(), ['incident.opened'])
  await recover('raw stale')
  t.strictSame(await sent(), ['incident.opened', 'incident.resolved'])
  await goForward(app, 20)
  await raise('raw stale')
  t.equal((await list()).length, 1, 'it is the same incident')
  await takeStep()
  t.strictSame(await sent(), ['incident.opened', 'incident.resolved', 'incident.updated'])
})
