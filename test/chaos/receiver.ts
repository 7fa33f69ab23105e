/** A receiver of webhooks in a process of its own, which outlives the servers that are killed and writes all down. */
import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { certify } from '../helpers/certificates.ts'
import { writeAuthority } from '../helpers/receiver.ts'

/** One message that came in, as often as it came. */
export interface Arrival {
  /** The path of the destination. */
  path: string
  alertId: string
  /** `alert.triggered` or `alert.resolved`. */
  type: string
  /** SHA-256 of the body. */
  hash: string
  /** Milliseconds since 1970. */
  at: number
  /** What was answered. */
  status: number
}

/** How it answers. */
export interface Manner {
  /** Status of the first, second, … arrival of the same message; the last one stays. */
  statuses: [number, ...number[]]
  /** The percentage of messages that get this answer; the others get 200. */
  percent: number
  /** Milliseconds until the answer. */
  delay: number
  /** First arrivals wait until `release`. */
  isHolding?: boolean
  /** Paths that begin so are never answered. */
  silent?: string
}

export interface ReceiverProcess {
  /** `https://127.0.0.1:<port>`, with no slash behind. */
  url: string
  behave(manner: Manner): void
  /** Answers what is held. */
  release(): void
  /** How many requests wait for their answer. */
  waiting(): Promise<number>
  /** All arrivals, in their order. */
  arrivals(): Promise<Arrival[]>
  end(): void
}

type Order = { ask: 'arrivals' | 'waiting' } | { release: true } | { manner: Manner }

/** Starts it. @param folder gets `authority.pem`, for NODE_EXTRA_CA_CERTS of those who send */
export async function startReceiverProcess(folder: string): Promise<ReceiverProcess> {
  const child = fork(import.meta.filename, { env: { ...process.env, RECEIVER_FOLDER: folder } })
  const [url] = (await once(child, 'message')) as [string]
  // Concurrent callers queue, since each needs its own answer.
  let last: Promise<unknown> = Promise.resolve()
  const ask = <T>(what: 'arrivals' | 'waiting'): Promise<T> => {
    const answer = last.then(async () => {
      child.send({ ask: what } satisfies Order)
      const [found] = (await once(child, 'message')) as [T]
      return found
    })
    last = answer
    return answer
  }
  return {
    url,
    behave: manner => void child.send({ manner } satisfies Order),
    release: () => void child.send({ release: true } satisfies Order),
    waiting: () => ask('waiting'),
    arrivals: () => ask('arrivals'),
    end: () => child.disconnect(),
  }
}

/** The process's own side. */
async function receive(folder: string): Promise<void> {
  const arrivals: Arrival[] = []
  const seen = new Map<string, number>()
  const held = new Set<() => void>()
  let manner: Manner = { statuses: [200], percent: 100, delay: 0 }
  let waiting = 0

  const server = createServer(await certify(), (request, response) => void take(request, response))

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      // Killed in the middle: it never arrived.
      return
    }
    const body = Buffer.concat(chunks)
    const { event_type: type, alert } = JSON.parse(body.toString()) as {
      event_type: string
      alert: { id: string }
    }
    const path = request.url ?? ''
    const key = `${path} ${alert.id} ${type}`
    const nth = seen.get(key) ?? 0
    seen.set(key, nth + 1)
    const status = statusOf(key, nth)
    arrivals.push({ path, alertId: alert.id, type, hash: hashOf(body), at: Date.now(), status })
    waiting += 1
    response.on('close', () => (waiting -= 1))
    const answer = () => respond(response, status)
    if (manner.silent !== undefined && path.startsWith(manner.silent)) return
    if (manner.isHolding && nth === 0) held.add(answer)
    else setTimeout(answer, manner.delay)
  }

  function statusOf(key: string, nth: number): number {
    const isMeant = parseInt(hashOf(Buffer.from(key)).slice(0, 8), 16) % 100 < manner.percent
    return isMeant ? (manner.statuses[nth] ?? manner.statuses.at(-1)!) : 200
  }

  process.on('message', (order: Order) => {
    if ('manner' in order) manner = order.manner
    else if ('ask' in order) process.send?.(order.ask === 'arrivals' ? arrivals : waiting)
    else {
      held.forEach(answer => answer())
      held.clear()
    }
  })
  process.once('disconnect', () => process.exit())
  await writeAuthority(folder)
  server.listen(0, '127.0.0.1', () =>
    process.send?.(`https://127.0.0.1:${(server.address() as AddressInfo).port}`),
  )
}

function respond(response: ServerResponse, status: number): void {
  if (!response.destroyed) response.writeHead(status).end('{}')
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

const { RECEIVER_FOLDER } = process.env
if (RECEIVER_FOLDER !== undefined && process.argv[1] === import.meta.filename) await receive(RECEIVER_FOLDER)
