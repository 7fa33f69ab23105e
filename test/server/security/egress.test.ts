import { once } from 'node:events'
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import net from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Connector } from '../../../connectors/connector.ts'
import { postgresql } from '../../../connectors/postgresql/index.ts'
import { readConfig } from '../../../server/settings/config.ts'
import {
  guardedAgent,
  guardedLookup,
  guardedSocket,
  mayReach,
  parseDatabaseUrl,
  sourceEgress,
  type EgressPolicy,
  type OwnDatabase,
} from '../../../server/security/egress.ts'
import { manifest } from '../../../server/manifest.ts'
import type { Resolve } from '../../../server/dns.ts'
import { testCluster } from '../../helpers/cluster.ts'
import { startReceiver } from '../../helpers/receiver.ts'
import { SECRET_KEY, startServer } from '../../helpers/server.ts'
import { failure, settings } from '../../helpers/source.ts'
import { makeWorld } from '../../helpers/world.ts'

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
const METADATA = `169.254.169.254 169.254.170.2 169.254.170.23 168.63.129.16 100.100.100.200 192.0.0.192
  fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:ec2:0:0:0:0:0:254 fe80::a9fe:a9fe fe80::a9fe:a9fe%eth0
  ::ffff:169.254.169.254 ::ffff:a9fe:aa17 ::169.254.169.254 ::ffff:0:169.254.169.254 ::ffff:168.63.129.16
  64:ff9b::169.254.169.254 64:ff9b::a83f:8110 64:ff9b:1::169.254.169.254 64:ff9b:1:a9fe:a9:fe00::
  64:ff9b:1:a9:fe:a9fe:: 64:ff9b:1:0:a9:fea9:fe00:0 2002:a9fe:a9fe:: 2002:6464:64c8:1::1
  2001:0:a9fe:a9fe:: 2001::5601:5601`.split(/\s+/)
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

t.test('a public address is reached on the ports of the policy, an allowed network on any', async t => {
  const policy = { allow: ['10.0.0.0/8', '8.8.4.0/24'], ports: [443, 8443] }
  for (const [address, port, may] of [
    ['8.8.8.8', 443, true],
    ['8.8.8.8', 8443, true],
    ['8.8.8.8', 80, false],
    ['2606:4700:4700::1111', 22, false],
    ['::ffff:8.8.8.8', 25, false],
    ['8.8.4.4', 25, true],
    ['10.1.2.3', 5432, true],
    ['192.168.1.1', 443, false],
    ['169.254.169.254', 443, false],
  ] as const) {
    t.equal(mayReach(address, policy, port), may, `${address} at ${port}`)
  }
  t.equal(mayReach('8.8.8.8', nothing, 80), true, 'any port where none are listed')
})

t.test('an address is judged at once, a name when it is resolved', async t => {
  const dial = (host: string, policy: EgressPolicy, port = 443) => {
    const socket = guardedSocket({ host, port }, policy)
    t.teardown(() => socket.destroy())
    return once(socket, 'secureConnect')
  }
  const refused = { code: 'ERR_EGRESS_BLOCKED', message: /EGRESS_ALLOW/ }
  for (const host of ['127.0.0.1', '[::1]', '::1']) t.throws(() => guardedSocket({ host }, nothing), refused)
  await t.rejects(dial('localhost', nothing), refused)
  await t.rejects(dial('no-such-host.invalid', nothing), { code: /ENOTFOUND|EAI_AGAIN/ })
  const metadata = answering(['169.254.169.254'])
  await t.rejects(dial('metadata.google.internal', { allow: ['0.0.0.0/0'], resolve: metadata }), {
    code: 'ERR_EGRESS_BLOCKED',
    message: /metadata\.google\.internal is where a cloud hands out credentials/,
  })
  const elsewhere = { allow: [], ports: [443, 8443], resolve: answering(['8.8.8.8']) }
  await t.rejects(dial('dns.example.com', elsewhere, 853), {
    code: 'ERR_EGRESS_BLOCKED',
    message:
      'Port 853 of dns.example.com may not be reached from here: use port 443 or 8443, or have the operator open it with WEBHOOK_PORTS',
  })
})

t.test('the resolver of sockets answers in both forms and refuses what is forbidden', async t => {
  const ask = (host: string, allow: string[], all: boolean) =>
    new Promise((resolve, reject) => {
      guardedLookup({ allow }, 443)(host, { all }, (error, address, family) =>
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

/** A resolver that returns the next of these answers at each question; the last one stays. */
function answering(...answers: readonly (readonly string[])[]): Resolve & { asked(): number } {
  const state = { asked: 0 }
  const resolve: Resolve = async () => {
    const answer = answers[Math.min(state.asked, answers.length - 1)] ?? []
    state.asked += 1
    return answer.map(address => ({ address, family: net.isIP(address) }))
  }
  return Object.assign(resolve, { asked: () => state.asked })
}

const LOOPBACK = ['127.0.0.0/8', '::1/128']

function egress(policy: {
  allow?: string[]
  own?: OwnDatabase[]
  resolve?: Resolve
  fileSources?: string[]
}) {
  return sourceEgress({ allow: [], own: [], fileSources: [], ...policy })
}

/** Counts who connects. */
async function listen(t: { teardown(down: () => unknown): unknown }, host: string, port = 0) {
  const server = net.createServer(socket => {
    seen.connections += 1
    socket.destroy()
  })
  const seen = { connections: 0, port: 0 }
  await once(server.listen(port, host), 'listening')
  t.teardown(() => server.close())
  seen.port = (server.address() as net.AddressInfo).port
  return seen
}

/** Spellings of this machine, all of which the resolver or the socket would take. */
const HERE =
  `127.0.0.1 127.255.255.254 127.1 127.0.1 127.0.0.01 0177.0.0.1 0x7f.0.0.1 0x7f.1 0x7F000001 2130706433 017700000001
  0 0x0 0.0.0.0 ①②⑦.0.0.1 １２７.0.0.1 127。0。0。1 127．0．0．1 localhost LOCALHOST ⓛocalhost ⅼocalhost
  ::1 [::1] 0:0:0:0:0:0:0:1 ::1%lo :: [::] ::ffff:127.0.0.1 [::ffff:127.0.0.1] ::ffff:7f00:1 ::127.0.0.1
  ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::127.0.0.1 2002:7f00:1:: 2001::80ff:fffe`.split(
    /\s+/,
  )
/** Inner addresses, and spellings that no resolver knows or that programs read differently. */
const ELSEWHERE =
  `10.0.0.1 167772161 0xa.1 012.0.0.1 192.168.1 172.16.1 169.254.1.1 100.64.0.1 [fd00::1] fe80::1%eth0
  localhost. 127.0.0.1. [127.0.0.1 127.0.0.1] 127.0.0.1:80 127.0.0.1%lo 256.256.256.256 4294967296 0x100000000 1.2.3.4.5
  localhost%00 xn--localhost`.split(/\s+/)
/** No names at all: sockets of this machine, URLs, and what would end the text in C. */
const NO_HOSTS = [
  ...['', ' ', '/', '/tmp', '/var/run/postgresql', '/tmp/.s.PGSQL.5432', '@abstract', './socket', 'C:\\pipe'],
  ...[
    '\\\\.\\pipe\\postgres',
    'socket:/tmp',
    'http://127.0.0.1',
    'me:hunter2@127.0.0.1',
    '127.0.0.1/',
    '[::1]/x',
  ],
  ...['127.0.0.1\0.example.com', '127.0.0.1 ', '\t127.0.0.1', '127.0.0.1\r\n', '127.0.0.1#x', '127.0.0.1?x'],
]

t.test('no spelling of an inner address opens a connection to a source', async t => {
  const sentinels = [await listen(t, '127.0.0.1')]
  const port = sentinels[0]?.port as number
  if (hasIpv6()) sentinels.push(await listen(t, '::1', port))
  const options = { egress: egress({}), log: { debug() {}, warn() {} } }
  t.ok(HERE.length + ELSEWHERE.length + NO_HOSTS.length >= 80)
  for (const host of [...HERE, ...METADATA, ...ELSEWHERE, ...NO_HOSTS]) {
    // What the schema refuses already is refused once more.
    const config = { ...settings({ host: 'example.com', database: 'x', username: 'x' }), host, port }
    const { kind } = await failure(postgresql.connect(config, options))
    t.ok(['egress-refused', 'network'].includes(kind), `${JSON.stringify(host)}: ${kind}`)
  }
  t.strictSame(
    sentinels.map(({ connections }) => connections),
    sentinels.map(() => 0),
  )
})

t.test('what refuses says why, and never repeats what may hold a password', async t => {
  const open = egress({ allow: ['0.0.0.0/0', '::/0'] })
  for (const host of METADATA) {
    await t.rejects(open.address(host, 80), { kind: 'egress-refused', message: /never reached/ }, host)
  }
  for (const host of NO_HOSTS) {
    await t.rejects(open.address(host, 5432), {
      kind: 'egress-refused',
      message: 'host must be a host name or an address, not a path or URL',
    })
  }
  await t.rejects(egress({}).address('10.0.0.1', 5432), { kind: 'egress-refused', message: /EGRESS_ALLOW/ })
  await t.rejects(open.address('no-such-host.invalid', 5432), { code: /ENOTFOUND|EAI_AGAIN/ })
})

t.test('one forbidden address among the answers refuses the name', async t => {
  const ask = (...answer: string[]) => egress({ resolve: answering(answer) }).address('db.example.com', 5432)
  t.equal(await ask('8.8.8.8', '2606:4700:4700::1111'), '8.8.8.8')
  t.equal(await ask('2606:4700:4700::1111', '8.8.8.8'), '2606:4700:4700::1111')
  for (const inner of [
    '127.0.0.1',
    '10.1.2.3',
    '::1',
    '::ffff:10.0.0.1',
    'fd00::1',
    '169.254.169.254',
    '0.0.0.0',
  ]) {
    await t.rejects(ask('8.8.8.8', inner), { kind: 'egress-refused', message: /reached/ }, inner)
    await t.rejects(ask(inner, '2606:4700:4700::1111'), { kind: 'egress-refused', message: /reached/ }, inner)
  }
  await t.rejects(ask(), { kind: 'egress-refused', message: /reached/ }, 'no address at all')
  await t.rejects(ask('not an address'), { kind: 'egress-refused', message: /reached/ })
})

t.test('a name that changes its address is dialled where it was vetted', async t => {
  // Stands for a public server; the inner one is a port of the same machine that must stay unknown.
  const server = await listen(t, '127.0.0.2')
  const inner = await listen(t, '127.0.0.1', server.port)
  const config = settings({
    host: 'db.example.com',
    port: server.port,
    database: 'x',
    username: 'x',
    sslmode: 'disable',
  })
  for (let time = 1; time <= 100; time += 1) {
    const resolve = answering(['127.0.0.2'], ['127.0.0.1'])
    const options = {
      egress: egress({ allow: ['127.0.0.2/32'], resolve }),
      log: { debug() {}, warn() {} },
    }
    t.match(await failure(postgresql.connect(config, options)), { kind: 'network' })
    t.equal(resolve.asked(), 1, 'resolved once')
    t.match(await failure(postgresql.connect(config, options)), { kind: 'egress-refused' })
    if (!t.passing()) break
  }
  t.equal(server.connections, 100)
  t.equal(inner.connections, 0)
})

t.test("the service's own server is no source when it is embedded, however it is written", async t => {
  const { port } = await testCluster()
  const open = egress({ allow: ['0.0.0.0/0', '::/0'], own: [{ host: '127.0.0.1', port }] })
  const own = { kind: 'egress-refused', message: /its own records.*name the database that you want to watch/ }
  const addresses = Object.values(networkInterfaces()).flatMap(
    all => all?.map(({ address }) => address) ?? [],
  )
  for (const host of [...HERE, ...addresses]) {
    await t.rejects(open.address(host, port), own, host)
    await t.rejects(open.address(host, port, 'postgres'), own, host)
    t.ok(net.isIP(await open.address(host, port + 1, 'postgres')), `${host} at another port`)
  }
  t.equal(await open.address('8.8.8.8', port), '8.8.8.8', 'the same port elsewhere')
  t.equal(await open.address('64:ff9b::8.8.8.8', port), '64:ff9b::8.8.8.8')
})

t.test('of a server that was given to us, only our own database is no source', async t => {
  const own = [{ host: 'db.internal', port: 5432, database: 'tidemark' }]
  const resolve: Resolve = async name => {
    const known: Record<string, string[]> = {
      'db.internal': ['10.0.0.5', 'fd00::5'],
      'alias.internal': ['10.0.0.5'],
      'other.internal': ['10.0.0.6'],
    }
    const answer = known[name]
    if (!answer) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
    return answer.map(address => ({ address, family: net.isIP(address) }))
  }
  const open = egress({ allow: ['0.0.0.0/0', '::/0'], own, resolve })
  const refused = { kind: 'egress-refused', message: /its own records/ }
  for (const host of [
    'db.internal',
    'alias.internal',
    '10.0.0.5',
    '::ffff:10.0.0.5',
    'fd00::5',
    'FD00:0::5',
    '64:ff9b::10.0.0.5',
  ]) {
    await t.rejects(open.address(host, 5432, 'tidemark'), refused, host)
    await t.rejects(open.address(host, 5432), refused, `${host} without a database`)
    await t.rejects(open.address(host, 5432, ''), refused, `${host} with an empty one`)
    t.ok(await open.address(host, 5432, 'shop'), `another database of ${host}`)
    t.ok(await open.address(host, 5432, 'Tidemark'), 'names are distinguished by case')
    t.ok(await open.address(host, 5433, 'tidemark'), 'another server')
  }
  t.equal(await open.address('other.internal', 5432, 'tidemark'), '10.0.0.6')
  const long = 'x'.repeat(63)
  await t.rejects(
    open.address('db.internal', 5432, 'shop\0database\0tidemark'),
    refused,
    'written behind a name',
  )
  const cut = egress({ allow: LOOPBACK, own: [{ host: '127.0.0.1', port: 5432, database: long }] })
  await t.rejects(cut.address('localhost', 5432, `${long}y`), refused, 'the server takes 63 bytes of a name')
})

t.test(
  'a name of our own that is answered in turns, or not any more, still stands for our server',
  async t => {
    const answers = [['10.0.0.5'], ['10.0.0.6'], []]
    const resolve: Resolve = async name => {
      if (name !== 'db.internal') return [{ address: name.replace(/^at-/, ''), family: 4 }]
      const answer = answers.shift()
      if (!answer?.[0]) throw Object.assign(new Error('try again'), { code: 'EAI_AGAIN' })
      return [{ address: answer[0], family: 4 }]
    }
    const open = egress({
      allow: ['10.0.0.0/8'],
      own: [{ host: 'db.internal', port: 5432, database: 'own' }],
      resolve,
    })
    for (let time = 1; time <= 3; time += 1) {
      await t.rejects(open.address('at-10.0.0.5', 5432, 'own'), { message: /its own records/ }, `${time}`)
    }
    await t.rejects(open.address('at-10.0.0.6', 5432, 'own'), { message: /its own records/ })
    t.equal(await open.address('at-10.0.0.7', 5432, 'own'), '10.0.0.7')
  },
)

t.test('our own place is read from the URL as the driver reads it', async t => {
  const read = (url: string) => Object.values(parseDatabaseUrl(url))
  t.strictSame(read('postgres://me:secret@db.internal:6432/tide%20mark?sslmode=disable'), [
    'db.internal',
    6432,
    'tide mark',
  ])
  t.strictSame(read('postgres://me@[::1]/'), ['::1', 5432, 'me'])
  t.strictSame(read('postgres://me@/tidemark?host=/var/run/postgresql'), [
    '/var/run/postgresql',
    5432,
    'tidemark',
  ])
  const open = egress({
    allow: LOOPBACK,
    own: [parseDatabaseUrl('postgres://me@/tidemark?host=/var/run/postgresql')],
  })
  await t.rejects(
    open.address('localhost', 5432, 'tidemark'),
    { kind: 'egress-refused', message: /its own records/ },
    'a socket is this machine',
  )
  t.equal(await open.address('127.0.0.1', 5432, 'shop'), '127.0.0.1')
})

t.test('a running server refuses its own database, watches others beside it, and says so', async t => {
  const world = await makeWorld(t, ['create table moves (id int)'])
  const { pathname } = new URL(world.app.server.config.databaseUrl as string)
  const made = await world.tenant.ask('POST', '/api/v1/sdk/assets', {
    name: 'ourselves',
    source_type: 'postgresql',
    connection_config: { ...world.source.config, host: 'localhost', database: pathname.slice(1) },
  })
  const test = async (id: string) =>
    (await world.tenant.ask('POST', `/api/v1/sdk/assets/${id}/test-connection`)).body.data
  t.match(await test(world.asset.id), { success: true })
  t.match(JSON.stringify(await test(made.body.data.id)), /egress_refused.*its own records/)
})

t.test('with the embedded database, all of its server is refused', async t => {
  const config = readConfig({ PORT: '0', SECRET_KEY, LOG_LEVEL: 'silent', DEMO_ENABLED: 'false' })
  const { server } = await startServer(t, { build: { config, sourceAllow: LOOPBACK } })
  const { port } = await testCluster()
  for (const host of ['127.0.0.1', 'localhost', '::1', '127.9.9.9']) {
    await t.rejects(server.sourceEgress.address(host, port, 'shop'), { message: /its own records/ }, host)
    t.ok(net.isIP(await server.sourceEgress.address(host, port + 1, 'shop')))
  }
})

t.test('a file is opened below the folders of FILE_SOURCES only, and elsewhere not even known', async t => {
  const root = realpathSync(
    t.testdir({ sources: { 'shop.db': 'x' }, 'sources-too': { 'a.db': 'x' }, 'secret.key': 'x' }),
  )
  const sources = join(root, 'sources')
  mkdirSync(join(sources, 'below'))
  writeFileSync(join(sources, 'below', 'deep.db'), 'x')
  symlinkSync(join(root, 'secret.key'), join(sources, 'link.db'))
  symlinkSync(sources, join(root, 'alias'))
  const { file, folder } = egress({ fileSources: [join(root, 'alias'), join(root, 'not-there')] })
  t.equal(await file(join(sources, 'shop.db')), join(sources, 'shop.db'))
  t.equal(await file(join(root, 'alias', 'below', 'deep.db')), join(sources, 'below', 'deep.db'))
  for (const missing of [join(sources, 'none.db'), join(root, 'alias', 'none.db')]) {
    await t.rejects(file(missing), {
      kind: 'missing-object',
      message: /^There is no file at connection_config\.path/,
    })
  }
  for (const other of [
    'secret.key',
    'none.key',
    'sources',
    'sources/link.db',
    'sources/../secret.key',
    'sources-too/a.db',
  ]) {
    await t.rejects(file(join(root, other)), { kind: 'egress-refused', message: /FILE_SOURCES/ }, other)
  }
  await t.rejects(file('/etc/passwd\0.db'), { kind: 'egress-refused', message: /FILE_SOURCES/ })
  t.equal(await folder(join(root, 'alias')), sources, 'such a folder itself may be listed')
  t.equal(await folder(join(sources, 'below')), join(sources, 'below'))
  await t.rejects(folder(join(sources, 'none')), {
    kind: 'missing-object',
    message: /^There is no folder at/,
  })
  for (const other of ['.', 'sources-too', 'sources/..'])
    await t.rejects(folder(`${root}/${other}`), { kind: 'egress-refused', message: /FILE_SOURCES/ }, other)
  t.equal(await egress({ fileSources: ['/'] }).file(join(sources, 'shop.db')), join(sources, 'shop.db'))
})

t.test('a folder of FILE_SOURCES that is not there stops the start', async t => {
  const folder = t.testdir({ 'shop.db': 'x' })
  t.strictSame(readConfig({ FILE_SOURCES: folder }).fileSources, [folder])
  for (const wrong of [join(folder, 'none'), join(folder, 'shop.db')]) {
    t.throws(() => readConfig({ FILE_SOURCES: `${folder}:${wrong}` }), {
      name: 'ConfigError',
      message: new RegExp(`FILE_SOURCES names ${wrong}, which is no folder`),
    })
  }
})

t.test('no engine of ours takes an option of its driver, or a path for a host', async t => {
  const options = [
    'socketPath',
    'ssl',
    'options',
    'multipleStatements',
    'extra_params',
    'stream',
    'flags',
    'host_addr',
  ]
  for (const connector of manifest.connectors as Connector[]) {
    const { keys } = connector.config.describe() as { keys: Record<string, unknown> }
    for (const option of options.filter(name => !(name in keys))) {
      const { error } = connector.config.validate({ [option]: true }, { abortEarly: false })
      const refused = error?.details.find(({ path }) => path[0] === option)
      t.equal(refused?.type, 'object.unknown', `${connector.name}: ${option}`)
    }
    for (const name of ['host', 'server_hostname'].filter(name => name in keys)) {
      for (const host of NO_HOSTS.filter(host => /^$|^[/@]|\s/.test(host))) {
        const { error } = connector.config.validate({ [name]: host }, { abortEarly: false })
        t.ok(
          error?.details.some(({ path }) => path[0] === name),
          `${connector.name}: ${JSON.stringify(host)}`,
        )
      }
    }
  }
})

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some(all => all?.some(({ address }) => address === '::1'))
}
