import t from 'tap'
import https from 'node:https'
import {
  guardedAgent,
  guardedLookup,
  mayReach,
  mayReachLiteral,
  resolveAllowed,
} from '../../server/egress.ts'
import { startReceiver } from '../helpers/receiver.ts'

const nothing = { allow: [] }

// One of each special range of the IANA registries, and IPv4 ranges inside IPv6.
const INNER =
  `0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.1.1
  172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255
  198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
  :: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:a9fe:101 ::127.0.0.1 ::7f00:1 ::ffff:0:7f00:1
  1::1 4000::1 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b:1::1
  100::1 2001::1 2001:db8::1 2002:7f00:1::1 2002:a00:1::1 3fff::1 5f00::1 fc00::1 fd12:3456::1 fe80::1 fec0::1 ff02::1`.split(
    /\s+/,
  )
const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  'fd00:ec2::254',
  '::ffff:169.254.169.254',
]
const PUBLIC = ['8.8.8.8', '1.1.1.1', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e']

t.test('only public addresses may be reached', async t => {
  for (const address of [...INNER, ...METADATA, '', 'example.com', '1.2.3', '1.2.3.4.5']) {
    t.equal(mayReach(address, nothing), false, address)
  }
  for (const address of PUBLIC) t.equal(mayReach(address, nothing), true, address)
})

t.test('the operator opens networks, never those of cloud metadata', async t => {
  const all = { allow: ['0.0.0.0/0', '::/0'] }
  for (const address of INNER) t.equal(mayReach(address, all), true, address)
  for (const address of METADATA) t.equal(mayReach(address, all), false, address)
  const ten = { allow: ['10.0.0.0/8'] }
  t.equal(mayReach('10.1.2.3', ten), true)
  t.equal(mayReach('::ffff:10.1.2.3', ten), true)
  t.equal(mayReach('11.1.2.3', { allow: ['10.0.0.0/8'] }), true)
  t.equal(mayReach('192.168.1.1', ten), false)
})

t.test('a literal is judged at once, a name when it is resolved', async t => {
  t.equal(mayReachLiteral('127.0.0.1', nothing), false)
  t.equal(mayReachLiteral('[::1]', nothing), false)
  t.equal(mayReachLiteral('localhost', nothing), true)
  t.equal(await resolveAllowed('localhost', nothing), null)
  t.equal(await resolveAllowed('[::1]', nothing), null)
  t.strictSame(await resolveAllowed('[::1]', { allow: ['::1/128'] }), [{ address: '::1', family: 6 }])
  await t.rejects(resolveAllowed('no-such-host.invalid', nothing), { code: /ENOTFOUND|EAI_AGAIN/ })
})

t.test('the resolver of sockets answers in both forms and refuses what is forbidden', async t => {
  const ask = (host: string, allow: string[], all: boolean) =>
    new Promise((resolve, reject) => {
      guardedLookup({ allow })(host, { all }, (error, address, family) =>
        error ? reject(error) : resolve([address, family]),
      )
    })
  t.strictSame(await ask('127.0.0.1', ['127.0.0.0/8'], false), ['127.0.0.1', 4])
  t.strictSame(await ask('127.0.0.1', ['127.0.0.0/8'], true), [
    [{ address: '127.0.0.1', family: 4 }],
    undefined,
  ])
  await t.rejects(ask('localhost', [], true), { code: 'ERR_EGRESS_BLOCKED' })
})

t.test('an address that turns out forbidden once connected gets no request', async t => {
  const receiver = await startReceiver(t)
  let asked = 0
  const policy = {
    // Allowed when the host is looked at, forbidden when the socket has connected: as with a rebound name.
    get allow() {
      asked += 1
      return asked === 1 ? ['127.0.0.0/8'] : []
    },
  }
  const sent = new Promise((resolve, reject) => {
    const request = https.request(receiver.url, { method: 'POST', agent: guardedAgent(policy) }, resolve)
    request.on('error', reject)
    request.end('secret')
  })
  await t.rejects(sent, { code: 'ERR_EGRESS_BLOCKED' })
  t.equal(receiver.requests.length, 0)
})
