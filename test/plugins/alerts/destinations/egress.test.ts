import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import Joi from 'joi'
import t from 'tap'
import { openEgress } from '../../../../plugins/alerts/delivery/egress.ts'
import { testDestination } from '../../../../plugins/alerts/destinations/conformance.ts'
import {
  failedOutcome,
  answeredOutcome,
  type DestinationType,
} from '../../../../plugins/alerts/destinations/destination.ts'
import { makeFaultyWorld } from '../../../helpers/faulty-world.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { ALERTS } from '../world.ts'

/** A server without TLS that says a line, and answers each line with another. */
async function startLineServer(t: { teardown(down: () => unknown): unknown }, greeting: string) {
  const server = createServer(socket => {
    socket.on('error', () => undefined)
    socket.write(`${greeting}\r\n`)
    const lines = createInterface(socket).on('error', () => undefined)
    lines.on('line', line => socket.write(`+OK ${line}\r\n`))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as { port: number }).port
}

const open = (allow: string[]) =>
  openEgress({ policy: { allow }, requestId: 'r-1', signal: new AbortController().signal })

t.test('a destination can use any method over TLS', async t => {
  const receiver = await startReceiver(t)
  const { egress } = open(['127.0.0.0/8'])
  for (const [method, body] of [
    ['PUT', 'text'],
    ['GET', undefined],
  ] as const) {
    const sent = await egress.request(receiver.url, { method, headers: { 'x-mine': '1' }, body })
    t.match(sent, { isDelivered: true })
  }
  t.match(
    receiver.requests.map(({ method, headers, body }) => [method, headers['x-request-id'], body]),
    [
      ['PUT', 'r-1', 'text'],
      ['GET', 'r-1', ''],
    ],
  )
  t.match(await open([]).egress.request(receiver.url), { isDelivered: false, errorClass: 'egress_refused' })
})

t.test('a destination can open a connection, which ends with the attempt', async t => {
  const port = await startLineServer(t, 'hello')
  const opened = open(['127.0.0.0/8'])
  const connection = await opened.egress.connect({ host: '127.0.0.1', port, tls: false })
  t.equal(String((await once(connection, 'data'))[0]), 'hello\r\n')
  opened.close()
  t.ok(connection.destroyed)
})

t.test('a connection leads nowhere that the operator does not allow, and says why', async t => {
  const port = await startLineServer(t, 'hello')
  for (const [place, allow, errorClass, message] of [
    [{ host: '127.0.0.1', port }, [], 'egress_refused', /may not be reached from here/],
    [{ host: '127.0.0.1', port, tls: false }, [], 'egress_refused', /may not be reached from here/],
    [{ host: '169.254.169.254', port, tls: false }, ['0.0.0.0/0'], 'egress_refused', /hands out credentials/],
    [{ host: '127.0.0.1', port }, ['127.0.0.0/8'], 'tls', /127\.0\.0\.1/],
    [{ host: '127.0.0.1', port: 1, tls: false }, ['127.0.0.0/8'], 'connect', /refuses connections/],
    [{ host: 'a b', port }, [], 'configuration', /host must be a name/],
    [{ host: '127.0.0.1', port: 70_000 }, [], 'configuration', /port a number/],
  ] as const)
    await t.rejects(open([...allow]).egress.connect(place), { name: 'EgressFailure', errorClass, message })
})

interface LineConfig {
  host: string
  token: string
}

/** A destination over a protocol of lines. */
const lines: DestinationType<LineConfig> = {
  name: 'lines',
  label: 'Lines',
  config: Joi.object<LineConfig>({
    host: Joi.string().required(),
    token: Joi.string().required().meta({ secret: true }),
  }),
  compose: ({ alert }, { heading }, { host, token }) =>
    JSON.stringify({ heading, id: alert.id, host, token }),
  async deliver({ body, severity, event }, { config, egress }) {
    const connection = await egress.connect({ host: config.host, port: 4222, tls: false })
    const answers = createInterface(connection)[Symbol.asyncIterator]()
    connection.write(`${JSON.stringify({ body, severity, type: event?.type })}\r\n`)
    const { value } = (await answers.next()) as { value?: string }
    return value?.startsWith('+OK')
      ? answeredOutcome(200)
      : failedOutcome('protocol', 'The receiver did not accept the message')
  },
}

const accept = (connection: Duplex) =>
  createInterface(connection).on('line', () => connection.write('+OK\r\n'))

t.test('the kit holds a destination that uses a connection of its own', t =>
  testDestination(t, {
    type: lines,
    config: { host: 'queue.example.com', token: 'secret' },
    receive: accept,
  }),
)

t.test('a destination knows the event and the severity, and composes with its config', async t => {
  const { tenant, faults } = await makeFaultyWorld(t)
  const given: unknown[] = []
  faults.compose = (_payload: object, _description: object, config: object) => {
    given.push(config)
    return 'body'
  }
  faults.deliver = (message: object) => {
    given.push(message)
    return answeredOutcome(200)
  }
  const made = await tenant.ask('POST', `${ALERTS}/destinations`, {
    ...{ name: 'd', destination_type: 'badhook', config: { to: 'here', token: 'tok-very-secret-4711' } },
  })
  t.match(made, { status: 201, body: { data: { signing_secret: null } } }, 'it signs nothing')
  const { id } = made.body.data
  await tenant.ask('POST', `${ALERTS}/destinations/${id}/test`)
  t.match(given, [
    { to: 'here', token: '********' },
    { severity: 'info', event: { type: 'test', asset: { asset_type: 'table' } }, signatures: {} },
  ])
  t.match(await tenant.ask('POST', `${ALERTS}/destinations/${id}/rotate-secret`), {
    status: 409,
    body: { error: { message: /badhook are not signed: there is no secret/ } },
  })
})
