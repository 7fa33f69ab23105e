import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { failedOutcome, type DeliveryOutcome } from '../../../../plugins/alerts/destinations/destination.ts'
import { recordHealth } from '../../../../plugins/alerts/delivery/health.ts'
import { Destination, type DeliveryTrigger } from '../../../../plugins/alerts/models.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer, type TestServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld } from '../world.ts'

const causes = (count: number, label: string) =>
  Array.from({ length: count }, (_, n) => ({ cause: `${label}:${n}` }))

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(resolve => setTimeout(resolve, 50))
}

/** A receiver that answers when it is asked to, and notes how many requests it had open at once. */
async function startHolding(t: Test) {
  const receiver = await startReceiver(t)
  const open: ServerResponse[] = []
  let most = 0
  receiver.answer((_request, response) => {
    open.push(response)
    most = Math.max(most, open.length)
  })
  return {
    receiver,
    most: () => most,
    answer: (status: number, count = Infinity) =>
      void open.splice(0, count).forEach(response => response.writeHead(status).end()),
  }
}

const typeOf = (request?: { body: string }) => JSON.parse(request?.body ?? '{}').event_type

const slots = ({ query }: TestServer) => query('select is_waiting from destination_slots order by is_waiting')

const shared = await startServer(t, { settings: { WEBHOOK_DELAYS: '0' } })

t.test('a test waits for a slot of its destination, before later attempts', async t => {
  const app = shared
  const world = await makeWorld(app)
  const { receiver, answer, most } = await startHolding(t)
  const { id } = await world.addDestination({ url: receiver.url })
  await world.raiseAll(causes(3, 'first'))
  await receiver.received(3)
  await app.query('update destinations set failing_since = now()')
  await world.raise({ cause: 'later' })
  await receiver.received(4)

  const testing = world.ask('POST', `${ALERTS}/destinations/${id}/test`)
  await until(async () => (await slots(app)).some(({ is_waiting: isWaiting }) => isWaiting))
  await app.query('update destinations set failing_since = null')
  await world.raise({ cause: 'after the test' })
  t.equal(receiver.requests.length, 4)
  answer(200, 1)
  t.equal(typeOf((await receiver.received(5))[4]), 'alert.test')
  answer(200)
  t.match(await testing, { status: 200, body: { data: { success: true, status_code: 200 } } })
  await receiver.received(6)
  answer(200)
  await until(async () => (await slots(app)).length === 0)
  t.equal(most(), 4)
})

t.test('a destination is tested at most ten times a minute', async t => {
  const app = shared
  const [world, other] = [await makeWorld(app), await makeWorld(app, 'Other')]
  const receiver = await startReceiver(t)
  const [first, second] = [
    await world.addDestination({ url: receiver.url }),
    await world.addDestination({ url: receiver.url }),
  ]
  const path = ({ id }: { id: string }) => `${ALERTS}/destinations/${id}/test`
  t.equal((await other.ask('POST', path(first))).status, 404)
  for (let n = 0; n < 10; n += 1) {
    // The plan's limit of requests a second is another one.
    await app.query(`delete from rate_windows where name like 'key:%'`)
    t.equal((await world.ask('POST', path(first))).status, 200)
  }
  await app.query(`delete from rate_windows where name like 'key:%'`)
  const refused = await world.ask('POST', path(first))
  t.match(refused, { status: 429, body: { error: { code: 'RATE_LIMITED' } } })
  t.ok(Number(refused.headers['retry-after']) >= 1)
  t.equal((await world.ask('POST', path(second))).status, 200)
  t.equal(receiver.requests.length, 11)
})

t.test('a silent destination has one request in flight until it answers', async t => {
  const app = await startServer(t, { settings: { WEBHOOK_DELAYS: '0' } })
  const world = await makeWorld(app)
  const { receiver, answer, most } = await startHolding(t)
  await world.addDestination({ url: receiver.url })
  await app.query('update destinations set silent_since = now()')
  await world.raiseAll(causes(4, 'first'))
  await receiver.received(1)
  // Those that came to a worker while the slot was taken wait among the later attempts.
  await until(
    async () =>
      (await app.query(`select from pgboss.job where name = 'alerts.retry' and state = 'created'`)).length >
      0,
  )
  t.equal(most(), 1)
  answer(500)
  await until(async () => {
    // Each look for a slot comes some 20 s after the one before.
    await app.query(
      `update pgboss.job set start_after = now() where name = 'alerts.retry' and state = 'created'`,
    )
    answer(200)
    return (await app.query(`select from deliveries where status = 'pending'`)).length === 0
  })
  t.match(await app.query('select silent_since from destinations'), [{ silent_since: null }])
  t.equal(receiver.requests.length, 4, 'each is sent once')
})

t.test('an outcome changes the health of its destination', async t => {
  const app = await startServer(t)
  const world = await makeWorld(app)
  const receiver = await startReceiver(t)
  const { id } = await world.addDestination({ url: receiver.url })
  const outcomes: [
    string,
    DeliveryOutcome,
    DeliveryTrigger,
    (was: boolean) => [failing: boolean, silent: boolean],
  ][] = [
    [
      'delivered',
      { ...failedOutcome('', ''), isDelivered: true, errorClass: null },
      'automatic',
      () => [false, false],
    ],
    ['an answer', { ...failedOutcome('status', ''), statusCode: 500 }, 'automatic', () => [true, false]],
    ['no answer', failedOutcome('timeout', ''), 'automatic', () => [true, true]],
    ['no connection', failedOutcome('connect', ''), 'automatic', was => [true, was]],
    ['no answer to a person', failedOutcome('timeout', ''), 'manual', was => [was, true]],
    ['a lost process', failedOutcome('interrupted', ''), 'automatic', was => [was, was]],
  ]
  for (const [name, outcome, trigger, expected] of outcomes) {
    for (const was of [false, true]) {
      await app.query(
        `update destinations set failing_since = case when $1 then now() end, silent_since = case when $1 then now() end`,
        [was],
      )
      await app.server.db.company(world.companyId, async trx => {
        const destination = await Destination.query(trx).findById(id).throwIfNotFound()
        await recordHealth(trx, { delivery: { trigger }, destination }, outcome)
      })
      const [found] = await app.query('select failing_since, silent_since from destinations')
      const isSet = [found?.failing_since !== null, found?.silent_since !== null]
      t.strictSame(isSet, expected(was), `${name}, ${was ? 'failing' : 'well'} before`)
    }
  }
})
