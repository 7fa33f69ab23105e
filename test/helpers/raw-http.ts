/** Bytes straight to a server's socket, for what no client would send. */
import net from 'node:net'

/** What came of a connection. */
export interface Exchange {
  /** All that was answered, as latin1. */
  text: string
  /** The statuses of the answers, in order. */
  statuses: number[]
  /** Milliseconds until the server closed it; null when it was we who did. */
  closedAfter: number | null
}

/**
 * Connects, sends, and waits until the server closes the connection.
 * @param more is sent piece by piece with `pause` milliseconds between, as slow clients do
 * @param patience milliseconds after which we close it
 */
export function exchange(
  url: string,
  bytes: string,
  {
    more = [],
    pause = 1_000,
    patience = 5_000,
  }: { more?: Iterable<string>; pause?: number; patience?: number } = {},
): Promise<Exchange> {
  const { port, hostname } = new URL(url)
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const socket = net.connect(Number(port), hostname, () => socket.write(bytes, 'latin1'))
    let text = ''
    let isOurs = false
    const pieces = more[Symbol.iterator]()
    const trickle = setInterval(() => {
      const { value, done } = pieces.next()
      if (!done && socket.writable) socket.write(value, 'latin1')
    }, pause)
    const end = setTimeout(() => {
      isOurs = true
      socket.destroy()
    }, patience)
    socket.on('data', chunk => (text += chunk.toString('latin1')))
    // A server that closes while we send resets the connection.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('close', () => {
      clearInterval(trickle)
      clearTimeout(end)
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
      resolve({ text, statuses, closedAfter: isOurs ? null : performance.now() - startedAt })
    })
  })
}
