import net from 'node:net'
import tls from 'node:tls'
import type { Duplex } from 'node:stream'
import { waitForEvent, connectSocket } from '../dial.ts'
import type { SslMode } from '../server-config.ts'

/** A server as it is dialled: `address` was vetted, `host` is what its certificate must be for. */
export interface PostgresqlTarget {
  address: string
  host: string
  port: number
  sslmode: SslMode
  ssl_ca?: string
}

export interface PostgresqlLink {
  socket: net.Socket
  encrypted: boolean
}

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

/** Asks for TLS as sslmode says, on a fresh TCP connection, and completes the handshake. */
export async function negotiateTls(
  socket: net.Socket,
  target: PostgresqlTarget,
  signal: AbortSignal,
): Promise<PostgresqlLink> {
  if (target.sslmode === 'disable') return { socket, encrypted: false }
  socket.write(SSL_REQUEST)
  const answer = (await waitForEvent(socket, 'data', signal)) as Buffer
  if (answer.toString('latin1') === 'N') {
    if (target.sslmode === 'prefer') return { socket, encrypted: false }
    throw new Error('The server does not support SSL connections')
  }
  // More than the one byte would be text injected before the encrypted stream (CVE-2021-23222).
  if (answer.toString('latin1') !== 'S') throw new Error('There was an error establishing an SSL connection')
  const encrypted = tls.connect({ socket, ...tlsOptions(target) })
  encrypted.on('error', () => {})
  await waitForEvent(encrypted, 'secureConnect', signal)
  return { socket: encrypted, encrypted: true }
}

/**
 * What sslmode means, as in libpq: up to `require` the certificate is not looked at, unless an authority is
 * given, which turns `require` into `verify-ca`. Without `ssl_ca`, Node's list of authorities is used.
 */
function tlsOptions({ sslmode, ssl_ca, host }: PostgresqlTarget): tls.ConnectionOptions {
  const verifies = sslmode.startsWith('verify') || (sslmode === 'require' && ssl_ca !== undefined)
  return {
    rejectUnauthorized: verifies,
    ...(ssl_ca === undefined ? {} : { ca: ssl_ca }),
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    checkServerIdentity: (_, certificate) =>
      sslmode === 'verify-full' ? tls.checkServerIdentity(host, certificate) : undefined,
  }
}

/** Makes pg take over a socket that is connected already: pg calls `connect` and waits for the event. */
export function adoptSocket(socket: net.Socket): Duplex {
  return Object.assign(socket, {
    connect() {
      process.nextTick(() => socket.emit('connect'))
      return socket
    },
  })
}

/**
 * Asks the server to end what a session runs (CancelRequest), over a connection of its own. Resolves when the
 * server has taken note, which it shows by hanging up, or when the signal aborts.
 */
export async function requestCancel(
  target: PostgresqlTarget,
  session: { processID: number; secretKey: number },
  signal: AbortSignal,
): Promise<void> {
  const message = Buffer.alloc(16)
  message.writeInt32BE(16, 0)
  message.writeInt32BE(80877102, 4)
  message.writeInt32BE(session.processID, 8)
  message.writeInt32BE(session.secretKey, 12)
  const { socket } = await negotiateTls(await connectSocket(target, signal), target, signal)
  socket.write(message)
  socket.resume()
  await new Promise<void>(resolve => socket.once('close', () => resolve()))
}
