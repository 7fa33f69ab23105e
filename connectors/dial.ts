import net from 'node:net'
import type { ConnectOptions } from './connector.ts'
import { abortedError, noResponseError } from './errors.ts'

const CONNECT_TIMEOUT_MS = 10_000

/**
 * Opens something within the time of the options and until their signal aborts.
 * @param open must settle when its signal aborts; the signal belongs to this opening alone
 * @throws what `open` throws, or a ConnectorError of kind `timeout`, or of code `ABORTED`
 */
export async function withConnectTimeout<Result>(
  engine: string,
  { signal, connectTimeoutMs = CONNECT_TIMEOUT_MS }: ConnectOptions,
  open: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const dialling = new AbortController()
  const giveUp = () => dialling.abort(abortedError(engine, signal?.reason))
  const late = setTimeout(() => dialling.abort(noResponseError(engine, 'answer')), connectTimeoutMs)
  signal?.addEventListener('abort', giveUp, { once: true })
  if (signal?.aborted) giveUp()
  try {
    return await open(dialling.signal)
  } catch (error) {
    throw dialling.signal.aborted ? dialling.signal.reason : error
  } finally {
    clearTimeout(late)
    signal?.removeEventListener('abort', giveUp)
  }
}

/** A promise that is given up when a signal aborts. */
export async function rejectOnAbort<Result>(doing: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(signal.reason as Error)
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  try {
    return await Promise.race([doing, promise])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/**
 * Opens a TCP connection to an address that was vetted. Rejects with the socket's error, or with the signal's
 * reason when it aborts, which also cuts a connection that is open: the signal must belong to the dialling alone.
 */
export async function connectSocket(
  { address, port }: { address: string; port: number },
  signal: AbortSignal,
): Promise<net.Socket> {
  signal.throwIfAborted()
  const socket = net.connect({ host: address, port, noDelay: true, keepAlive: true })
  // Without a listener a late error would end the process.
  socket.on('error', () => {})
  const giveUp = () => socket.destroy()
  signal.addEventListener('abort', giveUp, { once: true })
  socket.once('close', () => signal.removeEventListener('abort', giveUp))
  await waitForEvent(socket, 'connect', signal)
  return socket
}

/** Waits for an event of a socket; rejects when it errs or closes first. */
export function waitForEvent(socket: net.Socket, event: string, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      socket.off(event, happened).off('error', failed).off('close', cut)
      act()
    }
    const happened = (value: unknown) => settle(() => resolve(value))
    const failed = (error: Error) => settle(() => reject(error))
    const cut = () =>
      settle(() =>
        reject(signal.aborted ? (signal.reason as Error) : new Error('Connection terminated unexpectedly')),
      )
    socket.once(event, happened).once('error', failed).once('close', cut)
  })
}
