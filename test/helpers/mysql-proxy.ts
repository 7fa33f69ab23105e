import net from 'node:net'

/** A proxy in front of a MySQL server that reads along, may fall silent and may change what the server says. */
export interface MysqlProxy {
  port: number
  /** What clients sent after signing in without TLS, in order: `query select 1`, `prepare …`, `execute`, `close`. */
  commands: string[]
  /** Connections that were opened, those that only end a statement too. */
  connections: number
  /** From now on nothing passes, without notice: packets are dropped. */
  silence(): void
  /** Cuts all connections. */
  cut(): void
}

export interface MysqlProxyOptions {
  host: string
  port: number
  /** Takes from the greeting that the server can do TLS. */
  withoutTls?: true
}

const COMMANDS: Readonly<Record<number, string>> = {
  0x01: 'quit',
  0x03: 'query',
  0x16: 'prepare',
  0x17: 'execute',
  0x19: 'close',
}

/** Starts a proxy on a free port of the loopback interface; it stops when the test ends. */
export async function startMysqlProxy(
  t: { teardown(down: () => unknown): unknown },
  { host, port, withoutTls }: MysqlProxyOptions,
): Promise<MysqlProxy> {
  const sockets = new Set<net.Socket>()
  let silent = false
  const proxy: MysqlProxy = {
    port: 0,
    commands: [],
    connections: 0,
    silence: () => (silent = true),
    cut: () => sockets.forEach(socket => socket.destroy()),
  }
  const keep = (socket: net.Socket) => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = net.createServer(client => {
    proxy.connections += 1
    keep(client)
    const upstream = keep(net.connect(port, host))
    const read = packets(command => proxy.commands.push(command))
    let isGreeting = true
    client.on('data', chunk => {
      if (silent) return
      read(chunk)
      upstream.write(chunk)
    })
    upstream.on('data', chunk => {
      if (isGreeting && withoutTls) withholdTls(chunk)
      isGreeting = false
      if (!silent) client.write(chunk)
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => silent || client.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  proxy.port = (server.address() as net.AddressInfo).port
  t.teardown(async () => {
    proxy.cut()
    await new Promise(resolve => server.close(resolve))
  })
  return proxy
}

/** In the greeting, after the version: 4 bytes of thread, 8 of salt, 1 of filling, then what the server can do. */
function withholdTls(greeting: Buffer): void {
  const capabilities = greeting.indexOf(0, 5) + 14
  greeting.writeUInt16LE(greeting.readUInt16LE(capabilities) & ~0x0800, capabilities)
}

/** Reads the client's side of the protocol and reports each command; what is not the first of its kind has none. */
function packets(report: (command: string) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  return chunk => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 4 && rest.length >= 4 + rest.readUIntLE(0, 3)) {
      const end = 4 + rest.readUIntLE(0, 3)
      // A sign-in answers the server's greeting and has a number above 0.
      const name = rest[3] === 0 ? COMMANDS[rest[4] ?? 0] : undefined
      if (name)
        report(['query', 'prepare'].includes(name) ? `${name} ${rest.toString('utf8', 5, end)}` : name)
      rest = rest.subarray(end)
    }
  }
}
