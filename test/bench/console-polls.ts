/** What one poll of the console costs the server, for `console.ts`. */
import { get } from 'node:http'
import type { LargeWorld } from './console-world.ts'
import type { Running, Spent } from './api-server.ts'

/** The request that an open page repeats, beside others that know of new alerts. */
const POLLS = {
  'newest open alert': '/api/v1/sdk/alerts?status=triggered,acknowledged&limit=1',
  'summary of alerts': '/api/v1/sdk/alerts/summary',
  overview: '/api/v1/sdk/health/summary',
} as const

/** The mean of many. */
export interface PollCost extends Spent {
  name: string
  status: number
  /** From the server, headers included. */
  bytes: number
  ms: number
}

/** Repeats each poll, as a first request and as one whose reply the browser has. */
export async function measurePolls(
  server: Running,
  { tenant }: LargeWorld,
  rounds: number,
): Promise<PollCost[]> {
  const costs: PollCost[] = []
  for (const [name, path] of Object.entries(POLLS)) {
    const first = await ask(server.url + path, tenant.key)
    for (const tag of first.tag === undefined ? [undefined] : [undefined, first.tag]) {
      await ask(server.url + path, tenant.key, tag)
      await server.spent()
      const replies: Reply[] = []
      while (replies.length < rounds) {
        replies.push(await ask(server.url + path, tenant.key, tag))
        // A key may ask a hundred times a second.
        await new Promise(resolve => setTimeout(resolve, 12))
      }
      const { cpuMs, statements, waits } = await server.spent()
      const sorted = replies.map(({ ms }) => ms).sort((a, b) => a - b)
      const { status, bytes } = replies.at(-1)!
      costs.push({
        ...{ name: tag === undefined ? name : `${name}, unchanged`, status, bytes },
        ...{ ms: sorted[Math.floor(rounds / 2)]!, cpuMs: cpuMs / rounds },
        ...{ statements: statements / rounds, waits: waits / rounds },
      })
    }
  }
  return costs
}

interface Reply {
  status: number
  tag: string | undefined
  bytes: number
  ms: number
}

/** Over a connection of its own, to count its bytes. */
function ask(url: string, key: string, tag?: string): Promise<Reply> {
  const headers = {
    authorization: `Bearer ${key}`,
    accept: 'application/json',
    'accept-encoding': 'gzip',
    ...(tag !== undefined && { 'if-none-match': tag }),
  }
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, response => {
      const { socket, statusCode: status = 0 } = response
      response.resume().on('end', () => {
        const { etag } = response.headers
        resolve({ status, tag: etag, bytes: socket.bytesRead, ms: performance.now() - startedAt })
      })
    }).on('error', reject)
  })
}
