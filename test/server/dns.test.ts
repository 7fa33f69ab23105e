import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6, type AddressInfo } from 'node:net'
import ipaddr from 'ipaddr.js'
import t, { type Test } from 'tap'
import { namesOf, type Resolve } from '../../server/dns.ts'

const [A, AAAA, CNAME] = [1, 28, 5]

/** Records of names: a name is an alias; no list at all means that the name is unknown, null that no answer comes. */
type Zone = Record<string, string[] | null>

/** A name server for a zone. */
async function startDns(t: Test, zone: Zone) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const name = nameIn(query)
    const type = query.readUInt16BE(12 + name.length + 2)
    asked.push(name)
    const records = zone[name]
    if (records === null) return
    socket.send(reply(query, name, type, zone), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return { asked, server: `127.0.0.1:${(socket.address() as AddressInfo).port}` }
}

function nameIn(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12; query[at]; at += (query[at] ?? 0) + 1) {
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
  }
  return labels.join('.')
}

/** The question's records, and those at the end of its aliases. */
function reply(query: Buffer, name: string, type: number, zone: Zone): Buffer {
  const answers: Buffer[] = []
  const add = (owner: string) => {
    for (const value of zone[owner] ?? []) {
      if (!ipaddr.isValid(value)) {
        answers.push(record(owner, CNAME as number, encoded(value)))
        add(value)
      } else if ((type === AAAA) === isIPv6(value) && (type === A || type === AAAA)) {
        answers.push(record(owner, type, Buffer.from(ipaddr.parse(value).toByteArray())))
      }
    }
  }
  add(name)
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(zone[name] ? 0x8180 : 0x8183, 2)
  for (const [at, count] of [1, answers.length, 0, 0].entries()) header.writeUInt16BE(count, 4 + 2 * at)
  return Buffer.concat([header, query.subarray(12, 12 + name.length + 6), ...answers])
}

function record(owner: string, type: number, value: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt16BE(value.length, 8)
  return Buffer.concat([encoded(owner), fixed, value])
}

function encoded(name: string): Buffer {
  return Buffer.from(
    `${name
      .split('.')
      .flatMap(label => [String.fromCharCode(label.length), label])
      .join('')}\0`,
    'latin1',
  )
}

function systemOf(known: Record<string, string>) {
  const asked: string[] = []
  const resolve: Resolve = async name => {
    asked.push(name)
    const address = known[name]
    if (address) return [{ address, family: 4 }]
    throw Object.assign(new Error('not known'), { code: 'ENOTFOUND' })
  }
  return { asked, resolve }
}

t.test('a name has the addresses of both families at the end of its aliases', async t => {
  const { server } = await startDns(t, {
    'hooks.example.com': ['a.example.net'],
    'a.example.net': ['b.example.net'],
    'b.example.net': ['192.0.2.7', '127.0.0.1', '2001:db8::7'],
    'old.example.com': ['192.0.2.8'],
  })
  const system = systemOf({})
  const resolve = namesOf({ servers: [server], system: system.resolve })
  t.strictSame(await resolve('hooks.example.com'), [
    { address: '192.0.2.7', family: 4 },
    { address: '127.0.0.1', family: 4 },
    { address: '2001:db8::7', family: 6 },
  ])
  t.strictSame(await resolve('old.example.com'), [{ address: '192.0.2.8', family: 4 }])
  t.strictSame(system.asked, [], 'the system is not needed')
})

t.test('names of the hosts file, and those that DNS does not know, are left to the system', async t => {
  const dns = await startDns(t, { 'empty.example.com': [] })
  const system = systemOf({ localhost: '127.0.0.1', 'LOCALHOST.': '127.0.0.1', receiver: '10.0.0.9' })
  const resolve = namesOf({ servers: [dns.server], system: system.resolve })
  t.strictSame(await resolve('localhost'), [{ address: '127.0.0.1', family: 4 }])
  t.strictSame(await resolve('LOCALHOST.'), [{ address: '127.0.0.1', family: 4 }])
  t.strictSame(dns.asked, [], 'names of the hosts file are not looked up')
  t.strictSame(await resolve('receiver'), [{ address: '10.0.0.9', family: 4 }])
  for (const name of ['none.example.com', 'empty.example.com']) {
    await t.rejects(resolve(name), { code: 'ENOTFOUND' }, name)
  }
})

t.test('name servers that are silent keep no other name waiting, and end with an error', async t => {
  const silent = Array.from({ length: 16 }, (_, at) => `silent-${at}.example.com`)
  const dns = await startDns(t, {
    ...Object.fromEntries(silent.map(name => [name, null])),
    'good.example.com': ['192.0.2.7'],
  })
  const system = systemOf({})
  const resolve = namesOf({ servers: [dns.server], system: system.resolve })
  let ended = 0
  const waiting = silent.map(name => resolve(name).finally(() => (ended += 1)))
  const outcomes = Promise.allSettled(waiting)
  t.strictSame(await resolve('good.example.com'), [{ address: '192.0.2.7', family: 4 }])
  t.equal(ended, 0)
  for (const outcome of await outcomes) t.match(outcome, { status: 'rejected', reason: { code: 'ETIMEOUT' } })
  t.strictSame(system.asked, [], 'none of them holds a thread')
})
