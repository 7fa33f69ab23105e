/** Receivers of webhooks that do harm, one a path, beside one that does not; in a process of their own. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { certify } from '../helpers/certificates.ts'
import { writeAuthority } from '../helpers/receiver.ts'

/** A message that came in: the id of its alert, and when, in milliseconds of the machine's clock since it started. */
export type Arrival = [id: string, at: number]

export interface HostileReceiver {
  /** `https://127.0.0.1:<port>`; behind it comes `/ok` or the name of a harm. */
  url: string
  /** What came to `/ok` since it was asked last. */
  take(): Promise<Arrival[]>
  end(): void
}

type Harm = (response: ServerResponse, raw: IncomingMessage) => void

/** The same clock in all processes of the machine, in milliseconds. */
export function clock(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

const MEGABYTE = Buffer.alloc(1024 * 1024, 'x')
let bomb: Buffer | undefined

/** Writes again and again until the other side has had enough. */
function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 1_000)
  socket.on('close', () => clearInterval(timer))
}

/** What is done to those who send, by path. */
export const HARMS: Record<string, Harm> = {
  'a gigabyte': response => {
    let left = 1024
    const more = () => {
      while (!response.destroyed && left-- > 0 && response.write(MEGABYTE));
      if (left <= 0) response.end()
    }
    response.writeHead(200).on('drain', more)
    more()
  },
  'a byte a second': (response, { socket }) => {
    response.writeHead(200, { 'content-length': 1_000_000 }).flushHeaders()
    drip(socket, 'x')
  },
  'a header a second': (_response, { socket }) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    drip(socket, 'x: y\r\n')
  },
  '100 KB of headers': (_response, { socket }) =>
    void socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
  'a gzip bomb': response => {
    bomb ??= gzipSync(Buffer.alloc(50_000_000))
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb)
  },
  'hints for ever': (_response, { socket }) => drip(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
  'no answer': () => undefined,
  'half a body': response => {
    response.writeHead(200, { 'content-length': 1_000 }).write('half')
    setTimeout(() => response.destroy(), 20)
  },
}

/** Starts it. @param folder gets `authority.pem`, for NODE_EXTRA_CA_CERTS of those who send */
export async function startHostileReceiver(folder: string): Promise<HostileReceiver> {
  const child = fork(import.meta.filename, { env: { ...process.env, HOSTILE_FOLDER: folder }, execArgv: [] })
  const [url] = (await once(child, 'message')) as [string]
  return {
    url,
    async take() {
      child.send('take')
      const [arrivals] = (await once(child, 'message')) as [Arrival[]]
      return arrivals
    },
    end: () => child.disconnect(),
  }
}

/** The process's own side. */
async function receive(folder: string): Promise<void> {
  let arrivals: Arrival[] = []
  const server = createServer(await certify(), (request, response) => {
    request.resume().on('end', () => {
      const harm = HARMS[decodeURIComponent((request.url ?? '').slice(1))]
      // Who was cut off does not care any more.
      request.socket.on('error', () => undefined)
      if (harm) return harm(response, request)
      arrivals.push([String(request.headers['webhook-id']), clock()])
      response.writeHead(200).end('{"ok":true}')
    })
  })
  process.on('message', () => {
    process.send?.(arrivals)
    arrivals = []
  })
  process.once('disconnect', () => process.exit())
  await writeAuthority(folder)
  server.listen(0, '127.0.0.1', 4_096, () =>
    process.send?.(`https://127.0.0.1:${(server.address() as AddressInfo).port}`),
  )
}

const { HOSTILE_FOLDER } = process.env
if (HOSTILE_FOLDER !== undefined && process.argv[1] === import.meta.filename) await receive(HOSTILE_FOLDER)
