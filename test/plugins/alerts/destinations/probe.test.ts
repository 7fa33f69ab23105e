import { once } from 'node:events'
import net from 'node:net'
import t, { type Test } from 'tap'
import { probeUrl } from '../../../../plugins/alerts/destinations/probe.ts'
import type { EgressPolicy } from '../../../../server/security/egress.ts'
import { startReceiver, type ReceiverOptions } from '../../../helpers/receiver.ts'
import { startServer } from '../../../helpers/server.ts'
import { ALERTS, makeWorld } from '../world.ts'

const loopback: EgressPolicy = { allow: ['127.0.0.0/8'] }
const look = (url: string, policy = loopback, mostMs?: number) => probeUrl(new URL(url), policy, mostMs)

/** A plain TCP server. */
async function listen(t: Test, serve: (socket: net.Socket) => void = () => undefined): Promise<number> {
  const sockets = new Set<net.Socket>()
  const server = net.createServer(socket => {
    sockets.add(socket.on('error', () => undefined))
    serve(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as net.AddressInfo).port
}

t.test('an address with a good certificate is taken, and nothing is sent to it', async t => {
  const receiver = await startReceiver(t)
  t.equal(await look(`${receiver.url}/hook`), null)
  t.equal(await look(`https://localhost:${receiver.port}/`), null)
  t.equal(receiver.connections, 2)
  t.equal(receiver.requests.length, 0)
})

t.test('an invalid certificate is reported with what to do', async t => {
  const kinds: [NonNullable<ReceiverOptions['certificate']>, RegExp][] = [
    ['self-signed', /self-signed: get one from an authority/],
    ['expired', /has expired: renew it/],
    ['wrong-host', /is for another name/],
    ['unknown-authority', /leads to no trusted authority/],
  ]
  for (const [certificate, expected] of kinds) {
    const receiver = await startReceiver(t, { certificate })
    const problem = await look(`${receiver.url}/secret`)
    t.match(problem, expected, certificate)
    t.match(problem, `127.0.0.1:${receiver.port}`)
    t.notMatch(problem, /secret/)
  }
})

t.test('a server without TLS is reported', async t => {
  const port = await listen(t, socket =>
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  )
  t.match(await look(`https://127.0.0.1:${port}/`), /does not use TLS/)
})

t.test('a forbidden address is reported without a connection', async t => {
  const receiver = await startReceiver(t)
  const closed: EgressPolicy = { allow: [], ports: [443] }
  t.match(await look(receiver.url, closed), /EGRESS_ALLOW/)
  t.match(await look(`https://localhost:${receiver.port}/`, closed), /EGRESS_ALLOW/)
  t.match(
    await look('https://8.8.8.8:8443/', closed),
    /Port 8443 of 8\.8\.8\.8 .* use port 443.*WEBHOOK_PORTS/,
  )
  t.match(await look('https://[2606:4700:4700::1111]:22/', closed), /Port 22 of/)
  t.match(await look('https://169.254.169.254/', { allow: ['0.0.0.0/0'] }), /hands out credentials/)
  t.equal(receiver.connections, 0)
})

t.test('a closed port or a silent server is no reason to refuse', async t => {
  const resolve = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
  t.equal(
    await look('https://hooks.example.com/', { ...loopback, resolve }),
    null,
    'a name that does not exist yet',
  )
  t.equal(await look('https://127.0.0.1:1/'), null, 'nothing listens')
  const silent = await listen(t)
  t.equal(await look(`https://127.0.0.1:${silent}/`, loopback, 200), null, 'a server that is silent')
  const cut = await listen(t, socket => socket.destroy())
  t.equal(await look(`https://127.0.0.1:${cut}/`), null, 'a server that hangs up')
  const never = () => new Promise<never>(() => undefined)
  t.equal(
    await look('https://hooks.example.com/', { ...loopback, resolve: never }, 200),
    null,
    'a silent name server',
  )
})

t.test('a destination is looked at when it is made and when its address changes', async t => {
  const receiver = await startReceiver(t)
  const app = await startServer(t)
  const world = await makeWorld(app)
  const webhook = (config: object) => ({ name: 'Ours', destination_type: 'webhook', config })
  const path = `${ALERTS}/destinations`
  const refused = {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', details: { field: 'config.url', error: /has expired/ } } },
  }
  await receiver.present('expired')
  t.match(await world.ask('POST', path, webhook({ url: receiver.url })), refused)
  t.match(await world.ask('POST', path, webhook({ webhook_url: receiver.url })), refused)
  t.match((await world.ask('GET', path)).body.data.destinations, [])

  await receiver.present('trusted')
  const { id } = await world.addDestination({ url: receiver.url })
  await receiver.present('expired')
  const change = (changes: object) => world.ask('PATCH', `${path}/${id}`, changes)
  t.match(await change({ name: 'Theirs' }), { status: 200 }, 'the address stays')
  t.match(await change({ config: { headers: { 'x-team': 'a' } } }), { status: 200 }, 'the address stays')
  t.match(await change({ config: { url: `${receiver.url}/other` } }), refused)
  t.match((await world.ask('GET', `${path}/${id}`)).body.data.config, { url: receiver.url })
  await receiver.present('trusted')
  t.match(await change({ config: { url: `${receiver.url}/other` } }), { status: 200 })
  t.equal(receiver.requests.length, 0)
})
