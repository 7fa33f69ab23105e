import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { authority, certify, type CertificateKind } from './certificates.ts'

/** A request as it came in. */
export interface Received {
  method: string
  path: string
  headers: Record<string, string>
  /** The raw body. */
  body: string
}

/** What to do with a request: answer with a status, or anything else. */
export type Behaviour = number | ((request: Received, response: ServerResponse, raw: IncomingMessage) => void)

/** An HTTPS receiver of webhooks. */
export interface Receiver {
  /** `https://127.0.0.1:<port>`, with no slash behind. */
  url: string
  port: number
  requests: Received[]
  /** TCP connections so far, also those that never became a request. */
  connections: number
  /** Behaviours for the next requests in order; the last one stays. 200 at first. */
  answer(...behaviours: [Behaviour, ...Behaviour[]]): void
  /** Shows another certificate from here on. */
  present(certificate: CertificateKind): Promise<void>
  /** Resolves when so many requests have come in altogether. */
  received(count: number): Promise<Received[]>
}

interface Teardown {
  teardown(down: () => unknown): unknown
}

export interface ReceiverOptions {
  /** `trusted` unless said: signed by this process's own authority, which it trusts from then on. */
  certificate?: CertificateKind
}

/**
 * Starts a receiver on a free loopback port; it stops when the test ends. The first of a process must be there
 * before the server dials anything, since a server settles whom it trusts when it first does.
 */
export async function startReceiver(
  t: Teardown,
  { certificate = 'trusted' }: ReceiverOptions = {},
): Promise<Receiver> {
  const server = createServer(await certify(certificate))
  let behaviours: Behaviour[] = [200]
  const waiting: { count: number; resolve(requests: Received[]): void }[] = []
  const receiver: Receiver = {
    url: '',
    port: 0,
    requests: [],
    connections: 0,
    answer: (...given) => (behaviours = [...given]),
    present: async kind => server.setSecureContext(await certify(kind)),
    received: count =>
      new Promise(resolve => {
        if (receiver.requests.length >= count) resolve(receiver.requests)
        else waiting.push({ count, resolve })
      }),
  }
  server.on('connection', () => (receiver.connections += 1))
  server.on('request', (raw, response) => void receive(raw, response))
  async function receive(raw: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    // A sender that hangs up in the middle leaves nothing to record.
    try {
      for await (const chunk of raw) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    const request: Received = {
      method: raw.method ?? '',
      path: raw.url ?? '',
      headers: raw.headers as Record<string, string>,
      body: Buffer.concat(chunks).toString('utf8'),
    }
    receiver.requests.push(request)
    const behaviour = (behaviours.length > 1 ? behaviours.shift() : behaviours[0]) ?? 200
    if (typeof behaviour === 'number') response.writeHead(behaviour).end('{"ok":true}')
    else behaviour(request, response, raw)
    for (const { count, resolve } of waiting)
      if (receiver.requests.length >= count) resolve(receiver.requests)
  }
  await listen(t, server)
  receiver.port = (server.address() as AddressInfo).port
  receiver.url = `https://127.0.0.1:${receiver.port}`
  return receiver
}

/** Writes the authority to a file, for NODE_EXTRA_CA_CERTS of a process that a test starts. */
export async function writeAuthority(folder: string): Promise<string> {
  const file = join(folder, 'authority.pem')
  await writeFile(file, (await authority()).cert)
  return file
}

async function listen(t: Teardown, server: Server): Promise<void> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
}
