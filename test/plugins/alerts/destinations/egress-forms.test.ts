import { once } from 'node:events'
import { lookup } from 'node:dns/promises'
import net from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { postGuarded } from '../../../../plugins/alerts/destinations/post.ts'
import type { EgressPolicy } from '../../../../server/security/egress.ts'
import type { Resolve } from '../../../../server/dns.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { startServer, type Reply } from '../../../helpers/server.ts'
import { share, sharedCount } from '../../../helpers/share.ts'
import { ALERTS, makeWorld } from '../world.ts'

const words = (text: string) => text.trim().split(/\s+/)

/** Hosts as they may stand in an address, each of which leads to this machine. */
const HERE = words(`
  127.0.0.1 127.0.0.1. 127.1 127.0.1 127.0.0.01 127.255.255.254 0 0. 0.0.0.0 0x0 00 0x0.0x0
  2130706433 2130706433. 017700000001 0x7f000001 0x7F000001 0X7f000001 0x07f.1 0177.1 0x7f.1 0177.0.0.1 0x7f.0.0.1
  00177.00.00.01 0x7f.0x0.0x0.0x1 127.0x0.0.1 127.0.01 127.0.0x1 0177.0x0.0.1 2130706434 0x7fffffff
  %31%32%37.0.0.1 127%2e0%2e0%2e1 127.0.0.%31 %30x7f.1 loc%61lhost
  ①②⑦.0.0.1 ⓪ ①②⑦.①  １２７.0.0.1 １２７．０．０．１ 127。0。0。1 127．0．0．1 127｡0｡0｡1 ０x7f.1 𝟏𝟐𝟕.𝟎.𝟎.𝟏 𝟙𝟚𝟟.1 ¹²⁷.0.0.1 ₁₂₇.1
  localhost LOCALHOST LocalHost ⓛocalhost ⅼocalhost ｌｏｃａｌｈｏｓｔ ℓocalhost loc\u00adalhost
  user@127.0.0.1 user:secret@127.1 example.com@127.0.0.1 example.com:443@localhost %40@0x7f.1 8.8.8.8%3a443@[::1]
  [::1] [::] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [0::1] [::0001] [::0.0.0.1] [0:0:0:0:0:0:0.0.0.1]
  [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:127.0.0.1] [0:0:0:0:0:ffff:127.0.0.1] [::ffff:0.0.0.0] [::ffff:127.1.2.3]
  [::127.0.0.1] [::7f00:1] [::ffff:0:127.0.0.1] [::ffff:0:7f00:1]
  [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::127.0.0.1] [64:ff9b:1:7f00:0:100::]
  [2002:7f00:1::] [2002:7f00:0001::1] [2002:a9fe:a9fe::] [2001::80ff:fffe] [2001:0:7f00:1::] [2001:0:4136:e378:8000:63bf:80ff:fffe]
`)

/** Non-public networks, and addresses where clouds hand out credentials. */
const INNER = words(`
  10.0.0.1 10.255.255.255 0xa.1 012.0.0.1 167772161 172.16.0.1 172.31.255.255 0xac100001 192.168.1.1 192.168.257 0300.0250.1
  100.64.0.1 169.254.1.1 192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
  169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518 169.16689662 169.254.170.2 168.63.129.16 100.100.100.200 192.0.0.192
  [fc00::1] [fd00::1] [fd00:ec2::254] [fd20:ce::254] [fe80::1] [fe80::a9fe:a9fe] [fec0::1] [ff02::1] [100::1] [2001:db8::1] [3fff::1] [5f00::1]
  [::ffff:10.0.0.1] [::ffff:a9fe:a9fe] [::ffff:169.254.169.254] [64:ff9b::a9fe:a9fe] [64:ff9b::10.0.0.1] [2002:a00:1::] [::10.0.0.1] [4000::1]
`)

/** What names are answered with; each stands at the end of its chain of aliases. */
const NAMES: Record<string, string[]> = {
  'metadata.google.internal': ['169.254.169.254'],
  metadata: ['169.254.169.254'],
  'instance-data.ec2.internal': ['169.254.169.254', 'fd00:ec2::254'],
  'alias.of.alias.example.com': ['127.0.0.1'],
  '127.0.0.1.nip.example.com': ['127.0.0.1'],
  'loopback6.example.com': ['::1'],
  'mapped.example.com': ['::ffff:127.0.0.1'],
  'nat64.example.com': ['64:ff9b::7f00:1'],
  'scoped.example.com': ['fe80::1%lo'],
  'mixed.example.com': ['8.8.8.8', '127.0.0.1'],
  'mixed-last.example.com': ['127.0.0.1', '8.8.8.8'],
  'mixed6.example.com': ['8.8.8.8', '::1'],
  'mixed-families.example.com': ['2606:4700:4700::1111', '10.0.0.1'],
  'nowhere.example.com': ['0.0.0.0'],
  'empty.example.com': [],
  'odd.example.com': ['0x7f.1'],
  'xn--n3h.example.com': ['127.0.0.1'],
}

/** No address of HTTPS at all. */
const NO_URL = (port: number) => [
  ...words(
    `127.0.0.1 //127.0.0.1/ http://127.0.0.1:${port}/ http://localhost:${port}/ ftp://127.0.0.1:${port}/`,
  ),
  ...words(
    `file:///etc/passwd gopher://127.0.0.1:${port}/ ws://127.0.0.1:${port}/ data:text/plain,x javascript:1`,
  ),
  ...words(`https:// https://[::1 https://[::1%25lo]:${port}/ https://[fe80::1%lo]/ https://[127.0.0.1]/`),
  ...words(
    `https://256.256.256.256/ https://127.0.0.256/ https://4294967296/ https://1.2.3.4.5/ https://127.0.0.1:99999/`,
  ),
  ...words(`https://127.0.0.1%00.example.com/ https://local%20host/ https://a%2fb/`),
]

const resolve: Resolve = async name => {
  const answer = NAMES[name]
  if (!answer) return lookup(name, { all: true })
  return answer.map(address => ({ address, family: net.isIP(address) }))
}

/** Counts every connection to a port of this machine, whichever of its addresses it goes to. */
async function watch(t: Test, host = '::') {
  const seen = { connections: 0, port: 0 }
  const server = net.createServer(socket => {
    seen.connections += 1
    socket.on('error', () => undefined).destroy()
  })
  await once(server.listen(0, host), 'listening')
  t.teardown(() => server.close())
  seen.port = (server.address() as net.AddressInfo).port
  return seen
}

const post = (url: string, policy: EgressPolicy) =>
  postGuarded(url, { headers: { authorization: 'Bearer hush' }, body: '{}', policy })

t.test('the sentinel sees connections to any address of this machine', async t => {
  const sentinel = await watch(t)
  const own = Object.values(networkInterfaces()).flatMap(all => all ?? [])
  const hosts = own.map(({ address, scopeid }) => (scopeid ? `${address}%${scopeid}` : address))
  for (const host of ['127.9.9.9', ...hosts]) {
    const before = sentinel.connections
    await once(net.connect(sentinel.port, host), 'close')
    t.equal(sentinel.connections, before + 1, host)
  }
})

t.test('no form of a forbidden address is taken, or sent to', async t => {
  const sentinel = await watch(t)
  const { port } = sentinel
  const forms = [...new Set([...HERE, ...INNER, ...Object.keys(NAMES)])]
  t.ok(forms.length >= 160, `${forms.length} forms`)
  const app = await startServer(t, {
    settings: { WEBHOOK_PORTS: `443,${port}` },
    build: { webhookAllow: [] },
  })
  app.server.egress.resolve = resolve
  const world = await makeWorld(app)
  /** Asks again after the second that a burst of requests has to wait on a fast machine. */
  const make = async (url: string): Promise<Reply> => {
    const payload = { name: 'x', destination_type: 'webhook', config: { url } }
    const reply = await world.ask('POST', `${ALERTS}/destinations`, payload)
    if (reply.status !== 429) return reply
    await setTimeout(Number(reply.headers['retry-after']) * 1_000)
    return make(url)
  }
  for (const form of share(forms, 'forms of forbidden addresses')) {
    for (const url of [`https://${form}:${port}/`, `https://${form}/`]) {
      t.match(await post(url, app.server.egress), { isDelivered: false, errorClass: 'egress_refused' }, url)
    }
    const { status, body } = await make(`https://${form}:${port}/`)
    t.match([status, body.error?.details?.field], [400, 'config.url'], form)
  }
  for (const url of NO_URL(port)) {
    t.match(await post(url, app.server.egress), { isDelivered: false, errorClass: 'configuration' }, url)
    t.equal((await make(url)).status, 400, url)
  }
  t.equal(sentinel.connections, 0)
})

t.test('a name that turns to this machine after it was looked at is not followed', async t => {
  // Stands for a public server; what listens on the same port of the other addresses must stay unknown.
  const outside = await watch(t, '127.0.0.2')
  const seen = { inner: 0 }
  for (const host of ['127.0.0.1', '::1']) {
    const inner = net.createServer(socket => {
      seen.inner += 1
      socket.destroy()
    })
    await once(inner.listen(outside.port, host), 'listening')
    t.teardown(() => inner.close())
  }
  const turned = [['127.0.0.1'], ['::1'], ['127.0.0.2', '127.0.0.1'], ['::ffff:127.0.0.1']]
  let asked = 0
  let answers: string[][] = []
  const policy: EgressPolicy = {
    allow: ['127.0.0.2/32'],
    ports: [443],
    async resolve() {
      const answer = answers[asked++] ?? []
      return answer.map(address => ({ address, family: net.isIP(address) }))
    },
  }
  const url = `https://rebinding.example.com:${outside.port}/`
  const times = sharedCount(1_000)
  for (let time = 0; time < times; time += 1) {
    asked = 0
    answers = [['127.0.0.2'], turned[time % turned.length] ?? []]
    const [first, second] = [await post(url, policy), await post(url, policy)]
    if (first.errorClass !== 'connect' || second.errorClass !== 'egress_refused' || asked !== 2) {
      t.fail('an attempt went elsewhere', { time, first, second, asked })
      break
    }
  }
  t.equal(outside.connections, times)
  t.equal(seen.inner, 0)

  const app = await startServer(t, { build: { webhookAllow: ['127.0.0.2/32'] } })
  app.server.egress.resolve = policy.resolve
  const world = await makeWorld(app)
  asked = 0
  answers = [['127.0.0.2'], ['127.0.0.1']]
  const { id } = await world.addDestination({ url })
  const { body } = await world.ask('POST', `${ALERTS}/destinations/${id}/test`)
  t.match(body.data, { success: false, status_code: null, error_class: 'egress_refused' })
  t.equal(seen.inner, 0)
})

t.test('a redirect into this machine is not followed', async t => {
  const sentinel = await watch(t)
  const receiver = await startReceiver(t)
  const policy = { allow: ['127.0.0.0/8', '::1/128'] }
  for (const host of ['127.0.0.1', '[::1]', 'localhost', '0x7f.1', '[::ffff:127.0.0.1]']) {
    for (const scheme of ['https', 'http']) {
      const location = `${scheme}://${host}:${sentinel.port}/`
      for (const status of [301, 302, 303, 307, 308]) {
        receiver.answer((_request, response) => response.writeHead(status, { location }).end())
        t.match(await post(receiver.url, policy), { isDelivered: false, statusCode: status }, location)
      }
    }
  }
  t.equal(sentinel.connections, 0)
})
