import net from 'node:net'

/** A proxy before a server that can silently drop every packet. */
export interface Blackhole {
  port: number
  /**
   * From now on nothing passes, neither bytes nor the end of a connection. Those that there are stay lost, also those
   * that were idle, as when a firewall between their ends has forgotten them.
   */
  silence(): void
  /** New connections pass again. */
  heal(): void
  close(): void
}

/** Starts one on a free port of the loopback interface. */
export async function startBlackhole({ host, port }: { host: string; port: number }): Promise<Blackhole> {
  let isSilent = false
  let silences = 0
  const sockets = new Set<net.Socket>()
  const keep = (socket: net.Socket) => {
    sockets.add(socket)
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  }
  const server = net.createServer({ allowHalfOpen: true }, client => {
    const upstream = net.connect({ host, port, allowHalfOpen: true })
    const since = silences
    const isLost = () => isSilent || since !== silences
    const pipe = (from: net.Socket, to: net.Socket) => {
      const pass = (send: () => void) => {
        if (!isLost()) send()
      }
      keep(from)
        .on('data', chunk => pass(() => to.write(chunk)))
        .on('end', () => pass(() => to.end()))
        .on('close', () => pass(() => to.destroy()))
    }
    pipe(client, upstream)
    pipe(upstream, client)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as net.AddressInfo).port,
    silence() {
      isSilent = true
      silences += 1
    },
    heal: () => (isSilent = false),
    close() {
      sockets.forEach(socket => socket.destroy())
      server.close()
    },
  }
}
