import t from 'tap'
import { deliverJob } from '../../../../plugins/alerts/delivery/job-kinds.ts'
import { makeFaultyWorld } from '../../../helpers/faulty-world.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { discover } from '../../../helpers/world.ts'
import { ALERTS } from '../world.ts'

const { app, tenant, addSource, logged, faults, hang, mend } = await makeFaultyWorld(t)

const SECRET = 'tok-very-secret-4711'

async function addDestination(body: object): Promise<string> {
  const made = await tenant.ask('POST', `${ALERTS}/destinations`, { name: 'd', ...body })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return made.body.data.id
}
const deliveries = async (id: string) =>
  (await tenant.ask('GET', `${ALERTS}/destinations/${id}/deliveries`)).body.data.data

t.test(
  'a destination that cannot compose costs its own message, and neither the check nor others',
  async t => {
    const receiver = await startReceiver(t)
    await addDestination({ destination_type: 'webhook', config: { url: receiver.url } })
    let alerts = 0
    for (const fault of [
      () => {
        throw new TypeError('compose blew up')
      },
      () => undefined,
      () => Promise.reject(new Error('too late')),
      () => '',
    ]) {
      // A new one: a destination that has failed gets its messages in another queue.
      const bad = await addDestination({ destination_type: 'badhook', config: { to: 'x' } })
      const { asset } = await addSource()
      await discover({ app, tenant, asset })
      const rule = await tenant.ask('POST', `/api/v1/sdk/validity/${asset.id}`, {
        ...{ rule_type: 'NOT_NULL', table_path: 'orders', column_name: 'total' },
      })
      faults.compose = fault
      logged()
      const path = `/api/v1/sdk/validity/${asset.id}/${rule.body.data.id}`
      const checked = await tenant.ask('POST', `${path}/check`)
      t.match(checked, { status: 200, body: { data: { status: 'fail', invalid_count: 1 } } })
      t.match(logged(), /"call":"compose","extension":"destination type badhook"/)
      alerts += 1
      await receiver.received(alerts)
      const [newest] = await deliveries(bad)
      await app.server.jobs.settled(deliverJob, ({ delivery_id: id }) => id === newest.id)
      const error_message = 'The destination type badhook could not compose the message; the log has more'
      t.match((await deliveries(bad))[0], {
        id: newest.id,
        status: 'failed',
        attempts: [{ n: 1, error_class: 'configuration', error_message }],
      })
      mend()
    }
  },
)

t.test('an attempt that throws, never ends or gives no outcome has failed, in words of ours', async t => {
  const id = await addDestination({ destination_type: 'badhook', config: { to: 'x', token: SECRET } })
  const test = async () => {
    const { body } = await tenant.ask('POST', `${ALERTS}/destinations/${id}/test`)
    t.notMatch(JSON.stringify(body), SECRET)
    return body.data
  }
  t.match(await test(), { success: true })
  const threw = 'The destination type badhook threw an error; the log has more'
  const basic = Buffer.from(`user:${SECRET}`).toString('base64')
  for (const fault of [
    () => {
      throw new Error(`POST https://x/${SECRET} failed`)
    },
    () => Promise.reject(Object.assign(new Error('no'), { headers: { auth: `Basic ${basic}` } })),
    () => ({
      then: (_: unknown, reject: (reason: null) => void) => reject(null),
    }),
  ]) {
    faults.deliver = fault
    logged()
    t.match(await test(), { success: false, error_class: 'configuration', message: threw })
    t.match(logged(), /"extension":"destination type badhook"/)
  }
  const good = { isDelivered: true, statusCode: 200, errorClass: null, errorMessage: null, latencyMs: 1 }
  const outcome = { ...good, address: null, tlsVersion: null, responseBody: null }
  for (const [answer, said] of [
    [undefined, 'an object is required'],
    [{}, 'isDelivered must be a boolean'],
    [{ ...outcome, statusCode: '200' }, 'statusCode must be an integer or null'],
    [{ ...outcome, responseBody: undefined }, 'responseBody must be a string or null'],
    [{ ...outcome, served: 'all' }, 'served must be an array of strings, or left out'],
  ] as const) {
    faults.deliver = async () => answer
    const message = `The destination type badhook returned a wrong outcome of deliver: ${said}`
    t.match(await test(), { success: false, error_class: 'configuration', message })
  }
  faults.deliver = async () => ({ ...outcome, isDelivered: false, errorClass: 'mine' })
  const unknown = { success: false, error_class: 'other', message: 'The destination gave no reason' }
  t.match(await test(), unknown, 'an attempt without an error would count as a success')
})

t.test('an attempt that never ends has timed out', async t => {
  const id = await addDestination({ destination_type: 'badhook', config: { to: 'x' } })
  Object.assign(app.server.deadlines, { deliver: 50 })
  let aborted = 0
  faults.deliver = ((_: unknown, { signal }: { signal: AbortSignal }) => {
    signal.addEventListener('abort', () => void aborted++)
    return hang()
  }) as never
  const { body } = await tenant.ask('POST', `${ALERTS}/destinations/${id}/test`)
  const message = /^The destination type badhook did not end deliver within 0.05 s/
  t.match(body.data, { success: false, error_class: 'timeout', message })
  t.equal(aborted, 1)
})

t.test('a type that cannot say whether it is available keeps no other from the list', async t => {
  faults.unavailable = () => {
    throw new Error('no')
  }
  const { status, body } = await tenant.ask('GET', `${ALERTS}/destination-types`)
  t.equal(status, 200)
  const unavailable = 'The destination type badhook threw an error; the log has more'
  t.match(
    body.data.items.find((each: { destination_type: string }) => each.destination_type === 'badhook'),
    { unavailable },
  )
  const refused = await tenant.ask('POST', `${ALERTS}/destinations`, {
    ...{ name: 'd', destination_type: 'badhook', config: { to: 'x' } },
  })
  t.match(refused, { status: 400, body: { error: { message: new RegExp(unavailable) } } })
})

t.test('an alert kind that throws costs its own words, and no list and no other message', async t => {
  const id = await addDestination({ destination_type: 'badhook', config: { to: 'x' } })
  faults.facts = () => {
    throw new Error('no')
  }
  faults.ruleIdOf = () => Promise.reject(new Error('too late'))
  await app.server.db.company(tenant.companyId, trx =>
    app.server.plugins.alerts.raise(trx, {
      type: 'bad_kind',
      cause: 'x',
      severity: 'warning',
      sourceId: null,
      asset: { id: tenant.companyId, qualifiedName: 'x', assetType: 'table' },
      ruleName: 'x',
      title: 'It is bad',
      details: {},
    }),
  )
  const { body } = await tenant.ask('GET', ALERTS)
  t.match(
    body.data.data.find((alert: { title: string }) => alert.title === 'It is bad'),
    { rule_id: null },
  )
  const [newest] = await deliveries(id)
  await app.server.jobs.settled(deliverJob, data => data.delivery_id === newest.id)
  t.match((await deliveries(id))[0], { status: 'delivered' })
})
