import net from 'node:net'
import tls from 'node:tls'

/** A proxy in front of a PostgreSQL server that reads along, may speak TLS and may fall silent. */
export interface Proxy {
  port: number
  /** The texts of all statements that passed, in order. */
  statements: string[]
  /** Connections that were opened, those that only ask for a cancel too. */
  connections: number
  /** From now on nothing passes and neither side notices: packets are dropped. */
  silence(): void
  /** Cuts all connections. */
  cut(): void
}

export interface ProxyOptions {
  host: string
  port: number
  /** With it, TLS is offered; without it, a request for TLS is answered with no. */
  tls?: { key: string; cert: string }
  /** Answers encrypted sign-ins as a server does that has only `hostnossl` lines. */
  refuseEncrypted?: true
}

const SSL_REQUEST = 80877103
const CANCEL_REQUEST = 80877102

/** Starts a proxy on a free port of the loopback interface; it stops when the test ends. */
export async function startProxy(
  t: { teardown(down: () => unknown): unknown },
  options: ProxyOptions,
): Promise<Proxy> {
  const sockets = new Set<net.Socket>()
  let silent = false
  const proxy: Proxy = {
    port: 0,
    statements: [],
    connections: 0,
    silence: () => (silent = true),
    cut: () => sockets.forEach(socket => socket.destroy()),
  }
  const server = net.createServer(client => {
    proxy.connections += 1
    keep(client)
    client.once('data', first => {
      const asksForTls = first.length === 8 && first.readInt32BE(4) === SSL_REQUEST
      if (!asksForTls) return forward(client, first, false)
      client.write(options.tls ? 'S' : 'N')
      const next = options.tls ? keep(new tls.TLSSocket(client, { isServer: true, ...options.tls })) : client
      next.once('data', second => forward(next, second, Boolean(options.tls)))
    })
  })

  function forward(client: net.Socket, first: Buffer, encrypted: boolean) {
    if (encrypted && options.refuseEncrypted) return client.end(noEntry())
    const upstream = keep(net.connect(options.port, options.host))
    const read = makeFrameReader(text => proxy.statements.push(text))
    const up = (chunk: Buffer) => {
      if (silent) return
      read(chunk)
      upstream.write(chunk)
    }
    up(first)
    client.on('data', up).on('close', () => upstream.destroy())
    upstream.on('data', chunk => silent || client.write(chunk)).on('close', () => silent || client.destroy())
  }

  function keep<Socket extends net.Socket>(socket: Socket): Socket {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    return socket
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  proxy.port = (server.address() as net.AddressInfo).port
  t.teardown(async () => {
    proxy.cut()
    await new Promise(resolve => server.close(resolve))
  })
  return proxy
}

/** Reads the client's side of the protocol and passes on the text of each statement (Parse and Query). */
function makeFrameReader(onStatement: (text: string) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  let started = false
  return chunk => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const head = started ? 1 : 0
      if (rest.length < head + 4) return
      const length = head + rest.readInt32BE(head)
      if (rest.length < length) return
      if (!started) started = rest.readInt32BE(4) !== CANCEL_REQUEST
      else if (rest[0] === 0x51) onStatement(rest.toString('utf8', 5, length - 1))
      else if (rest[0] === 0x50) {
        const name = rest.indexOf(0, 5)
        onStatement(rest.toString('utf8', name + 1, rest.indexOf(0, name + 1)))
      }
      rest = rest.subarray(length)
    }
  }
}

/** The ErrorResponse of a server without a pg_hba.conf line for encrypted connections. */
function noEntry(): Buffer {
  const message = 'no pg_hba.conf entry for host "127.0.0.1", user "x", database "y", SSL encryption'
  const body = Buffer.from(`SFATAL\0C28000\0M${message}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
