/** A door of its own for operators: metrics and health of this process, in every role, never on the public address. */
import { once } from 'node:events'
import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Server } from '@hapi/hapi'
import { handleClientErrors } from '../http/client-errors.ts'
import type { Database } from '../database/database.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { answerHealth } from './health.ts'
import { readQueues, type Queue } from './queues.ts'
import { StartError } from '../process/start-error.ts'
import type { Reader, Sample } from './telemetry.ts'

/** Milliseconds that what the queues say is good for, so that several who scrape cost one statement. */
const FRESH_MS = 3_000

interface ReaderDeps {
  db: Database
  jobs: Jobs
}

/** Adds what is read when it is asked for: pools, the work of this process, and queues. */
export function readAtScrapes(server: Server): void {
  server.telemetry.addReader(activity(server))
  server.telemetry.addReader(pools(server))
  server.telemetry.addReader(queues(server))
}

/**
 * Opens the door where the settings name a port.
 * @returns what closes it again
 * @throws StartError when the port cannot be had
 */
export async function openMetrics(server: Server): Promise<() => Promise<void>> {
  const { metricsPort: port, metricsHost: host } = server.config
  if (port === undefined) return async () => undefined
  server.telemetry.watchProcess()
  const listener = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, (request, response) => {
    answer(server, request.method, request.url).then(
      ({ status, contentType, text }) =>
        response.writeHead(status, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(text),
      (error: Error) => {
        server.pino.error({ err: error }, 'metrics could not be sent')
        response.writeHead(500).end()
      },
    )
  })
  handleClientErrors(listener, { log: server.pino })
  listener.listen(port, host)
  await once(listener, 'listening').catch((error: Error) => {
    throw new StartError(
      `Metrics cannot be served on port ${port} of ${host} (${error.message}): set METRICS_PORT and METRICS_HOST to what is free`,
    )
  })
  server.pino.info({ port: (listener.address() as AddressInfo).port }, 'metrics are served')
  return () => close(listener)
}

interface Answer {
  status: number
  contentType: string
  text: string
}

async function answer(server: Server, method = '', url = ''): Promise<Answer> {
  const isRead = method === 'GET' || method === 'HEAD'
  if (isRead && /^\/metrics(\?|$)/.test(url)) return { status: 200, ...(await server.telemetry.expose()) }
  if (isRead && /^\/health(\?|$)/.test(url)) {
    const { status, body } = await answerHealth(server)
    return { status, contentType: 'application/json; charset=utf-8', text: JSON.stringify(body) }
  }
  return { status: 404, contentType: 'text/plain', text: 'GET /metrics or /health\n' }
}

async function close(listener: HttpServer): Promise<void> {
  const closed = once(listener, 'close')
  listener.close()
  listener.closeAllConnections()
  await closed
}

function pools({ db, jobs }: ReaderDeps): Reader {
  const labels = ['pool']
  return {
    gauges: {
      pool_connections: { help: 'Connections to our own database', labels: ['pool', 'state'] },
      pool_connections_max: { help: 'Connections that a pool may open', labels },
      pool_waiting: { help: 'Who waits for a connection', labels },
    },
    async read() {
      const all = [...db.pools(), ...jobs.pools()]
      const each = (of: (pool: (typeof all)[number]) => number): Sample[] =>
        all.map(found => ({ labels: { pool: found.name }, value: of(found) }))
      return {
        pool_connections: all.flatMap(({ name: pool, used, idle }) => [
          { labels: { pool, state: 'used' }, value: used },
          { labels: { pool, state: 'idle' }, value: idle },
        ]),
        pool_connections_max: each(({ max }) => max),
        pool_waiting: each(({ waiting }) => waiting),
      }
    },
  }
}

/** Read from the process's own memory, so that it is there while the database is not. */
function activity({ jobs }: ReaderDeps): Reader {
  return {
    gauges: {
      workers: { help: 'Slots for jobs of this process', labels: ['queue', 'state'] },
      oldest_active_job_seconds: {
        help: 'How long the longest running job of this process has run',
        labels: ['queue'],
      },
      last_dispatch_timestamp_seconds: {
        help: 'When a scheduled job last completed in this process, or its workers started',
        labels: ['queue'],
      },
    },
    async read() {
      const all = jobs.activity()
      const now = Date.now()
      return {
        workers: all.flatMap(({ queue, busy, slots }) => [
          { labels: { queue, state: 'busy' }, value: busy },
          { labels: { queue, state: 'idle' }, value: slots - busy },
        ]),
        oldest_active_job_seconds: all.map(({ queue, oldestStartedAt }) => ({
          labels: { queue },
          value: oldestStartedAt === null ? 0 : (now - oldestStartedAt) / 1_000,
        })),
        last_dispatch_timestamp_seconds: all.flatMap(({ queue, dispatchedAt }) =>
          dispatchedAt === null ? [] : [{ labels: { queue }, value: dispatchedAt / 1_000 }],
        ),
      }
    },
  }
}

function queues({ db, jobs }: ReaderDeps): Reader {
  let read: Promise<Queue[]> | undefined
  let readAt = -Infinity
  const fresh = () => {
    if (read && performance.now() - readAt < FRESH_MS) return read
    readAt = performance.now()
    const reading = readQueues(db)
    reading.catch(() => (read = undefined))
    return (read = reading)
  }
  return {
    gauges: {
      jobs: { help: 'Jobs of all processes', labels: ['queue', 'state'] },
      queue_lag_seconds: {
        help: 'How long the first in line has been waiting past its time',
        labels: ['queue'],
      },
      dead_letters: { help: 'Jobs that were given up on', labels: ['queue'] },
      database_up: { help: 'Whether our own database answers', labels: [] },
    },
    unread: { database_up: [{ labels: {}, value: 0 }] },
    async read() {
      const found = await fresh()
      const names = new Set(jobs.names())
      const worked = found.filter(({ name }) => names.has(name))
      const states = ['deferred', 'ready', 'active', 'failed'] as const
      return {
        jobs: worked.flatMap(queue =>
          states.map(state => ({ labels: { queue: queue.name, state }, value: queue[state] })),
        ),
        queue_lag_seconds: worked.map(({ name, lagSeconds }) => ({
          labels: { queue: name },
          value: lagSeconds,
        })),
        dead_letters: worked.map(({ name, dead }) => ({ labels: { queue: name }, value: dead })),
        database_up: [{ labels: {}, value: 1 }],
      }
    },
  }
}
