import net from 'node:net'

/** A switch for TCP before several servers, as a load balancer has one: who does not accept is passed over. */
export interface Switch {
  /** `http://127.0.0.1:<port>` */
  url: string
  /** Servers that new connections go to, in turns: their URLs. */
  targets: Set<string>
  /** Connections that no server accepted. */
  refused(): number
  close(): void
}

/** Starts one on a free port of the loopback interface. */
export async function startSwitch(): Promise<Switch> {
  const targets = new Set<string>()
  const sockets = new Set<net.Socket>()
  let turn = 0
  let refused = 0
  const keep = (socket: net.Socket) => {
    sockets.add(socket)
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  }
  const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, client => {
    keep(client)
    turn += 1
    void pass(client, inTurn([...targets], turn))
  })

  async function pass(client: net.Socket, urls: readonly string[]): Promise<void> {
    for (const url of urls) {
      const upstream = await dial(url)
      if (!upstream) continue
      keep(upstream)
      client.pipe(upstream)
      upstream.pipe(client)
      client.once('close', () => upstream.destroy())
      upstream.once('close', () => client.destroy())
      return
    }
    refused += 1
    client.destroy()
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    targets,
    refused: () => refused,
    close() {
      sockets.forEach(socket => socket.destroy())
      server.close()
    },
  }
}

function inTurn(urls: readonly string[], turn: number): string[] {
  const first = turn % Math.max(urls.length, 1)
  return [...urls.slice(first), ...urls.slice(0, first)]
}

/** @returns null if no process accepts there */
function dial(url: string): Promise<net.Socket | null> {
  const { hostname, port } = new URL(url)
  return new Promise(resolve => {
    const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    socket.once('connect', () => resolve(socket)).once('error', () => resolve(null))
  })
}
