import t from 'tap'
import { WORKER_CONNECTIONS } from '../../../../server/jobs/jobs.ts'
import { sweepJob } from '../../../../plugins/alerts/jobs.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer, type TestServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld } from '../world.ts'

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(resolve => setTimeout(resolve, 50))
}

/** Leaves the attempts that wait as a process leaves them that is killed while it makes them. */
async function loseProcess({ query }: TestServer): Promise<void> {
  await query(
    `update deliveries set fence = fence + 1, claimed_by = job_id, claimed_at = now() - interval '20 seconds'
      where status = 'pending'`,
  )
  await query(
    `update pgboss.job set state = 'retry', started_on = now() - interval '20 seconds', start_after = now(),
            output = '{"value": {"message": "job heartbeat timeout"}}'
      where id in (select job_id from deliveries where status = 'pending')`,
  )
}

const attempted = ({ query }: TestServer, n: number) =>
  until(async () => (await query('select from deliveries where attempt >= $1', [n])).length > 0)

/** Starts a server on which no attempt is made before its process is lost, and raises an alert. */
async function startLosing(t: Parameters<typeof startServer>[0], delays: string) {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: delays } })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const { id } = await world.addDestination({ url: receiver.url })
  const { alertId } = await world.raise()
  return { app, world, receiver, id, alertId }
}

t.test(
  'an attempt whose process was lost is recorded as one of the five, and the next one follows',
  async t => {
    const { app, world, receiver, id } = await startLosing(t, '3600,0.2,0,0,0')
    await loseProcess(app)
    const [request] = await receiver.received(1)
    t.equal(request?.headers['x-service-attempt'], '2')
    await attempted(app, 2)
    const [delivery] = await world.deliveries(id)
    t.match(delivery, { status: 'delivered', attempt_count: 2 })
    t.match(delivery?.attempts, [
      {
        n: 1,
        trigger: 'automatic',
        status_code: null,
        error_class: 'interrupted',
        error_message: /process .* was lost/,
        request_id: String,
        is_slow: false,
      },
      { n: 2, status_code: 200, error_class: null },
    ])
    t.match(await app.query('select failing_since from destinations'), [{ failing_since: null }])
    const [job] = await app.query(
      `select data from pgboss.job where name = 'alerts.deliver' and state = 'completed'`,
    )
    t.notMatch(job?.data, { _crashes: Number }, 'crashes of the job are not counted')
  },
)

t.test(
  'after five lost attempts the delivery has failed, and none is left out or recorded twice',
  async t => {
    const { app, world, receiver, id, alertId } = await startLosing(t, '3600,3600,3600,3600,3600')
    for (let n = 1; n <= 5; n += 1) {
      await loseProcess(app)
      await attempted(app, n)
    }
    const [delivery] = await world.deliveries(id)
    t.match(delivery, { status: 'failed', attempt_count: 5 })
    t.strictSame(
      delivery?.attempts.map(({ n, error_class: errorClass }) => [n, errorClass]),
      [1, 2, 3, 4, 5].map(n => [n, 'interrupted']),
    )
    t.equal(new Set(delivery?.attempts.map(({ request_id: requestId }) => requestId)).size, 5)
    t.match((await world.ask('GET', `${ALERTS}/${alertId}`)).body.data, { delivery_failed: true })
    t.equal(receiver.requests.length, 0)
    t.strictSame(await app.query('select from destination_slots'), [])
  },
)

t.test('an attempt that its process hands back in order is made again and counts once', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0' } })
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  receiver.answer(() => undefined, 200)
  const { id } = await world.addDestination({ url: receiver.url })
  await world.raise()
  await receiver.received(1)
  await app.server.jobs.drain({ finishMs: 50, letGoMs: 5_000 })
  t.match(await app.query('select claimed_by, attempt from deliveries'), [{ claimed_by: null, attempt: 0 }])
  t.strictSame(await app.query('select from destination_slots'), [], 'its slot is free')
  await app.startTwin()
  await receiver.received(2)
  await attempted(app, 1)
  t.match(await world.deliveries(id), [
    { status: 'delivered', attempts: [{ n: 1, status_code: 200, error_class: null }] },
  ])
})

t.test('a claim that lapsed while the database was away is no lost process', async t => {
  const { app, world, receiver, id } = await startLosing(t, '3600')
  await app.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = '${WORKER_CONNECTIONS}'`,
  )
  await loseProcess(app)
  await receiver.received(1)
  await attempted(app, 1)
  t.match(await world.deliveries(id), [
    { status: 'delivered', attempts: [{ n: 1, status_code: 200, error_class: null }] },
  ])
})

t.test('an attempt whose job died with its processes is recorded, and the delivery goes on', async t => {
  const { app, world, receiver, id } = await startLosing(t, '3600,0.2,0,0,0')
  await app.query(
    `update deliveries set fence = 4, claimed_by = job_id, claimed_at = now() - interval '3 minutes',
            next_attempt_at = now() - interval '5 minutes'`,
  )
  // As the version before parked a job that three processes did not survive.
  await app.query(
    `update pgboss.job set name = 'jobs.dead', source_name = name, source_id = id, source_root_id = id,
            source_output = '{"name": "Crashed"}'
      where id in (select job_id from deliveries)`,
  )
  await app.server.jobs.send(sweepJob, {})
  await receiver.received(1)
  await attempted(app, 2)
  t.match(await world.deliveries(id), [
    {
      status: 'delivered',
      attempts: [
        { n: 1, error_class: 'interrupted' },
        { n: 2, status_code: 200 },
      ],
    },
  ])
})
