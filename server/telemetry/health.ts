import type { Server } from '@hapi/hapi'
import { envelope, type Envelope } from '../http/replies.ts'
import { readQueues, type Queue } from './queues.ts'
import { WORKER_CONNECTIONS } from '../jobs/jobs.ts'
import { version } from '../version.ts'
import { withTimeout } from '../with-timeout.ts'

declare module '@hapi/hapi' {
  interface Server {
    /** Never rejects; answers within 5 s. */
    health(): Promise<Health>
  }
}

export interface Health {
  /** `draining`: the process is shutting down; send requests to others. */
  status: 'ok' | 'degraded' | 'draining'
  /** The program's, as in its package. */
  version: string
  /** The roles of this process. */
  role: 'all' | 'web' | 'worker'
  database: {
    status: 'up' | 'down'
    latency_ms: number | null
    /** False while it is read-only or full: reads still work. */
    writable: boolean | null
    embedded: boolean
  }
  jobs: {
    /** `late`: no worker takes the waiting jobs, or no process works any; `down`: the database, which holds the jobs, is down. */
    status: 'up' | 'late' | 'down'
    /** Seconds that the longest waiting job is overdue. */
    lag_seconds: number | null
    /** How many kinds of jobs wait for too long. */
    late_queues: number | null
    /** Dead letters: failed jobs that are kept for an operator. */
    dead: number | null
    /** The workers of this process: `stuck` when they could not fetch jobs, `none` when it runs none. */
    workers: 'up' | 'stuck' | 'none'
  }
}

/** Milliseconds after which the database counts as away; half a second under what monitors are promised. */
const DATABASE_TIMEOUT_MS = 4_500
/** Seconds a job may wait past its time before an operator should look after the workers. */
const LATE_SECONDS = 300
/** Milliseconds without a look for jobs, for which each idle worker looks every 10 s, after which workers count as stuck. */
const STUCK_MS = 30_000

interface Asked {
  latency: number
  isWritable: boolean
  queues: Queue[]
  /** Whether a process works jobs, this one or another. */
  hasWorkers: boolean
}

/** Names of connections may be seen by every role. */
const HAS_WORKERS = `
  select exists (select from pg_stat_activity
    where datname = current_database() and application_name = '${WORKER_CONNECTIONS}') as found`

/**
 * Adds `server.health`. Callers share one query, so that a stuck database does not get one from each of them.
 */
export function installHealth(server: Server): void {
  let asked: Promise<Asked> | undefined
  server.decorate('server', 'health', async (): Promise<Health> => {
    asked ??= ask(server).finally(() => (asked = undefined))
    const found = await withHealthTimeout(asked).catch((error: Error) => {
      server.pino.warn(`the database does not answer: ${error.message}`)
      return null
    })
    const { role, databaseUrl } = server.config
    const embedded = databaseUrl === undefined
    const workers = workersOf(server)
    if (!found) {
      const jobs = { lag_seconds: null, late_queues: null, dead: null, workers }
      return {
        status: 'degraded',
        version,
        role,
        database: { status: 'down', latency_ms: null, writable: null, embedded },
        jobs: { status: 'down', ...jobs },
      }
    }
    const jobs = { ...lineOf(server, found), workers }
    return {
      status: jobs.status === 'up' && workers !== 'stuck' && found.isWritable ? 'ok' : 'degraded',
      version,
      role,
      database: { status: 'up', latency_ms: found.latency, writable: found.isWritable, embedded },
      jobs,
    }
  })
}

/** The status and body that health is answered with, wherever it is asked for. */
export async function answerHealth(server: Server): Promise<{ status: 200 | 503; body: Envelope<Health> }> {
  const health = await server.health()
  if (server.drain.isOn())
    return {
      status: 503,
      body: unavailable({ ...health, status: 'draining' }, 'This process is ending: ask another one'),
    }
  if (health.database.status === 'down')
    return { status: 503, body: unavailable(health, 'The database does not answer') }
  if (!health.database.writable)
    return { status: 200, body: envelope(health, 'The database takes no writes: it is full or read-only') }
  return { status: 200, body: envelope(health, describeJobs(health.jobs)) }
}

/** What an operator should do about jobs; empty where nothing. */
function describeJobs({ status, workers, late_queues: lateQueues }: Health['jobs']): string {
  if (status === 'late' && lateQueues === 0)
    return 'No process works jobs: start one with ROLE=worker or ROLE=all'
  if (status === 'late') return 'Jobs wait that no worker takes up: see that one runs'
  return workers === 'stuck' ? 'This process cannot look for jobs any more: start it anew' : ''
}

function unavailable(health: Health, message: string): Envelope<Health> {
  return { ...envelope(health, message), success: false, error: 'UNAVAILABLE' }
}

/** Only queues that have a worker: dead letters wait indefinitely. */
function lineOf(server: Server, { queues, hasWorkers }: Pick<Asked, 'queues' | 'hasWorkers'>) {
  const names = new Set(server.jobs.names())
  const worked = queues.filter(({ name }) => names.has(name))
  const late = worked.filter(({ lagSeconds }) => lagSeconds > LATE_SECONDS).length
  const dead = queues.reduce((sum, queue) => sum + queue.dead, 0)
  return {
    status: late > 0 || !hasWorkers ? ('late' as const) : ('up' as const),
    lag_seconds: Math.max(0, ...worked.map(({ lagSeconds }) => Math.floor(lagSeconds))),
    late_queues: late,
    dead,
  }
}

function workersOf({ jobs, config }: Server): Health['jobs']['workers'] {
  if (config.role === 'web') return 'none'
  const lookedAt = jobs.lookedAt()
  return lookedAt !== null && Date.now() - lookedAt > STUCK_MS ? 'stuck' : 'up'
}

async function ask({ db, config }: Server): Promise<Asked> {
  const latency = await db.ping()
  const isWritable = await db.takesWrites()
  const [workers] =
    config.role === 'web' ? await db.statement<{ found: boolean }>(HAS_WORKERS) : [{ found: true }]
  return { latency, isWritable, queues: await readQueues(db), hasWorkers: workers?.found === true }
}

/** Rejects when the database does not answer in time. */
export function withHealthTimeout<Answer>(asked: Promise<Answer>): Promise<Answer> {
  return withTimeout(asked, DATABASE_TIMEOUT_MS, () => {
    throw new Error(`no answer within ${DATABASE_TIMEOUT_MS} ms`)
  })
}
