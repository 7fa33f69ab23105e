import t from 'tap'
import type { AttemptData } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import { deliverJob, retryJob } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import { sweepJob } from '../../../../plugins/alerts/jobs.ts'
import { startReceiver, type Received } from '../../../helpers/receiver.ts'
import { startServer, type TestServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld } from '../world.ts'

const started = (n: number, deliveryId?: string) => (data: AttemptData) =>
  data.n === n && (deliveryId === undefined || data.delivery_id === deliveryId)

const typesOf = (requests: readonly Received[]) => requests.map(({ body }) => JSON.parse(body).event_type)

t.test('that an alert is over never overtakes that it was opened', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0,0.5' } })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const { id } = await world.addDestination({ url: receiver.url })
  receiver.answer(500, 200)
  await world.raise()
  await app.server.jobs.settled(deliverJob, started(1))
  await world.recover()
  t.match(await app.query(`select job_id from deliveries where event_type = 'alert.resolved'`), [
    { job_id: null },
  ])
  t.strictSame(typesOf(await receiver.received(3)), ['alert.triggered', 'alert.triggered', 'alert.resolved'])

  t.test('also when the first message ends badly, and in the moment of the recovery', async t => {
    receiver.answer((_request, response) => {
      // The recovery comes while the last attempt is on its way.
      void world.recover('rule:2').then(() => response.writeHead(500).end())
    }, 200)
    await app.query('update destinations set failing_since = now()')
    const { alertId } = await world.raise({ cause: 'rule:2' })
    const last = await receiver.received(5)
    t.strictSame(typesOf(last.slice(3)), ['alert.triggered', 'alert.triggered'])
    t.equal(typesOf(await receiver.received(6)).at(-1), 'alert.resolved')
    t.equal(JSON.parse(receiver.requests.at(-1)?.body ?? '').alert.id, alertId)
  })

  t.test('also when the first message is stopped', async t => {
    receiver.answer(500)
    const { alertId } = await world.raise({ cause: 'rule:3' })
    await receiver.received(7)
    await world.recover('rule:3')
    await world.ask('PATCH', `${ALERTS}/destinations/${id}`, { is_active: false })
    const ended = async () =>
      app.query(
        `select status from deliveries where alert_id = $1 and status in ('stopped', 'failed') order by id`,
        [alertId],
      )
    while ((await ended()).length < 2) await new Promise(resolve => setTimeout(resolve, 50))
    t.match((await ended()).at(-1), { status: 'stopped' })
  })
})

t.test('the sweep leaves a message alone that waits, and starts it when nothing is before it', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '3600' } })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  await world.addDestination({ url: receiver.url })
  await world.raise()
  await world.recover()
  const resent = async () => {
    const id = await app.server.jobs.send(sweepJob, {})
    for (;;) {
      const [job] = await app.query(`select output from pgboss.job where id = $1 and state = 'completed'`, [
        id,
      ])
      if (job) return (job.output as { resent: number }).resent
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
  await app.query(`update deliveries set created_at = now() - interval '5 minutes'`)
  t.equal(await resent(), 0)
  await app.query(`update deliveries set status = 'stopped' where event_type = 'alert.triggered'`)
  t.equal(await resent(), 1)
  t.strictSame(typesOf(await receiver.received(1)), ['alert.resolved'])
})

t.test(
  'a destination that nothing reaches for five days is switched off, and the others hear of it',
  async t => {
    const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0' } })
    const world = await makeWorld(app)
    const [dead, well] = [await startReceiver(t), await startReceiver(t)]
    const { id } = await world.addDestination({ url: dead.url }, { name: 'Dead' })
    const path = `${ALERTS}/destinations/${id}`
    dead.answer(500)
    const swept = async () => {
      const jobId = await app.server.jobs.send(sweepJob, {})
      for (;;) {
        const [job] = await app.query(`select output from pgboss.job where id = $1 and state = 'completed'`, [
          jobId,
        ])
        if (job) return (job.output as { disabled: number }).disabled
        await new Promise(resolve => setTimeout(resolve, 50))
      }
    }
    const failingSince = async () => (await world.ask('GET', path)).body.data.failing_since
    const fail = async (cause: string) => {
      const { alertId } = await world.raise({ cause })
      const [delivery] = await app.query('select id from deliveries where alert_id = $1', [alertId])
      return String(delivery?.id)
    }

    t.equal(await failingSince(), null)
    await app.server.jobs.settled(deliverJob, started(1, await fail('rule:1')))
    t.type(await failingSince(), 'string')
    dead.answer(200)
    await app.server.jobs.settled(retryJob, started(1, await fail('rule:2')))
    t.equal(await failingSince(), null, 'a success ends it')
    dead.answer(500)
    await app.server.jobs.settled(deliverJob, started(1, await fail('rule:3')))
    await app.query(`update destinations set failing_since = now() - interval '6 days'`)
    await app.query(
      `update deliveries set created_at = now() - interval '6 days', completed_at = now() - interval '6 days'`,
    )
    t.equal(await swept(), 0, 'one failure long ago is not five days of them')
    await app.server.jobs.settled(retryJob, started(1, await fail('rule:4')))
    await world.addDestination({ url: well.url }, { name: 'Well' })
    t.equal(await swept(), 1)
    t.match((await world.ask('GET', path)).body.data, {
      is_active: false,
      disabled_reason: /Every attempt has failed since/,
    })
    const [request] = await well.received(1)
    t.match(JSON.parse(request?.body ?? ''), {
      event_type: 'alert.triggered',
      alert: { alert_type: 'destination', severity: 'warning' },
      event: { asset: { qualified_name: 'Dead', asset_type: 'destination' } },
    })
    t.match(await app.query(`select actor, target_id from audit_log where action = 'destination.disabled'`), [
      { actor: 'system', target_id: id },
    ])
    t.equal(await swept(), 0)

    await world.ask('PATCH', path, { is_active: true })
    t.strictSame(typesOf(await well.received(2)), ['alert.triggered', 'alert.resolved'])
    t.equal(dead.requests.length, 4, 'it is not notified of itself')
  },
)

t.test('eight silent receivers do not delay the others', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0' } })
  const world = await makeWorld(app)
  const [silent, well] = [await startReceiver(t), await startReceiver(t)]
  silent.answer(() => undefined)
  for (let n = 0; n < 8; n += 1) await world.addDestination({ url: `${silent.url}/${n}` })
  await world.raiseAll(Array.from({ length: 10 }, (_, n) => ({ cause: `rule:${n}` })))
  await silent.received(8 * 3)
  await world.addDestination({ url: well.url })
  await world.raise({ cause: 'rule:well' })
  await well.received(1)
  const ended = await app.query(`select from delivery_attempts where error_class = 'timeout'`)
  t.equal(ended.length, 0, 'before any of them is given up on')
  const [active] = await app.query(
    `select max(n)::int as most from (select count(*) as n from pgboss.job where name = 'alerts.deliver' and state = 'active' group by group_id) x`,
  )
  t.ok(Number(active?.most) <= 3, `at most three first attempts at once to one destination: ${active?.most}`)
})

/** Runs the sweep. @returns what it did */
async function sweepOnce({ server, query }: TestServer): Promise<Record<string, number>> {
  const id = await server.jobs.send(sweepJob, {})
  for (;;) {
    const [job] = await query(`select output from pgboss.job where id = $1 and state = 'completed'`, [id])
    if (job) return job.output as Record<string, number>
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

t.test(
  'what was lost on its way to a destination that is failing queues with the later attempts',
  async t => {
    const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '3600' } })
    const world = await makeWorld(app)
    const receiver = await startReceiver(t)
    await world.addDestination({ url: receiver.url })
    const queueOf = async () => {
      await app.query(`delete from pgboss.job where name in ('alerts.deliver', 'alerts.retry')`)
      await app.query(`update deliveries set next_attempt_at = now() - interval '5 minutes'`)
      t.match(await sweepOnce(app), { resent: 1 })
      await receiver.received(receiver.requests.length || 1)
      const [job] = await app.query(
        `select j.name from pgboss.job j join deliveries d on d.job_id = j.id order by d.id desc limit 1`,
      )
      return job?.name
    }
    await world.raise({ cause: 'rule:1' })
    t.equal(await queueOf(), 'alerts.deliver')
    // The receiver has it before its delivery is stored as done; until then it would be sent again with the next.
    while ((await app.query(`select from deliveries where status = 'pending'`)).length > 0)
      await new Promise(resolve => setTimeout(resolve, 20))
    await world.raise({ cause: 'rule:2' })
    await app.query('update destinations set failing_since = now()')
    t.equal(await queueOf(), 'alerts.retry')
  },
)

t.test('an alert has failed when the last destination that could have got it is gone', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '3600' } })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const [first, last] = [
    await world.addDestination({ url: `${receiver.url}/first` }),
    await world.addDestination({ url: `${receiver.url}/last` }),
  ]
  const failFirst = () =>
    app.query(
      `update deliveries set status = 'failed', completed_at = now() where destination_id = $1 and status = 'pending'`,
      [first.id],
    )
  const isFailed = async (alertId: string) =>
    (await app.query('select delivery_failed from alerts where id = $1', [alertId]))[0]?.delivery_failed

  const { alertId: deleted } = await world.raise({ cause: 'rule:1' })
  await failFirst()
  t.equal(await isFailed(deleted), false)
  await world.ask('DELETE', `${ALERTS}/destinations/${last.id}`)
  t.equal(await isFailed(deleted), true, 'deleted')

  const hopeless = await world.addDestination({ url: `${receiver.url}/hopeless` })
  const { alertId: off } = await world.raise({ cause: 'rule:2' })
  await failFirst()
  await app.query(`update destinations set failing_since = now() - interval '6 days' where id = $1`, [
    hopeless.id,
  ])
  t.match(await sweepOnce(app), { disabled: 0 })
  t.strictSame(
    (await world.deliveries(hopeless.id)).map(({ status }) => status),
    ['pending'],
    'one that nothing has failed for good at stays on, and what is on its way goes on',
  )
  const { alertId: failed } = await world.raise({ cause: 'rule:3' })
  await app.query(
    `update deliveries set status = 'failed', completed_at = now() where destination_id = $1 and alert_id = $2`,
    [hopeless.id, failed],
  )
  t.match(await sweepOnce(app), { disabled: 1 })
  t.equal(await isFailed(off), true, 'switched off')
})
